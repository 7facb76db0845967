"""Find rows of a table outside of its grid: headers above it, rotated headers, sums below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from scraper.documents.pdf.layout_model import LayoutRow, Span, TextRun
from scraper.documents.pdf.table_cells import RowSegment, SegmentedRow, split_row

Table = tuple[tuple[str, ...], ...]


class _RotatedHeader(NamedTuple):
    """Texts of rotated column headers by column, and their vertical range."""

    cells: tuple[str, ...]
    y0: float
    y1: float


_MAX_ROWS = 4
_MAX_DISTANCE = 1.3
"""Multiple of the line height. Headers are closer to their table than other text above."""
_CAPTION = re.compile(r"(?:table|tab\.|figure|fig\.|tabelle|tableau|tabla|abb\.|chart|exhibit)\s*[\dIVXA-Z]", re.I)
_MAX_HEADER_CHARS = 40
_MAX_OFF_CENTER = 0.35
"""Ratio to the column width: distance of a spanning header from the center of its columns."""
_MAX_ROTATED_DISTANCE = 1.5
"""Multiple of the font size."""
_MIN_SUM_SHARE = 0.6
"""Ratio of columns with numbers in a row of sums."""


def add_headers(
    table: Table, columns: Sequence[Span], edges: Span, above: Sequence[LayoutRow], rotated_runs: Sequence[TextRun]
) -> tuple[Table, int]:
    """Return a table with the headers above it, and the number of rows that these take.

    `edges` are the upper edge of the table and the lower edge of its first row. Rotated headers in the first row are
    merged into it.
    """
    top, bottom = edges
    rotated = _find_rotated_headers(rotated_runs, columns, top, bottom)
    if rotated is not None and rotated.y1 > top + 1 and (merged := _merge_cells(table[0], rotated.cells)):
        table, rotated = (tuple(merged), *table[1:]), None
    headers, count = _find_headers_above(above, columns, top, rotated)
    return (*map(tuple, headers), *table), count


def _find_headers_above(
    rows: Sequence[LayoutRow], columns: Sequence[Span], top: float, rotated: _RotatedHeader | None
) -> tuple[list[list[str]], int]:
    """Return the headers above a table by column, and the number of rows they take."""
    headers: list[list[str]] = []
    count = 0
    for row in reversed(rows[-_MAX_ROWS:]):
        line = split_row(row)
        if rotated is not None and line.y1 <= rotated.y0:
            headers.insert(0, list(rotated.cells))
            top, rotated = rotated.y0, None
        cells = _row_cells(line, columns)
        if cells is None or top - line.y1 > _MAX_DISTANCE * (line.y1 - line.y0):
            break
        top = line.y0
        if rotated is not None:
            merged = _merge_cells(cells, rotated.cells)
            headers[:0] = [merged] if merged else [cells, list(rotated.cells)]
            top, rotated = min(top, rotated.y0), None
        else:
            headers.insert(0, cells)
        count += 1
    if rotated is not None:
        headers.insert(0, list(rotated.cells))
    return headers, count


def _merge_cells(cells: Sequence[str], others: Sequence[str]) -> list[str] | None:
    """Join two rows unless their cells overlap."""
    pairs = list(zip(cells, others, strict=True))
    return None if any(map(all, pairs)) else [cell or other for cell, other in pairs]


def _row_cells(line: SegmentedRow, columns: Sequence[Span]) -> list[str] | None:
    """Return the texts of a row by column, or None if it is not a row of the table."""
    texts = [segment.text for segment in line.segments]
    if len(texts) < 2 or _CAPTION.match(texts[0]) or any(len(text) > _MAX_HEADER_CHARS for text in texts):
        return None
    if line.x0 < columns[0][0] - 12 or line.x1 > columns[-1][1] + 12:
        return None
    cells = [""] * len(columns)
    positions = _spanned_columns(line.segments, columns) or [_find_column(one, columns) for one in line.segments]
    for segment, column in zip(line.segments, positions, strict=True):
        if cells[column]:
            return None
        cells[column] = segment.text
    return cells


def _find_column(segment: RowSegment, columns: Sequence[Span]) -> int:
    """Return the column of a header; the first one if it spans several."""
    overlaps = [min(segment.x1, end) - max(segment.x0, start) for start, end in columns]
    covered = [at for at, (start, end) in enumerate(columns) if overlaps[at] > 0.5 * (end - start)]
    return covered[0] if len(covered) > 1 else overlaps.index(max(overlaps))


def _spanned_columns(segments: Sequence[RowSegment], columns: Sequence[Span]) -> list[int]:
    """Return the first column of each header if all of them are centered over several columns, else nothing."""
    if len(columns) < 2 * len(segments):
        return []
    middles = [(segment.x0 + segment.x1) / 2 for segment in segments]
    bounds = [(a.x1 + b.x0) / 2 for a, b in pairwise(segments)]
    bounds = [2 * middles[0] - bounds[0], *bounds, 2 * middles[-1] - bounds[-1]]
    firsts = []
    for middle, (low, high) in zip(middles, pairwise(bounds), strict=True):
        group = [at for at, (start, end) in enumerate(columns) if low < (start + end) / 2 < high]
        if len(group) < 2:
            return []
        start, end = columns[group[0]][0], columns[group[-1]][1]
        if abs((start + end) / 2 - middle) > _MAX_OFF_CENTER * (end - start) / len(group):
            return []
        firsts.append(group[0])
    return firsts


def _find_rotated_headers(
    runs: Sequence[TextRun], columns: Sequence[Span], top: float, bottom: float
) -> _RotatedHeader | None:
    """Return the rotated headers above a table's first row or in it."""
    cells: list[list[str]] = [[] for _ in columns]
    y0, y1 = top, 0.0
    for run in runs:
        if not top - _MAX_ROTATED_DISTANCE * run.size < run.y1 < bottom + run.size:
            continue
        foot = (run.x0 + run.x1) / 2
        column = next((at for at, (start, end) in enumerate(columns) if start <= foot < end), None)
        if column is not None:
            cells[column].append(run.text.strip())
            y0, y1 = min(y0, run.y0), max(y1, run.y1)
    if sum(map(bool, cells)) < 2:
        return None
    return _RotatedHeader(tuple(" ".join(cell) for cell in cells), y0, y1)


def find_footers_below(rows: Sequence[LayoutRow], columns: Sequence[Span], bottom: float) -> list[tuple[str, ...]]:
    """Return the rows of sums directly below a table, split into its columns.

    `bottom` is the lower edge of the table.
    """
    footers: list[tuple[str, ...]] = []
    for row in rows[:_MAX_ROWS]:
        line = split_row(row)
        cells = _row_cells(line, columns)
        if cells is None or line.y0 - bottom > _MAX_DISTANCE * (line.y1 - line.y0):
            break
        numbers = sum(any(map(str.isdigit, cell)) for cell in cells)
        if numbers < max(2, _MIN_SUM_SHARE * len(columns)):
            break
        footers.append(tuple(cells))
        bottom = line.y1
    return footers
