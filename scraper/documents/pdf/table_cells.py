"""Text lines of a table: split them into segments at wide gaps, and join lines into rows of cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from scraper.documents.pdf.layout_model import LayoutRow, RulingLine, Span, TextRun
from scraper.documents.pdf.text_assembly import completes_number, group_adjacent, join_cell_lines, text_of_runs

_SAME_LEADING, _MIN_ROW_STEP = 1.12, 1.2
"""Multiples of the minimum line distance: within a cell, and between rows that are clearly further apart."""
_MAX_LEADING = 1.8
"""Multiple of the font size."""
_ALIGNED = 2.0
_WORD_SPACE = 0.2
"""Multiple of the font size."""
_BESIDE = 0.3
"""Ratio of the line height."""
_MIN_UNEVEN, _UNEVEN_SHARE = 2, 0.6
WIDE_GAP = 0.75
"""Multiple of the font size. Words of justified text are up to .6 apart; cells of dense tables from .8 on."""
_FIXED_WIDTH_GAP = 0.66
"""Multiple of the font size: spaces of a fixed width are .6."""
_NUMERIC = re.compile(r"(?=[^\d]*\d)[\s$€£%()+\-–—.,/*\d<>≤≥~:]++(?:[a-z]|[⁰¹²³⁴-⁹]{1,2})?|[-–—.*]{1,3}|n/?a|N/?A")
_YEAR = re.compile(r"(?:19|20)\d\d(?:[-/–]\d{2,4})?[*a-z]?")


class RowSegment(NamedTuple):
    """Part of a row without a wide gap."""

    runs: tuple[TextRun, ...]
    x0: float
    x1: float

    @classmethod
    def of(cls, runs: Iterable[TextRun]) -> RowSegment:
        """Build a segment of runs in their order."""
        runs = tuple(runs)
        return cls(runs, runs[0].x0, max(run.x1 for run in runs))

    @property
    def text(self) -> str:
        """Text of its runs."""
        return text_of_runs(self.runs)


class SegmentedRow(NamedTuple):
    """A row and its segments."""

    row: LayoutRow
    segments: tuple[RowSegment, ...]
    x0: float
    x1: float
    y0: float
    y1: float
    size: float

    @classmethod
    def of(cls, row: LayoutRow, groups: Iterable[Iterable[TextRun]]) -> SegmentedRow:
        """Build a row of segments from groups of its runs."""
        return cls(row, tuple(map(RowSegment.of, groups)), row.x0, row.x1, row.y0, row.y1, row.size)

    @property
    def gaps(self) -> list[Span]:
        """Horizontal intervals between its segments."""
        return [(a.x1, b.x0) for a, b in pairwise(self.segments)]


def split_row(row: LayoutRow, gap: float = WIDE_GAP) -> SegmentedRow:
    """Split a row into segments at gaps that are wider than a multiple of the font size."""
    if len(row.runs) == 1:
        return SegmentedRow.of(row, (row.runs,))
    groups: list[list[TextRun]] = []
    end = 0.0
    if any(run.fixed_width for run in row.runs):
        gap = max(gap, _FIXED_WIDTH_GAP)
    for run in row.runs:
        if groups and run.x0 - end <= gap * min(run.size, groups[-1][-1].size):
            groups[-1].append(run)
            end = max(end, run.x1)
        else:
            groups.append([run])
            end = run.x1
    return SegmentedRow.of(row, groups)


def find_free_strips(spans: Iterable[Span], min_width: float, allowed: int = 0) -> list[Span]:
    """Return the intervals between the first and the last span that at most `allowed` spans cover."""
    edges = sorted((edge, step) for x0, x1 in spans for edge, step in ((x0, 1), (x1, -1)))
    strips: list[Span] = []
    depth, opened = 0, None
    for x, step in edges:
        depth += step
        if depth <= allowed and opened is None and step < 0:
            opened = x
        elif depth > allowed and opened is not None:
            if x - opened >= min_width:
                strips.append((opened, x))
            opened = None
    return strips


def merge_lines(
    lines: Sequence[SegmentedRow],
    grid: Sequence[Sequence[str]],
    across: Sequence[RulingLine],
    wrapped: frozenset[int] = frozenset(),
) -> list[list[str]]:
    """Join the lines of a table into rows; a cell of several lines becomes one cell.

    Args:
        lines: Lines of the table.
        grid: Texts by line and column.
        across: Horizontal lines of the page; no row extends over one.
        wrapped: Lines that only continue the line above, by `find_wrapped_lines`.
    """
    headers = _count_headers(grid)

    def continues(group: list[int], index: int) -> bool:
        if _is_ruled(lines, group[-1], index, across):
            return False
        if index >= headers and index in wrapped:
            return True
        if lines[index].y0 - lines[group[-1]].y1 > 0.6 * lines[index].size:
            return False
        return _continues_cells(_merge_rows([grid[other] for other in group]), grid[index], is_header=index < headers)

    groups = _group_by_leading(lines, grid, across) or group_adjacent(range(len(lines)), continues)
    return [_merge_rows([grid[index] for index in group]) for group in groups]


def find_wrapped_lines(
    lines: Sequence[SegmentedRow], cells: Sequence[Sequence[Sequence[RowSegment]]]
) -> frozenset[int]:
    """Return the lines that only continue cells of the line above: their first words did not fit there.

    A line with text in all columns of the line above is a row of its own.
    """
    steps = [below.y0 - above.y0 for above, below in pairwise(lines)]
    leading = min((step for step in steps if step > 0), default=0.0)
    rights = [max((cell[-1].x1 for cell in column if cell), default=0.0) for column in zip(*cells, strict=True)]
    found: set[int] = set()
    for index, step in enumerate(steps, 1):
        above = cells[index - 1]
        columns = [column for column, cell in enumerate(cells[index]) if cell]
        filled = [(above[column], cells[index][column], rights[column]) for column in columns]
        is_part = len(filled) < sum(map(bool, above)) or index - 1 in found
        is_part = is_part or any(over and completes_number(over[-1].text, cell[0].text) for over, cell, _ in filled)
        is_near = step <= _SAME_LEADING * leading
        if is_part and is_near and all(over and _is_wrapped(over, cell, right) for over, cell, right in filled):
            found.add(index)
    return frozenset(found)


def _is_wrapped(above: Sequence[RowSegment], below: Sequence[RowSegment], right: float) -> bool:
    """Return True if the first word of a cell's line does not fit at the end of the line above, or ends its number."""
    text = below[0].text
    if completes_number(above[-1].text, text):
        return True
    word = text.split(" ", 1)[0]
    width = (below[0].x1 - below[0].x0) * len(word) / max(1, len(text))
    if is_number(text) or abs(above[0].x0 - below[0].x0) >= _ALIGNED:
        return False
    return above[-1].x1 + _WORD_SPACE * above[-1].runs[-1].size + width > right


def _group_by_leading(
    lines: Sequence[SegmentedRow], grid: Sequence[Sequence[str]], across: Sequence[RulingLine]
) -> list[list[int]]:
    """Return the lines of each row, if the lines of a cell are clearly closer than rows are; else nothing.

    Cells may be aligned at their middle: then a row has more lines than its longest cell.
    """
    columns = [[index for index, cell in enumerate(column) if cell] for column in zip(*grid, strict=True)]
    pairs = [pair for column in columns for pair in pairwise(column)]
    steps = [lines[below].row.runs[0].middle - lines[above].row.runs[0].middle for above, below in pairs]
    leading = min(steps, default=0.0)
    near, apart = _SAME_LEADING * leading, _MIN_ROW_STEP * leading
    if not 0 < leading <= _MAX_LEADING * max(line.size for line in lines):
        return []
    if max(steps) <= near or any(near < step < apart for step in steps):
        return []
    joined = [
        pair for pair, step in zip(pairs, steps, strict=True) if step <= near and not _is_ruled(lines, *pair, across)
    ]
    joined += [(index, index + 1) for index, (above, below) in enumerate(pairwise(lines)) if _is_beside(above, below)]
    inside = {index for above, below in joined for index in range(above + 1, below + 1)}
    groups = group_adjacent(range(len(lines)), lambda _, index: index in inside)
    return groups if _are_rows(groups, grid) else []


def _are_rows(groups: Sequence[Sequence[int]], grid: Sequence[Sequence[str]]) -> bool:
    """Return False for groups of several rows: their columns have as many lines, and numbers have no second line."""
    uneven = several = 0
    for group in groups:
        cells = [list(filter(None, column)) for column in zip(*(grid[index] for index in group), strict=True)]
        if any(sum(map(is_number, cell)) > 1 for cell in cells):
            return False
        counts = {len(cell) for cell in cells if cell}
        several += max(counts) > 1
        uneven += len(counts) > 1
    return uneven >= max(_MIN_UNEVEN, _UNEVEN_SHARE * several)


def _is_beside(above: SegmentedRow, below: SegmentedRow) -> bool:
    return above.y1 - below.y0 > _BESIDE * (above.y1 - above.y0)


def _is_ruled(lines: Sequence[SegmentedRow], above: int, below: int, across: Sequence[RulingLine]) -> bool:
    """Return True if a rule that covers half of the lower line is drawn between two lines."""
    top, line = lines[above].y1 - 3, lines[below]
    return any(
        top <= rule.at <= line.y0 + 3 and min(rule.end, line.x1) - max(rule.start, line.x0) > 0.5 * (line.x1 - line.x0)
        for rule in across
    )


def _merge_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return [join_cell_lines(cell for cell in column if cell) for column in zip(*rows, strict=True)]


def _count_headers(grid: Sequence[Sequence[str]]) -> int:
    """Return the number of rows above the first one with numbers, not years, in half of its cells after the first."""
    for index, row in enumerate(grid):
        cells = [cell for cell in row[1:] if cell]
        if cells and sum(map(is_number, cells)) * 2 >= len(cells) and not all(map(_YEAR.fullmatch, cells)):
            return index
    return 1


def is_number(cell: str) -> bool:
    """Return True for a number with signs and units such as `%`, or a mark for a missing number such as `n/a`."""
    return _NUMERIC.fullmatch(cell) is not None


def _continues_cells(before: Sequence[str], texts: Sequence[str], *, is_header: bool) -> bool:
    """Return True if the texts of a line continue the cells of the row above it."""
    filled = {column for column, text in enumerate(texts) if text}
    filled_above = {column for column, text in enumerate(before) if text}
    if is_header:  # A spanning header has a row of its own.
        shared = len(filled & filled_above)
        return shared >= min(len(filled), len(filled_above)) * 0.7 and len(filled_above) > 1
    if any(is_number(texts[column]) and column > 0 for column in filled):
        # A name that began in the line above, which has no numbers.
        return filled_above == {0} and 0 in filled and texts[0][:1].islower()
    if filled == {0}:
        return texts[0][:1].islower() and (len(filled_above) > 1 or filled_above == {0})
    return not texts[0] and filled <= filled_above
