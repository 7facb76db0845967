"""Find narrow columns of tables: words that are aligned between rules, but hardly further apart than in prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from scraper.documents.pdf.layout_model import LayoutRow, RulingLine, TextRun
from scraper.documents.pdf.table_cells import RowSegment, SegmentedRow, is_number

_Span = tuple[float, float]

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


def _find_strips(lines: Sequence[Sequence[TextRun]]) -> list[_Span]:
    """Return the vertical strips without text that separate columns of words."""
    size = max(lines[0], key=lambda word: len(word.text)).size
    usual = sorted(map(len, lines))[len(lines) // 2]
    body = [line for line in lines if len(line) >= max(2, usual / 2)]
    edges = sorted((edge, step) for line in body for word in line for edge, step in ((word.x0, 1), (word.x1, -1)))
    strips, depth, opened = [], 0, None
    for x, step in edges:
        depth += step
        if depth == 0:
            opened = x
        elif opened is not None and depth == 1 and step == 1:
            if x - opened >= _MIN_STRIP * size:
                strips.append((opened, x))
            opened = None
    while strips:
        columns = [_columns(line, strips) for line in body]
        weak = [at for at in range(len(strips)) if not _separates([(row[at], row[at + 1]) for row in columns])]
        if not weak:
            break
        del strips[min(weak, key=lambda at: sum(bool(row[at] and row[at + 1]) for row in columns))]
    return strips


def _columns(line: Sequence[TextRun], strips: Sequence[_Span]) -> list[list[TextRun]]:
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
    cells: Sequence[Sequence[Sequence[RowSegment]]], columns: Sequence[_Span]
) -> list[list[list[RowSegment]]]:
    """Split texts that reach into the next columns, if each part begins or ends where cells of its column do.

    The space between two columns may be as narrow as a space between words.
    """
    found = [[list(cell) for cell in row] for row in cells]
    for row in found:
        for at, (_, end) in enumerate(columns[:-1]):
            if not row[at] or row[at][-1].x1 <= end + _ALIGNED:
                continue
            parts: dict[int, list[TextRun]] = {}
            for word in _split_words(row[at][-1].runs):
                center = (word.x0 + word.x1) / 2
                parts.setdefault(sum(center > bound for _, bound in columns[:-1]), []).append(word)
            placed = {
                column: RowSegment(tuple(words), words[0].x0, words[-1].x1) for column, words in sorted(parts.items())
            }
            if min(placed) == at and len(placed) > 1 and not any(row[column] for column in placed if column > at):
                others = [other for other in found if other is not row]
                if all(_is_aligned(part, [other[column] for other in others]) for column, part in placed.items()):
                    row[at][-1:] = [placed.pop(at)]
                    for column, part in placed.items():
                        row[column] = [part]
    return found


def _is_aligned(part: RowSegment, cells: Sequence[Sequence[RowSegment]]) -> bool:
    filled = [cell for cell in cells if cell]
    left = sum(abs(cell[0].x0 - part.x0) <= _ALIGNED for cell in filled)
    right = sum(abs(cell[-1].x1 - part.x1) <= _ALIGNED for cell in filled)
    return max(left, right) >= _MIN_ALIGNED


def _split(row: LayoutRow, words: Sequence[TextRun], strips: Sequence[_Span]) -> SegmentedRow:
    groups = [[words[0]]]
    for before, after in pairwise(words):
        if any(min(after.x0, end) - max(before.x1, start) > 0.5 * (end - start) for start, end in strips):
            groups.append([])
        groups[-1].append(after)
    segments = tuple(RowSegment(tuple(group), group[0].x0, max(word.x1 for word in group)) for group in groups)
    return SegmentedRow(row, segments, row.x0, row.x1, row.y0, row.y1, row.size)
