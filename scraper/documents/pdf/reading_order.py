"""Find the reading order: split a page into flows of one column each, where its text is in columns."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from scraper.documents.pdf.layout_model import LayoutRow, Span, TextRun
from scraper.documents.pdf.text_assembly import group_rows, is_label, is_right_to_left, split_mark, text_of_row
from scraper.text.terms import LETTERS

_MIN_GUTTER = 5.5
_GUTTER_SHARE = 0.75
"""Multiple of the font size. A narrower gap is a wide space of justified text."""
_MAX_DISTANCE = 2.5
"""Multiple of the font size. A line further above columns does not belong to them."""
_MAX_DEPTH = 6
_WORDS_A_LINE = 4
"""Mean. With fewer words per line it is a table instead of columns of prose."""
_FULL_LINE = 0.75
_FULL_SHARE = 0.5
_MIN_ROWS = 4
_MIN_OWN_LINES = 6
_OWN_SHARE = 0.45
_OWN_WORDS = 4
_MIN_PROSE_LINES, _PROSE_SHARE = 3, 0.2
_HALF = 0.48, 0.56
"""Ratio to the width of the text: range in which the right one of two equal columns begins."""
_WORDS_OF_NAMES, _NAMED_SHARE = 3, 0.85
"""Mean words a line in a column of names, and ratio of its lines that are beside one of the next column."""
_SAME_LINE = 0.2
"""Multiple of the font size."""


def split_flows(runs: Sequence[TextRun], depth: int = 0) -> Iterator[list[LayoutRow]]:
    """Yield rows in reading order, in flows that are one column wide."""
    if not runs:
        return
    rows = group_rows(runs)
    page = (min(run.x0 for run in runs) - 1, max(run.x1 for run in runs) + 1)
    size = Counter(run.size for run in runs for _ in run.text.split()).most_common(1)[0][0]
    gutter = max(_MIN_GUTTER, _GUTTER_SHARE * size)
    free = [_free_spans(row, page) for row in rows]
    single: list[LayoutRow] = []
    start = 0

    while start < len(rows):
        end, cuts = _find_band(rows, free, start, gutter)
        first, columns = start, _find_columns(rows[start:end], cuts) if cuts and depth < _MAX_DEPTH else []
        if not columns and len(cuts) == 1 and depth < _MAX_DEPTH:
            first, end, columns = _find_halves(rows, start, end, cuts[0], page)
        single += rows[start : first if columns else end]
        if columns:
            columns = _add_rows_above(single, columns)
            if single:
                yield single
                single = []
            for column in _reading_order(columns):
                yield from split_flows(column, depth + 1)
        start = end
    if single:
        yield single


def _add_rows_above(rows: list[LayoutRow], columns: list[list[TextRun]]) -> list[list[TextRun]]:
    """Return columns with the lines above that are in all of them or beside others, such as headings.

    These are removed from the rows.
    """
    while rows:
        row, top = rows[-1], min(run.y0 for column in columns for run in column)
        cuts = [(max(run.x1 for run in a), min(run.x0 for run in b)) for a, b in pairwise(columns)]
        crosses = any(run.x0 < end - 1 and run.x1 > start + 1 for run in row.runs for start, end in cuts)
        parts = _columns([row], cuts)
        if crosses or top - row.y1 > (_MAX_DISTANCE * row.size if all(parts) else -1):
            break
        rows.pop()
        columns = [part + column for part, column in zip(parts, columns, strict=True)]
    return columns


def _find_halves(
    rows: Sequence[LayoutRow], start: int, end: int, cut: Span, page: Span
) -> tuple[int, int, list[list[TextRun]]]:
    """Return the first row, the end and the columns of short lines in two halves, such as a list of names."""
    inside = [index for index in range(start, end) if rows[index].x0 < cut[0] and rows[index].x1 > cut[1]]
    if len(inside) < _MIN_ROWS or inside[-1] - inside[0] >= len(inside):
        return start, end, []
    columns = _columns(rows[inside[0] : inside[-1] + 1], [cut])
    middle = (min(run.x0 for run in columns[1]) - page[0]) / (page[1] - page[0])
    texts = [text_of_row(row) for column in columns for row in group_rows(column)]
    if not _HALF[0] < middle < _HALF[1] or any(any(map(str.isdigit, text)) or is_label(text) for text in texts):
        return start, end, []
    if rows[inside[0]].bold or max(run.x1 for run in columns[0]) > cut[1]:
        return start, end, []
    return inside[0], inside[-1] + 1, columns


def _find_band(
    rows: Sequence[LayoutRow], free: Sequence[list[Span]], start: int, gutter: float
) -> tuple[int, list[Span]]:
    """Return the end of the rows from `start` that share free strips between text, and these strips."""
    common = free[start]
    left, right = rows[start].x0, rows[start].x1
    end = start + 1
    while end < len(rows):
        left, right = min(left, rows[end].x0), max(right, rows[end].x1)
        shared = _intersect(common, free[end], gutter)
        if not any(left <= span[0] + 1 and right >= span[1] - 1 for span in shared):
            break
        common, end = shared, end + 1
    band = rows[start:end]
    cuts = [span for span in common if span[1] - span[0] >= gutter]
    first, last = min(run.x1 for row in band for run in row.runs), max(run.x0 for row in band for run in row.runs)
    return end, [span for span in cuts if first <= span[0] + 1 and last >= span[1] - 1]


def _free_spans(row: LayoutRow, page: Span) -> list[Span]:
    spans, at = [], page[0]
    for run in row.runs:
        if run.x0 > at:
            spans.append((at, run.x0))
        at = max(at, run.x1)
    if at < page[1]:
        spans.append((at, page[1]))
    return spans


def _intersect(one: Sequence[Span], other: Sequence[Span], min_width: float) -> list[Span]:
    overlaps = []
    for a, b in one:
        for c, d in other:
            low, high = (a if a > c else c), (b if b < d else d)
            if high - low >= min_width:
                overlaps.append((low, high))
    return overlaps


def _find_columns(rows: Sequence[LayoutRow], cuts: Sequence[Span]) -> list[list[TextRun]]:
    """Return the columns of text between free strips; empty if the strips separate cells of tables or list labels."""
    columns = _columns(rows, cuts)
    if _is_prose(rows, columns):
        return columns
    for cut in sorted(cuts, key=lambda cut: cut[0] - cut[1]):
        columns = _columns(rows, [cut])
        lines = [group_rows(column) for column in columns]
        if all(columns) and (_are_lists(lines) or (len(cuts) > 1 and _are_independent_columns(lines))):
            return columns
    return []


def _are_lists(columns: Sequence[Sequence[LayoutRow]]) -> bool:
    """Return True if at least two lines and half of the lines of each column begin with the mark of a list item."""
    for column in columns:
        items = sum(split_mark(text_of_row(line))[0] is not None for line in column)
        if items < max(2, len(column) / 2):
            return False
    return True


def _columns(rows: Sequence[LayoutRow], cuts: Sequence[Span]) -> list[list[TextRun]]:
    columns: list[list[TextRun]] = [[] for _ in range(len(cuts) + 1)]
    for row in rows:
        for run in row.runs:
            columns[sum(cut[1] <= run.x0 + 1 for cut in cuts)].append(run)
    return columns


def _is_prose(rows: Sequence[LayoutRow], columns: Sequence[Sequence[TextRun]]) -> bool:
    """Return True if columns contain prose instead of table cells or list labels."""
    if len(rows) < _MIN_ROWS or not all(columns):
        return False
    lines = [group_rows(column) for column in columns]
    if len(lines) == 2 and all(is_label(text_of_row(line)) for line in lines[0]):
        return False
    if _are_independent_columns(lines):
        return True
    if any(_are_names_of_rows(one, other) for one, other in (*pairwise(lines), *pairwise(lines[::-1]))):
        return False
    texts = [text_of_row(line) for column in lines for line in column]
    words = fmean(max(len(text.split()), len(text) // 6) for text in texts)
    full_lines = sum(map(len, map(_full_lines, lines))) / len(texts)
    return words >= _WORDS_A_LINE and full_lines > _FULL_SHARE


def _full_lines(column: Sequence[LayoutRow]) -> list[LayoutRow]:
    width = max(line.x1 for line in column) - min(line.x0 for line in column)
    return [line for line in column if line.x1 - line.x0 > _FULL_LINE * width]


def _are_independent_columns(columns: Sequence[Sequence[LayoutRow]]) -> bool:
    """Return True if all columns have lines of prose, and most lines are beside no line of the next column."""
    for column in columns:
        prose = sum(_count_words(text_of_row(line)) >= _OWN_WORDS for line in _full_lines(column))
        if prose < max(_MIN_PROSE_LINES, _PROSE_SHARE * len(column)):
            return False
    return all(_stands_alone(one, other) and _stands_alone(other, one) for one, other in pairwise(columns))


def _are_names_of_rows(one: Sequence[LayoutRow], other: Sequence[LayoutRow]) -> bool:
    """Return True if a column has few words a line, and nearly all lines are beside one of the other column."""
    words = fmean(len(text_of_row(line).split()) for line in one)
    if words > _WORDS_OF_NAMES or len(one) > len(other):
        return False
    return _count_beside(one, other) >= _NAMED_SHARE * len(one)


def _count_words(text: str) -> int:
    return sum(len(word) > 1 for word in LETTERS.findall(text))


def _stands_alone(one: Sequence[LayoutRow], other: Sequence[LayoutRow]) -> bool:
    return len(one) >= _MIN_OWN_LINES and len(one) - _count_beside(one, other) >= _OWN_SHARE * len(one)


def _count_beside(one: Sequence[LayoutRow], other: Sequence[LayoutRow]) -> int:
    middles = [line.runs[0].middle for line in other]
    return sum(any(abs(line.runs[0].middle - middle) <= _SAME_LINE * line.size for middle in middles) for line in one)


def _reading_order(columns: list[list[TextRun]]) -> list[list[TextRun]]:
    text = "".join(run.text for column in columns for run in column)
    return columns[::-1] if is_right_to_left(text) else columns
