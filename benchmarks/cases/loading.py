"""Load cases from folders and from lists of cases."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.cases.model import Case

_TABLES = Path(__file__).parent / "expectations"


def load_cases(folder: Path, extra: Path | None = None) -> list[Case]:
    """Return the cases of a folder, then those of `extra`, which is a folder or a list of cases in a JSON file.

    The area is that of `case.json`, or else the name of the folder around the folder of the case. A folder without
    `case.json` is a case if the harness holds its expectations.

    Raises:
        FileNotFoundError: The folder or file does not exist, or holds no cases.
    """
    cases = [_with_rows(one) for one in _load(folder)]
    return cases + (list(_load(extra)) if extra is not None else [])


def _load(source: Path) -> Iterator[Case]:
    source = source.resolve()
    if source.is_dir():
        files = sorted(source.rglob("case.json"))
        if not files and not any((source / table.stem).is_dir() for table in _TABLES.glob("*.toml")):
            raise FileNotFoundError(f"{source} holds no case.json.")
        for table in _TABLES.glob("*.toml"):
            for name, expect in _rows(table.stem).items():
                folder = source / table.stem / name
                if folder.is_dir() and not (folder / "case.json").exists():
                    yield Case(table.stem, name, folder, {"expect": expect})
        for file in files:
            data = json.loads(file.read_text(encoding="utf-8"))
            area = data.get("area") or file.parent.parent.name
            yield Case(area, file.parent.name, file.parent, data)
        return
    text = source.read_text(encoding="utf-8")
    listed = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]
    for number, data in enumerate(listed, start=1):
        folder = source.parent / data.get("folder", "")
        area, name = data.get("area"), data.get("name") or f"{source.stem}-{number}"
        yield Case(area, name, folder, data, data.get("files", {}))


def _with_rows(case: Case) -> Case:
    """Return a case with the rows that the harness holds for its expectations in words."""
    rows = _rows(case.area).get(case.name)
    if rows is None:
        return case
    expect = case.data.get("expect")
    merged = {**expect, **rows} if isinstance(expect, Mapping) else rows
    return Case(case.area, case.name, case.folder, {**case.data, "expect": merged}, case.texts)


def _rows(area: str) -> Mapping[str, Any]:
    file = _TABLES / f"{area}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
