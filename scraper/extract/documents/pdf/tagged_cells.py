"""Cells of a tagged table to a grid: spans spread out, and cells that were left out for being empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_COLUMNS = 100
_ROWS = 2_000


class TaggedCell(NamedTuple):
    """One cell, and from where to where its letters stand; None where it has none."""

    text: str
    column_span: int
    row_span: int
    x0: float | None
    x1: float | None


def spread(rows: Sequence[Sequence[TaggedCell]]) -> list[list[str]]:
    """The texts by row and column; a spanning cell's text stands in its first place."""
    width = max((sum(cell.column_span for cell in row) for row in rows), default=0)
    places = _column_places(rows, width)
    grid: list[list[str]] = []
    taken: set[tuple[int, int]] = set()
    for number, row in enumerate(rows[:_ROWS]):
        line: list[str] = []
        lacks = (
            width - sum(cell.column_span for cell in row) - sum((number, x) in taken for x in range(width))
        )
        for cell in row:
            while (number, len(line)) in taken:
                line.append("")
            while lacks > 0 and cell.x0 is not None and _stands_further(cell, len(line), places):
                line.append("")
                lacks -= 1
            taken |= {
                (number + down, len(line) + right)
                for down in range(1, min(cell.row_span, len(rows) - number))
                for right in range(cell.column_span)
            }
            line += [cell.text, *[""] * (cell.column_span - 1)]
        grid.append(line[:_COLUMNS])
    return grid


def _column_places(rows: Sequence[Sequence[TaggedCell]], width: int) -> list[tuple[float, float] | None]:
    """From where to where each column's letters stand, by the rows that have all their cells."""
    places: list[tuple[float, float] | None] = [None] * width
    for row in rows:
        if len(row) != width:
            continue
        for index, cell in enumerate(row):
            if cell.x0 is not None and cell.x1 is not None:
                known = places[index] or (cell.x0, cell.x1)
                places[index] = (min(known[0], cell.x0), max(known[1], cell.x1))
    return places


def _stands_further(cell: TaggedCell, column: int, places: Sequence[tuple[float, float] | None]) -> bool:
    """Whether a cell's letters begin right of this column, under a later one."""
    if column + 1 >= len(places) or cell.x0 is None:
        return False
    here, later = places[column], places[column + 1 :]
    beyond = here is None or cell.x0 >= here[1]
    return beyond and any(place is not None and cell.x0 >= place[0] - 2 for place in later)
