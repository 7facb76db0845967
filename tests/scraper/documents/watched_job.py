"""Jobs of a document process that report what it loads after it has entered the sandbox, or would load."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scraper.documents import confined_job
from scraper.documents.model import ParseRequest


def parse(data: bytes, request: Mapping[str, Any], confine: Callable[[], None]) -> dict[str, Any]:
    """Run the job; the value of `late` lists the modules and files that it wanted after `confine`."""
    late: set[str] = set()

    def confine_and_watch() -> None:
        confine()
        sys.addaudithook(lambda event, found: late.add(f"{event} {found[0]}") if event in ("import", "open") else None)

    answer = confined_job.parse(data, request, confine_and_watch)
    return {**answer, "late": sorted(late)}


def list_unloaded(data: bytes, request: Mapping[str, Any], _confine: Callable[[], None]) -> dict[str, Any]:
    """Load the reader; return the modules that are not loaded, by the module of a function that imports them."""
    confined_job._load_reader(data, ParseRequest(**{**request, "pages": ()}))
    files = {
        name: getattr(module, "__file__", None)
        for name, module in sys.modules.items()
        if name.startswith(("browsers.", "scraper."))
    }
    sources = {name: Path(file).read_text() for name, file in files.items() if file}
    unloaded = {name: sorted(_late_imports(source) - set(sys.modules)) for name, source in sources.items()}
    return {name: late for name, late in unloaded.items() if late}


def _late_imports(source: str) -> set[str]:
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    inner = [node for function in functions for node in ast.walk(function)]
    names = {name.name for node in inner if isinstance(node, ast.Import) for name in node.names}
    for node in inner:
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return {name for name in names if _is_module(name)}


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
