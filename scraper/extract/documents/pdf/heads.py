"""Head rows that stand above a table without belonging to its grid: outside of its frame, or set apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scraper.extract.documents.pdf.segments import Line, Segment, line_of
from scraper.extract.documents.pdf.shapes import Row

__all__ = ["heads_above"]

_Span = tuple[float, float]

_MOST = 4
_ROOM = 1.3
"""Of a line's height: heads stand nearer to their table than what else is above it."""
_CAPTION = re.compile(
    r"(?:table|tab\.|figure|fig\.|tabelle|tableau|tabla|abb\.|chart|exhibit)\s*[\dIVXA-Z]", re.I
)
_LONGEST = 40


def heads_above(rows: Sequence[Row], columns: Sequence[_Span], top: float) -> list[list[str]]:
    """The texts by column of the last of these rows, as many as are heads of a table that begins at `top`."""
    heads: list[list[str]] = []
    for row in reversed(rows[-_MOST:]):
        line = line_of(row)
        cells = _cells(line, columns)
        if cells is None or top - line.y1 > _ROOM * (line.y1 - line.y0):
            break
        heads.insert(0, cells)
        top = line.y0
    return heads


def _cells(line: Line, columns: Sequence[_Span]) -> list[str] | None:
    """A head row's texts by column; None for a row that is none."""
    texts = [segment.text for segment in line.segments]
    if len(texts) < 2 or _CAPTION.match(texts[0]) or any(len(text) > _LONGEST for text in texts):
        return None
    if line.x0 < columns[0][0] - 12 or line.x1 > columns[-1][1] + 12:
        return None
    cells = [""] * len(columns)
    for segment in line.segments:
        place = _place(segment, columns)
        if cells[place]:
            return None
        cells[place] = segment.text
    return cells


def _place(segment: Segment, columns: Sequence[_Span]) -> int:
    """The column a head stands over; the first one of those that it spans."""
    covered = [
        place
        for place, (start, end) in enumerate(columns)
        if min(segment.x1, end) - max(segment.x0, start) > 0.5 * (end - start)
    ]
    if len(covered) > 1:
        return covered[0]
    shares = [min(segment.x1, end) - max(segment.x0, start) for start, end in columns]
    return shares.index(max(shares))
