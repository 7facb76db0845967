"""Rows of a table outside of its grid: headers above it, rotated headers, sums below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scraper.extract.documents.pdf.cells import Segment, TextLine, split_row
from scraper.extract.documents.pdf.layout_model import LayoutRow, TextRun

_Span = tuple[float, float]
_Table = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class RotatedHeader:
    """Texts of rotated column headers, and their vertical range."""

    heads: tuple[str, ...]
    y0: float
    y1: float


_MOST = 4
_ROOM = 1.3
"""Multiple of the line height. Headers are closer to their table than other text above."""
_CAPTION = re.compile(r"(?:table|tab\.|figure|fig\.|tabelle|tableau|tabla|abb\.|chart|exhibit)\s*[\dIVXA-Z]", re.I)
_LONGEST = 40
_CENTRED = 0.35
"""Ratio to the column width: distance of a spanning header from the center of its columns."""
_ROOM_BELOW_FEET = 1.5
"""Multiple of the font size."""
_NUMBERS_OF_SUMS = 0.6
"""Ratio of columns with numbers in a row of sums."""


def find_headers_above(
    rows: Sequence[LayoutRow], columns: Sequence[_Span], top: float, sideways: RotatedHeader | None = None
) -> tuple[list[list[str]], int]:
    """Return the headers above a table by column, and the number of rows they take."""
    heads: list[list[str]] = []
    taken = 0
    for row in reversed(rows[-_MOST:]):
        line = split_row(row)
        if sideways is not None and line.y1 <= sideways.y0:
            heads.insert(0, list(sideways.heads))
            top, sideways = sideways.y0, None
        cells = _cells(line, columns)
        if cells is None or top - line.y1 > _ROOM * (line.y1 - line.y0):
            break
        top = line.y0
        if sideways is not None:
            merged = _merged(cells, sideways.heads)
            heads[:0] = [merged] if merged else [cells, list(sideways.heads)]
            top, sideways = min(top, sideways.y0), None
        else:
            heads.insert(0, cells)
        taken += 1
    if sideways is not None:
        heads.insert(0, list(sideways.heads))
    return heads, taken


def _merged(cells: Sequence[str], heads: Sequence[str]) -> list[str] | None:
    """Join two header rows unless their cells overlap."""
    if any(cell and head for cell, head in zip(cells, heads, strict=True)):
        return None
    return [cell or head for cell, head in zip(cells, heads, strict=True)]


def _cells(line: TextLine, columns: Sequence[_Span]) -> list[str] | None:
    """Return a header row by column, or None if it is no header."""
    texts = [segment.text for segment in line.segments]
    if len(texts) < 2 or _CAPTION.match(texts[0]) or any(len(text) > _LONGEST for text in texts):
        return None
    if line.x0 < columns[0][0] - 12 or line.x1 > columns[-1][1] + 12:
        return None
    cells = [""] * len(columns)
    spanned = _spanned(line.segments, columns)
    for segment, first in zip(line.segments, spanned, strict=True):
        place = _place(segment, columns) if first is None else first
        if cells[place]:
            return None
        cells[place] = segment.text
    return cells


def _place(segment: Segment, columns: Sequence[_Span]) -> int:
    """Return the column of a header; the first one if it spans several."""
    covered = [
        place
        for place, (start, end) in enumerate(columns)
        if min(segment.x1, end) - max(segment.x0, start) > 0.5 * (end - start)
    ]
    if len(covered) > 1:
        return covered[0]
    shares = [min(segment.x1, end) - max(segment.x0, start) for start, end in columns]
    return shares.index(max(shares))


def _spanned(segments: Sequence[Segment], columns: Sequence[_Span]) -> list[int | None]:
    """Return the first column of each header if all of them are centered over several columns."""
    if len(segments) < 2 or len(columns) < 2 * len(segments):
        return [None] * len(segments)
    middles = [(segment.x0 + segment.x1) / 2 for segment in segments]
    bounds = [(a.x1 + b.x0) / 2 for a, b in pairwise(segments)]
    bounds = [2 * middles[0] - bounds[0], *bounds, 2 * middles[-1] - bounds[-1]]
    firsts: list[int | None] = []
    for middle, (low, high) in zip(middles, pairwise(bounds), strict=True):
        group = [at for at, (start, end) in enumerate(columns) if low < (start + end) / 2 < high]
        if len(group) < 2:
            return [None] * len(segments)
        start, end = columns[group[0]][0], columns[group[-1]][1]
        if abs((start + end) / 2 - middle) > _CENTRED * (end - start) / len(group):
            return [None] * len(segments)
        firsts.append(group[0])
    return firsts


def find_rotated_headers(
    letters: Sequence[TextRun], columns: Sequence[_Span], top: float, bottom: float
) -> RotatedHeader | None:
    """Return the rotated headers above a table's first row or in it."""
    cells: list[list[str]] = [[] for _ in columns]
    begins, ends = top, 0.0
    for run in letters:
        if not top - _ROOM_BELOW_FEET * run.size < run.y1 < bottom + run.size or run.y0 > top:
            continue
        foot = (run.x0 + run.x1) / 2
        place = next((at for at, (start, end) in enumerate(columns) if start <= foot < end), None)
        if place is not None:
            cells[place].append(run.text.strip())
            begins, ends = min(begins, run.y0), max(ends, run.y1)
    if sum(map(bool, cells)) < 2:
        return None
    return RotatedHeader(tuple(" ".join(cell) for cell in cells), begins, ends)


def add_rotated_headers(
    table: _Table, sideways: RotatedHeader | None, top: float
) -> tuple[_Table, RotatedHeader | None]:
    """Merge rotated headers into the table's first row; return the table and the headers that remain."""
    if sideways is None or sideways.y1 <= top + 1:
        return table, sideways
    merged = _merged(table[0], sideways.heads)
    return ((tuple(merged), *table[1:]), None) if merged else (table, sideways)


def find_footers_below(rows: Sequence[LayoutRow], columns: Sequence[_Span], bottom: float) -> list[list[str]]:
    """Return by column the first rows that are sums of a table that ends at `bottom`."""
    feet: list[list[str]] = []
    for row in rows[:_MOST]:
        line = split_row(row)
        cells = _cells(line, columns)
        if cells is None or line.y0 - bottom > _ROOM * (line.y1 - line.y0):
            break
        numbers = sum(any(map(str.isdigit, cell)) for cell in cells)
        if numbers < max(2, _NUMBERS_OF_SUMS * len(columns)):
            break
        feet.append(cells)
        bottom = line.y1
    return feet
