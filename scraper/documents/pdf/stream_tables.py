"""Stream tables: find tables without drawn cells by rows with aligned gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from scraper.documents.pdf import table_regions
from scraper.documents.pdf.layout_model import LayoutRow, RulingLine, Span, TextRun
from scraper.documents.pdf.table_cells import (
    RowSegment,
    SegmentedRow,
    find_free_strips,
    find_wrapped_lines,
    is_number,
    merge_lines,
    split_row,
)
from scraper.documents.pdf.table_headers_and_footers import Table, add_headers

_MIN_ROWS_OF_TWO_COLUMNS = 3
_WORDS_OF_PROSE = 9
_TOLERANCE = 0.1
"""Ratio of rows that may cross the space between two columns, such as spanning headers or long names."""
_FEW_NUMBERS = 0.25
_DENSE = 0.75
_MIN_FILLED = 0.3
_MIN_SURE_ROWS = 4
_FLUSH = 3.0
_NARROW_GAP = 0.5
"""Multiple of the font size. Such gaps count only if they lie one below another in several rows."""
_MIN_NARROW_ROWS = 4
_FULL_ROWS = 0.75


class StreamTable(NamedTuple):
    """A table in the rows of a flow from `start` to `end` (exclusive)."""

    start: int
    end: int
    rows: Table


def find_tables(
    rows: Sequence[LayoutRow], across: Sequence[RulingLine], rotated_runs: Sequence[TextRun] = ()
) -> list[StreamTable]:
    """Return the tables in a flow of rows, from top to bottom; `across` are the horizontal lines of the page."""
    regions = table_regions.find_ruled_regions(rows, across)
    if not regions and all(len(row.runs) == 1 for row in rows):
        return []
    wide = [split_row(row) for row in rows]
    narrow = [line if len(line.row.runs) == 1 else split_row(line.row, _NARROW_GAP) for line in wide]
    found: list[StreamTable] = []
    at = 0
    while at < len(rows):
        if len(rows[at].runs) == 1 and at not in regions:
            at += 1
            continue
        lines, end, table = _find_ruled_table(rows, wide, at, regions.get(at, ()), across)
        if table is None:
            lines, end = _find_candidate(wide, narrow, at, across)
            table = _table(lines[at:end], across) if end - at > 1 else None
        if table is None or _is_justified(lines, at, end, table):
            at += 1
            continue
        above = rows[found[-1].end if found else 0 : at]
        edges = (lines[at].y0, lines[at].y1)
        table, count = add_headers(table, _columns(lines[at:end]), edges, above, rotated_runs)
        found.append(StreamTable(at - count, end, table))
        at = end
    return found


def _find_ruled_table(
    rows: Sequence[LayoutRow],
    wide: Sequence[SegmentedRow],
    start: int,
    ends: Sequence[int],
    across: Sequence[RulingLine],
) -> tuple[Sequence[SegmentedRow], int, Table | None]:
    """Return the lines and cells of a table between rules, if its words are in columns that wide gaps do not show."""
    for end in ends:
        lines = table_regions.split_at_strips(rows[start:end])
        if lines and len(_columns(lines)) > len(_columns(wide[start:end])):
            table = _table(lines, across)
            if table is not None:
                return [*wide[:start], *lines, *wide[end:]], end, table
    return wide, start, None


def _find_candidate(
    wide: Sequence[SegmentedRow], narrow: Sequence[SegmentedRow], start: int, across: Sequence[RulingLine]
) -> tuple[Sequence[SegmentedRow], int]:
    """Return the lines, split at wide or at narrow gaps, and the end of the rows from `start` that may be a table.

    Narrow gaps count if they lie one below another in nearly all rows, and separate more columns.
    """
    end, narrow_end = (table_regions.find_table_end(lines, start, across) for lines in (wide, narrow))
    if max(end, narrow_end) - start < _MIN_NARROW_ROWS:
        return wide, end
    columns = len(_columns(wide[start:end]))
    if _is_surely_table(narrow[start:narrow_end]) and len(_columns(narrow[start:narrow_end])) > columns:
        return narrow, narrow_end
    if end - start >= _MIN_NARROW_ROWS and len(_columns(narrow[start:end])) > columns > 1:
        return narrow, end
    return wide, end


def _is_surely_table(lines: Sequence[SegmentedRow]) -> bool:
    """Return True if nearly all rows have the same narrow columns, and numbers in one of them."""
    columns = _columns(lines)
    if len(lines) < _MIN_NARROW_ROWS or len(columns) < 2:
        return False
    grid = [list(map(_text_of_cell, _place_segments(line, columns))) for line in lines]
    if sum(all(row) for row in grid) < _FULL_ROWS * len(grid):
        return False
    return any(sum(map(is_number, cells)) >= _FULL_ROWS * len(cells) for cells in zip(*grid, strict=True))


def _table(lines: Sequence[SegmentedRow], across: Sequence[RulingLine]) -> Table | None:
    columns = _columns(lines)
    cellular = [line for line in lines if len(line.segments) > 1]
    if len(columns) < 2 or (len(columns) == 2 and len(cellular) < _MIN_ROWS_OF_TWO_COLUMNS):
        return None
    cells = table_regions.split_spanning_cells([_place_segments(line, columns) for line in lines], columns)
    grid = [list(map(_text_of_cell, row)) for row in cells]
    if _is_prose(lines, grid):
        return None
    wrapped = find_wrapped_lines(lines, cells)
    rows = [row for row in merge_lines(lines, grid, across, wrapped) if any(row)]
    filled = sum(bool(cell) for row in rows for cell in row)
    if len(rows) < 2 or filled < _MIN_FILLED * len(rows) * len(columns):
        return None
    return tuple(tuple(row) for row in rows)


def _is_justified(lines: Sequence[SegmentedRow], start: int, end: int, table: Sequence[Sequence[str]]) -> bool:
    """Return True if a few rows are lines of a justified paragraph with wide word gaps."""
    if len(table) >= _MIN_SURE_ROWS or any(any(map(str.isdigit, cell)) for row in table for cell in row):
        return False
    inside = lines[start:end]
    beside = [lines[at] for at in (start - 1, end) if 0 <= at < len(lines)]
    return any(
        _is_near_text(inside[0] if line.y0 < inside[0].y0 else inside[-1], line)
        and all(abs(line.x0 - other.x0) < _FLUSH for other in inside[1:] or inside)
        and (abs(line.x1 - inside[0].x1) < _FLUSH or line.y0 > inside[-1].y0)
        for line in beside
    )


def _is_near_text(line: SegmentedRow, other: SegmentedRow) -> bool:
    apart = max(line.y0, other.y0) - min(line.y1, other.y1)
    return apart < 0.6 * line.size and abs(line.size - other.size) < 0.6


def _columns(lines: Sequence[SegmentedRow]) -> list[Span]:
    """Return the columns, separated by strips that hardly any row crosses."""
    counts = [len(line.segments) for line in lines if len(line.segments) > 1]
    if not counts:
        return []
    usual = median(counts)
    body = [line for line in lines if len(line.segments) >= max(2, 0.6 * usual)]
    allowed = int(_TOLERANCE * len(body)) if len(body) >= 6 else 0
    spans = ((segment.x0, segment.x1) for line in body for segment in line.segments)
    middles = [(start + end) / 2 for start, end in find_free_strips(spans, 1.0, allowed)]
    inner = [middle for middle in middles if sum(_has_text_on_both_sides(line, middle) for line in body) >= 2]
    return list(pairwise((min(line.x0 for line in lines) - 1, *inner, max(line.x1 for line in lines) + 1)))


def _has_text_on_both_sides(line: SegmentedRow, middle: float) -> bool:
    return any(one.x1 <= middle for one in line.segments) and any(one.x0 >= middle for one in line.segments)


def _place_segments(line: SegmentedRow, columns: Sequence[Span]) -> list[list[RowSegment]]:
    """Return the segments of a row by column; a spanning text is in its first column."""
    cells: list[list[RowSegment]] = [[] for _ in columns]
    for segment in line.segments:
        for piece, column_index in _place_segment(segment, columns):
            cells[column_index].append(piece)
    return cells


def _text_of_cell(cell: Sequence[RowSegment]) -> str:
    return remove_leader_dots(" ".join(piece.text for piece in cell))


def remove_leader_dots(text: str) -> str:
    """Return a text without the three or more dots at its end."""
    rest = text.rstrip(" .")
    return rest if text.count(".", len(rest)) > 2 else text


def _place_segment(segment: RowSegment, columns: Sequence[Span]) -> Iterator[tuple[RowSegment, int]]:
    """Yield a segment in its main column; split it at gaps if its runs belong to several columns."""
    inside = [_overlap(segment, column) / max(1.0, segment.x1 - segment.x0) for column in columns]
    touched_columns = [column_index for column_index, share in enumerate(inside) if share > 0.1]
    if len(touched_columns) > 1 and len(segment.runs) > 1:
        by_run = [max(range(len(columns)), key=lambda at: _overlap(run, columns[at])) for run in segment.runs]
        for column_index in sorted(set(by_run)):
            runs = tuple(run for run, own in zip(segment.runs, by_run, strict=True) if own == column_index)
            yield RowSegment.of(runs), column_index
        return
    best = max(range(len(columns)), key=inside.__getitem__)
    yield segment, touched_columns[0] if len(touched_columns) > 1 and inside[best] < 0.7 else best


def _overlap(part: RowSegment | TextRun, column: Span) -> float:
    return max(0.0, min(part.x1, column[1]) - max(part.x0, column[0]))


def _is_prose(lines: Sequence[SegmentedRow], grid: Sequence[Sequence[str]]) -> bool:
    """Return True if the cells are so wordy that they are lines of prose with chance gaps."""
    words = [len(cell.split()) for row in grid for cell in row if cell]
    gapped = sum(len(line.segments) > 1 for line in lines)
    if sum(words) / len(words) > _WORDS_OF_PROSE or gapped < 0.4 * len(lines):
        return True
    numbers = sum(any(map(str.isdigit, cell)) for row in grid for cell in row)
    return numbers < _FEW_NUMBERS * len(words) and _is_flush(lines) and _fill(lines) > _DENSE


def _is_flush(lines: Sequence[SegmentedRow]) -> bool:
    """Return True if nearly all lines begin and end at the same positions."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    slack = max(_FLUSH, 0.6 * lines[0].size)
    flush = sum(line.x0 - left < slack and right - line.x1 < slack for line in lines)
    return flush >= 0.6 * len(lines)


def _fill(lines: Sequence[SegmentedRow]) -> float:
    """Return the ratio of text to the length of the lines."""
    text_width = sum(segment.x1 - segment.x0 for line in lines for segment in line.segments)
    return text_width / max(1.0, sum(line.x1 - line.x0 for line in lines))
