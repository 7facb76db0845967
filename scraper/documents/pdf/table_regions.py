"""Find rows of text that may form a table without drawn cells, and the words of its narrow columns.

The rows share gaps, and no prose stands between them. Or their words are aligned between rules, although they are
hardly further apart than in prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from scraper.documents.pdf.layout_model import LayoutRow, RulingLine, Span, TextRun
from scraper.documents.pdf.table_cells import RowSegment, SegmentedRow, find_free_strips, is_number
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


_SAME_END = 3.0
"""Points by which rules of one table may differ in length."""
_MIN_RULE = 40.0
_MIN_STRIP = 0.2
"""Multiple of the font size. Spaces between words are .25."""
_MIN_ROWS, _MIN_CLEAR_ROWS = 4, 3
"""Rows that share a strip; fewer suffice if the words after it are numbers or begin at the same position."""
_BOTH_SIDES = 0.35
"""Ratio of the rows with text on both sides of a strip."""
_ALIGNED = 1.0
_MIN_ALIGNED = 3
"""Other cells of a column."""
_DISTINCT, _DISTINCT_NUMBERED = 0.5, 0.25
"""Ratio of different words before a strip; fewer for numbers after it. Words that repeat are a phrase."""


def find_ruled_regions(rows: Sequence[LayoutRow], across: Sequence[RulingLine]) -> dict[int, list[int]]:
    """Find regions of rows between horizontal lines of the same position and length.

    Returns the ends (exclusive) of the possible regions by their first row, the longest region first.
    """
    regions: dict[int, list[int]] = {}
    if not rows:
        return regions
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    rules = [rule for rule in across if rule.end - rule.start > _MIN_RULE and rule.start < right and rule.end > left]
    places = [sum(row.runs[0].middle < rule.at for row in rows) for rule in rules]
    for index, (top, start) in enumerate(zip(rules, places, strict=True)):
        ends = {
            end
            for bottom, end in zip(rules[index + 1 :], places[index + 1 :], strict=True)
            if abs(bottom.start - top.start) <= _SAME_END and abs(bottom.end - top.end) <= _SAME_END and end > start + 1
        }
        if ends and start not in regions:
            regions[start] = sorted(ends, reverse=True)
    return regions


def split_at_strips(rows: Sequence[LayoutRow]) -> list[SegmentedRow]:
    """Return the rows, split where nearly all have a gap at the same position; empty if there is no such gap."""
    words = [list(_split_words(row.runs)) for row in rows]
    strips = _find_strips(words)
    return [_split(row, line, strips) for row, line in zip(rows, words, strict=True)] if strips else []


def _split_words(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    """Yield a run for each word, or runs as they are if the places of their words are unknown."""
    for run in runs:
        texts = run.text.split()
        if len(texts) != len(run.words) or len(texts) < 2:
            yield run
            continue
        for text, (x0, x1) in zip(texts, run.words, strict=True):
            yield run._replace(text=text, x0=x0, x1=x1, words=())


def _find_strips(lines: Sequence[Sequence[TextRun]]) -> list[Span]:
    """Return the vertical strips without text that separate columns of words."""
    size = max(lines[0], key=lambda word: len(word.text)).size
    usual = sorted(map(len, lines))[len(lines) // 2]
    body = [line for line in lines if len(line) >= max(2, usual / 2)]
    strips = find_free_strips(((word.x0, word.x1) for line in body for word in line), _MIN_STRIP * size)
    while strips:
        columns = [_columns(line, strips) for line in body]
        weak = [at for at in range(len(strips)) if not _separates([(row[at], row[at + 1]) for row in columns])]
        if not weak:
            break
        del strips[min(weak, key=lambda at: sum(bool(row[at] and row[at + 1]) for row in columns))]
    return strips


def _columns(line: Sequence[TextRun], strips: Sequence[Span]) -> list[list[TextRun]]:
    columns: list[list[TextRun]] = [[] for _ in range(len(strips) + 1)]
    for word in line:
        columns[sum(end <= word.x0 + 0.01 for _, end in strips)].append(word)
    return columns


def _separates(cells: Sequence[tuple[Sequence[TextRun], Sequence[TextRun]]]) -> bool:
    """Return True if enough rows have text on both sides of a strip, and it is no space between words that repeat."""
    both = [(left[-1], right[0]) for left, right in cells if left and right]
    if len(both) < _BOTH_SIDES * len(cells):
        return False
    starts = [right.x0 for _, right in both]
    are_numbers = sum(is_number(right.text) for _, right in both) >= len(both) - 1
    is_clear = are_numbers or max(starts) - min(starts) <= _ALIGNED
    least = _MIN_CLEAR_ROWS if is_clear else _MIN_ROWS
    distinct = len({left.text for left, _ in both})
    return len(both) >= least and distinct > (_DISTINCT_NUMBERED if are_numbers else _DISTINCT) * len(both)


def split_spanning_cells(
    cells: Sequence[Sequence[Sequence[RowSegment]]], columns: Sequence[Span]
) -> list[list[list[RowSegment]]]:
    """Split texts that reach into the next columns, if each part begins or ends where cells of its column do.

    The space between two columns may be as narrow as a space between words.
    """
    found = [[list(cell) for cell in row] for row in cells]
    for row in found:
        others = [other for other in found if other is not row]
        for at, (_, end) in enumerate(columns[:-1]):
            if not row[at] or row[at][-1].x1 <= end + _ALIGNED:
                continue
            placed = _split_at_columns(row[at][-1], columns)
            if min(placed) != at or len(placed) < 2 or any(row[column] for column in placed if column > at):
                continue
            if all(_is_aligned(part, [other[column] for other in others]) for column, part in placed.items()):
                row[at].pop()
                for column, part in placed.items():
                    row[column].append(part)
    return found


def _split_at_columns(segment: RowSegment, columns: Sequence[Span]) -> dict[int, RowSegment]:
    """Return the parts of a text by the columns in which the centers of their words are."""
    parts: dict[int, list[TextRun]] = {}
    for word in _split_words(segment.runs):
        parts.setdefault(sum((word.x0 + word.x1) / 2 > bound for _, bound in columns[:-1]), []).append(word)
    return {column: RowSegment.of(words) for column, words in sorted(parts.items())}


def _is_aligned(part: RowSegment, cells: Sequence[Sequence[RowSegment]]) -> bool:
    filled = [cell for cell in cells if cell]
    left = sum(abs(cell[0].x0 - part.x0) <= _ALIGNED for cell in filled)
    right = sum(abs(cell[-1].x1 - part.x1) <= _ALIGNED for cell in filled)
    return max(left, right) >= _MIN_ALIGNED


def _split(row: LayoutRow, words: Sequence[TextRun], strips: Sequence[Span]) -> SegmentedRow:
    groups = [[words[0]]]
    for before, after in pairwise(words):
        if any(min(after.x0, end) - max(before.x1, start) > 0.5 * (end - start) for start, end in strips):
            groups.append([])
        groups[-1].append(after)
    return SegmentedRow.of(row, groups)
