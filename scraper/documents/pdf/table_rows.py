"""Find consecutive rows of text that may form a table: they share gaps, and no prose stands between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from scraper.documents.pdf.layout_model import RulingLine
from scraper.documents.pdf.table_cells import RowSegment, SegmentedRow
from scraper.documents.pdf.text_assembly import completes_number, is_label

_MAX_ROWS_ABOVE = 4
"""Rows above a row; one of them must share a gap with it."""
_MAX_ROWS_BETWEEN = 3
"""Rows without a gap that may occur between rows of one table."""
_MIN_SHARED_GAP = 2.0
"""Points that gaps must have in common."""
_MAX_RULED_DISTANCE = 3.0
"""Multiple of the row height. A wider distance ends a table, also if a line is drawn between its rows."""
_MAX_ROW_DISTANCE = 1.6
"""Multiple of the row height. A wider distance ends a table without a line between its rows."""
_WIDE = 0.75
"""Ratio to the table width. A wider row without a gap is prose beside the table."""
_RULE_END = 4.0
_APART = 1.4
"""Multiple of the distance between rows."""
_MIN_SENTENCE = 4
"""Words."""
_DOTS = re.compile(r"(?:\.\s?){5,}|\u2026{2,}")


def find_table_end(lines: Sequence[SegmentedRow], start: int, across: Sequence[RulingLine]) -> int:
    """Return the index after the last row of the table that may begin at `start`."""
    first = lines[start]
    if not _is_cellular(first):
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
        shares_gap = any(_share_gap(line, other) for other in recent)
        if _is_cellular(line) and shares_gap:
            return index
        if len(line.segments) > 1 and not shares_gap:
            return None
        if len(line.segments) == 1 and line.x1 - line.x0 > _WIDE * (right - left) and not _is_header(line):
            return None
        if len(line.segments) == 1 and _is_apart(recent, above, line):
            return None
    return None


def _is_apart(recent: Sequence[SegmentedRow], above: SegmentedRow, line: SegmentedRow) -> bool:
    """Return True for a sentence whose distance to the row above exceeds the distance between rows of the table."""
    step = min((b.y0 - a.y0 for a, b in pairwise(recent)), default=0.0)
    return 0 < _APART * step < line.y0 - above.y0 and len(line.segments[0].text.split()) > _MIN_SENTENCE


def _include_last_line(lines: Sequence[SegmentedRow], start: int, end: int, left: float) -> int:
    """Return the end after the next row if its only cell continues a cell of the row above, else `end`."""
    if end >= len(lines) or end - start < 2:
        return end
    line, above = lines[end], lines[end - 1]
    if len(line.segments) != 1 or line.y0 - above.y1 > 0.35 * line.size:
        return end
    inner = [segment for segment in above.segments[1:] if abs(segment.x0 - line.x0) < 2 or _ends_number(segment, line)]
    return end + 1 if inner and line.x0 > left + 5 else end


def _ends_number(above: RowSegment, line: SegmentedRow) -> bool:
    return above.x0 - 2 < line.x0 < above.x1 and completes_number(above.text, line.segments[0].text)


def _is_cellular(line: SegmentedRow) -> bool:
    if len(line.segments) < 2:
        return False
    if len(line.segments) == 2 and _DOTS.search(" ".join(run.text for run in line.row.runs)):
        return False  # A line of a table of contents.
    return not (len(line.segments) == 2 and is_label(line.segments[0].text))


def _is_header(line: SegmentedRow) -> bool:
    return line.row.bold and sum(len(run.text) for run in line.row.runs) < 80


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
    """Return True if a rule is as long as a line or longer."""
    return rule.start <= line.x0 + _RULE_END and line.x1 - _RULE_END <= rule.end


def _share_gap(line: SegmentedRow, other: SegmentedRow) -> bool:
    return any(min(a[1], b[1]) - max(a[0], b[0]) >= _MIN_SHARED_GAP for a in line.gaps for b in other.gaps)
