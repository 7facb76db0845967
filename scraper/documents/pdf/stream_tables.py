"""Stream tables: find tables without drawn cells by rows with aligned gaps."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from scraper.documents.pdf.layout_model import LayoutRow, RulingLine, Span, TextRun
from scraper.documents.pdf.table_cells import SegmentedRow, Table, add_headers, find_free_strips, merge_lines, split_row
from scraper.documents.pdf.text_assembly import text_of_row

_MIN_ROWS_OF_TWO_COLUMNS = 3
_WORDS_OF_PROSE = 9
_TOLERANCE = 0.1
"""Ratio of rows that may cross the space between two columns, such as spanning headers or long names."""
_FEW_NUMBERS = 0.25
_DENSE = 0.75
_FLUSH = 3.0
_NARROW_GAP = 0.5
"""Multiple of the font size. Such gaps count only if they lie one below another in several rows."""
_MIN_NARROW_ROWS = 4
_MAX_ROWS_ABOVE = 4
"""Rows above a row; one of them must share a gap with it."""
_MAX_ROWS_BETWEEN = 3
"""Rows without a gap that may occur between rows of one table."""
_MIN_SHARED_GAP = 2.0
_MAX_RULED_DISTANCE = 3.0
"""Multiple of the row height. A wider distance ends a table, also if a line is drawn between its rows."""
_MAX_ROW_DISTANCE = 1.6
"""Multiple of the row height. A wider distance ends a table without a line between its rows."""
_WIDE = 0.75
"""Ratio to the table width. A wider row without a gap is prose beside the table."""
_RULE_END = 4.0


class StreamTable(NamedTuple):
    """A table in the rows of a flow from `start` to `end` (exclusive)."""

    start: int
    end: int
    rows: Table


def find_tables(
    rows: Sequence[LayoutRow], across: Sequence[RulingLine], rotated_runs: Sequence[TextRun] = ()
) -> list[StreamTable]:
    """Return the tables in a flow of rows, from top to bottom; `across` are the horizontal lines of the page."""
    if all(len(row.runs) == 1 for row in rows):
        return []
    wide = [split_row(row) for row in rows]
    narrow = [split_row(line, _NARROW_GAP) for line in wide]
    found: list[StreamTable] = []
    at = 0
    while at < len(rows):
        if len(rows[at].runs) == 1:
            at += 1
            continue
        lines, end = _find_candidate(wide, narrow, at, across)
        table = _table(lines[at:end], across) if end - at > 1 else None
        if table is None:
            at += 1
            continue
        above = rows[found[-1].end if found else 0 : at]
        edges = (lines[at].y0, lines[at].y1)
        table, count = add_headers(table, _columns(lines[at:end]), edges, above, rotated_runs)
        found.append(StreamTable(at - count, end, table))
        at = end
    return found


def _find_candidate(
    wide: Sequence[SegmentedRow], narrow: Sequence[SegmentedRow], start: int, across: Sequence[RulingLine]
) -> tuple[Sequence[SegmentedRow], int]:
    """Return the lines, split at wide or at narrow gaps, and the end of the rows from `start` that may be a table."""
    end, narrow_end = (_find_table_end(lines, start, across) for lines in (wide, narrow))
    if max(end, narrow_end) - start < _MIN_NARROW_ROWS:
        return wide, end
    columns = len(_columns(wide[start:end]))
    if end - start >= _MIN_NARROW_ROWS and len(_columns(narrow[start:end])) > columns > 1:
        return narrow, end
    return wide, end


def _find_table_end(lines: Sequence[SegmentedRow], start: int, across: Sequence[RulingLine]) -> int:
    first = lines[start]
    if not first.is_cellular:
        return start + 1
    recent = [first]
    left, right = first.x0, first.x1
    end = start + 1
    while end < len(lines):
        ahead = _next_cellular(lines, end, recent, across, left, right)
        if ahead is None:
            break
        for line in lines[end : ahead + 1]:
            left, right = min(left, line.x0), max(right, line.x1)
        recent = [*recent, lines[ahead]][-_MAX_ROWS_ABOVE:]
        end = ahead + 1
    return _include_last_line(lines, start, end, left)


def _next_cellular(
    lines: Sequence[SegmentedRow],
    at: int,
    recent: Sequence[SegmentedRow],
    across: Sequence[RulingLine],
    left: float,
    right: float,
) -> int | None:
    """Return the index of the next row that shares a gap with recent ones; None if a row before it ends the table."""
    for index in range(at, min(at + _MAX_ROWS_BETWEEN + 1, len(lines))):
        line, above = lines[index], lines[index - 1]
        if not _is_near(above, line, across):
            return None
        gaps = [gap for other in recent for gap in other.gaps]
        shares_gap = any(min(a[1], b[1]) - max(a[0], b[0]) >= _MIN_SHARED_GAP for a in line.gaps for b in gaps)
        if line.is_cellular and shares_gap:
            return index
        if len(line.segments) > 1 and not shares_gap:
            return None
        is_heading = line.size > above.size + 0.9
        if len(line.segments) == 1 and (is_heading or line.x1 - line.x0 > _WIDE * (right - left)):
            return None
    return None


def _include_last_line(lines: Sequence[SegmentedRow], start: int, end: int, left: float) -> int:
    """Return the end after the next row if its only cell continues a cell of the row above, else `end`."""
    if end >= len(lines) or end - start < 2:
        return end
    line, above = lines[end], lines[end - 1]
    if len(line.segments) != 1 or line.y0 - above.y1 > 0.35 * line.size:
        return end
    inner = [segment for segment in above.segments[1:] if abs(segment.x0 - line.x0) < 2]
    return end + 1 if inner and line.x0 > left + 5 else end


def _is_near(above: SegmentedRow, line: SegmentedRow, across: Sequence[RulingLine]) -> bool:
    height = max(above.y1 - above.y0, line.y1 - line.y0, 4.0)
    distance = line.y0 - above.y1
    rules = [rule for rule in across if above.y1 - 2 <= rule.at <= line.y0 + 2]
    if any(_spans(rule, above) and not _spans(rule, line) for rule in rules):
        return False
    if distance <= _MAX_ROW_DISTANCE * height:
        return True
    return distance <= _MAX_RULED_DISTANCE * height and bool(rules)


def _spans(rule: RulingLine, line: SegmentedRow) -> bool:
    return rule.start <= line.x0 + _RULE_END and line.x1 - _RULE_END <= rule.end


def _table(lines: Sequence[SegmentedRow], across: Sequence[RulingLine]) -> Table | None:
    columns = _columns(lines)
    cellular = [line for line in lines if len(line.segments) > 1]
    if len(columns) < 2 or (len(columns) == 2 and len(cellular) < _MIN_ROWS_OF_TWO_COLUMNS):
        return None
    grid: list[list[str]] = []
    for line in lines:
        cells: list[list[str]] = [[] for _ in columns]
        for segment in line.segments:
            for piece, column in _place_segment(segment, columns):
                cells[column].append(text_of_row(piece))
        grid.append([remove_leader_dots(" ".join(cell)) for cell in cells])
    if _is_prose(lines, grid):
        return None
    rows = [row for row in merge_lines(lines, grid, across) if any(row)]
    return tuple(map(tuple, rows)) if len(rows) > 1 else None


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
    inner = []
    for middle in middles:
        before = [line for line in body if any(one.x1 <= middle for one in line.segments)]
        if sum(any(one.x0 >= middle for one in line.segments) for line in before) >= 2:
            inner.append(middle)
    return list(pairwise((min(line.x0 for line in lines) - 1, *inner, max(line.x1 for line in lines) + 1)))


def remove_leader_dots(text: str) -> str:
    """Return a text without the three or more dots at its end."""
    rest = text.rstrip(" .")
    return rest if text.count(".", len(rest)) > 2 else text


def _place_segment(segment: LayoutRow, columns: Sequence[Span]) -> Iterator[tuple[LayoutRow, int]]:
    """Yield a segment in its main column; split it at gaps if its runs belong to several columns."""
    inside = [_overlap(segment, column) / max(1.0, segment.x1 - segment.x0) for column in columns]
    touched_columns = [column_index for column_index, share in enumerate(inside) if share > 0.1]
    if len(touched_columns) > 1 and len(segment.runs) > 1:
        by_run = [max(range(len(columns)), key=lambda at: _overlap(run, columns[at])) for run in segment.runs]
        for column_index in sorted(set(by_run)):
            runs = tuple(run for run, own in zip(segment.runs, by_run, strict=True) if own == column_index)
            yield LayoutRow(runs), column_index
        return
    best = max(range(len(columns)), key=inside.__getitem__)
    yield segment, touched_columns[0] if len(touched_columns) > 1 and inside[best] < 0.7 else best


def _overlap(part: LayoutRow | TextRun, column: Span) -> float:
    return max(0.0, min(part.x1, column[1]) - max(part.x0, column[0]))


def _is_prose(lines: Sequence[SegmentedRow], grid: Sequence[Sequence[str]]) -> bool:
    """Return True if the cells are so wordy that they are lines of prose with chance gaps."""
    words = [len(cell.split()) for row in grid for cell in row if cell]
    gapped = sum(len(line.segments) > 1 for line in lines)
    if sum(words) / len(words) > _WORDS_OF_PROSE or gapped < 0.4 * len(lines):
        return True
    numbers = sum(any(map(str.isdigit, cell)) for row in grid for cell in row)
    text_width = sum(segment.x1 - segment.x0 for line in lines for segment in line.segments)
    is_dense = text_width > _DENSE * max(1.0, sum(line.x1 - line.x0 for line in lines))
    return numbers < _FEW_NUMBERS * len(words) and is_dense and _is_flush(lines)


def _is_flush(lines: Sequence[SegmentedRow]) -> bool:
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    slack = max(_FLUSH, 0.6 * lines[0].size)
    flush = sum(line.x0 - left < slack and right - line.x1 < slack for line in lines)
    return flush >= 0.6 * len(lines)
