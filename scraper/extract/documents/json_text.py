"""JSON laid out for reading, and notebooks as their cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scraper.extract.code.blocks import fence, format_json
from scraper.extract.documents.decode import letters
from scraper.extract.documents.model import ParsedDocument, ParseRequest

_MAX_OUTPUT = 4_000


def read(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """The JSON, indented where it is short and sound."""
    text, warnings = letters(data, asked)
    return ParsedDocument("json", fence(format_json(text), "json"), warnings=warnings)


def read_notebook(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """A Jupyter notebook as text and code."""
    text, warnings = letters(data, asked)
    try:
        notebook = json.loads(text)
        cells, language = notebook["cells"], _language(notebook)
        parts = [part for cell in cells for part in _cell(cell, language)]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ParsedDocument("json", fence(text.strip(), "json"), warnings=warnings)
    return ParsedDocument("ipynb", "\n\n".join(parts), warnings=warnings)


def _language(notebook: Any) -> str:
    name = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "python")
    return name if isinstance(name, str) and name.isalnum() else ""


def _cell(cell: Any, language: str) -> Iterator[str]:
    source = _joined(cell.get("source", "")).strip("\n")
    if not source:
        return
    if cell.get("cell_type") != "code":
        yield source
        return
    yield fence(source, language)
    for output in cell.get("outputs", []):
        shown = _joined(output.get("text") or output.get("data", {}).get("text/plain") or "").strip("\n")
        if shown:
            yield fence(shown[:_MAX_OUTPUT], "")


def _joined(lines: Any) -> str:
    return "".join(str(line) for line in lines) if isinstance(lines, list) else str(lines)
