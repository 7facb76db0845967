"""Rows and cells of OpenDocument, their repeats bounded: a sheet may repeat an empty row a million times."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scraper.extract.documents.opendocument_text import TABLE
from scraper.extract.xpath import Element

__all__ = ["table_rows"]

MAX_ROWS = 10_000
MAX_COLUMNS = 500
_REPEATS = 100
"""Of a row or cell that says something; empty ones at the end count for nothing."""
_DEPTH = 20
_GROUPS = frozenset(
    {TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group", "table-columns")}
)


def table_rows(table: Element, text_of_cell: Callable[[Element], str]) -> list[list[str]]:
    """The texts of a table; a spanning cell's text stands in its first place."""
    rows: list[list[str]] = []
    for row in _rows(table, 0):
        cells = _cells(row, text_of_cell)
        times = min(_REPEATS, _count(row, "number-rows-repeated")) if any(cells) else 1
        for _ in range(times):
            if len(rows) >= MAX_ROWS:
                return rows
            rows.append(cells)
    return rows


def _rows(table: Element, depth: int) -> Iterator[Element]:
    for child in table:
        if child.tag == TABLE + "table-row":
            yield child
        elif child.tag in _GROUPS and depth < _DEPTH:
            yield from _rows(child, depth + 1)


def _cells(row: Element, text_of_cell: Callable[[Element], str]) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag not in (TABLE + "table-cell", TABLE + "covered-table-cell"):
            continue
        text = text_of_cell(cell) if cell.tag == TABLE + "table-cell" else ""
        room = MAX_COLUMNS - len(cells)
        cells += [text] * min(_count(cell, "number-columns-repeated"), _REPEATS if text else room, room)
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _count(element: Element, name: str) -> int:
    value = str(element.get(TABLE + name, "1"))
    return int(value) if value.isdigit() and len(value) < 10 else 1
