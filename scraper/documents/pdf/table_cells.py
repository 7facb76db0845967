"""Text lines of a table: split them into segments at wide gaps, and join lines into rows of cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from scraper.documents.pdf.layout_model import LayoutRow, RulingLine, Span, TextRun
from scraper.documents.pdf.text_assembly import completes_number, group_adjacent, join_cell_lines, text_of_runs

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
    lines: Sequence[SegmentedRow], grid: Sequence[Sequence[str]], across: Sequence[RulingLine]
) -> list[list[str]]:
    """Join the lines of a table into rows; a cell of several lines becomes one cell.

    Args:
        lines: Lines of the table.
        grid: Texts by line and column.
        across: Horizontal lines of the page; no row extends over one.
    """
    headers = _count_headers(grid)

    def continues(group: list[int], index: int) -> bool:
        if _is_ruled(lines, group[-1], index, across):
            return False
        if lines[index].y0 - lines[group[-1]].y1 > 0.6 * lines[index].size:
            return False
        return _continues_cells(_merge_rows([grid[other] for other in group]), grid[index], is_header=index < headers)

    return [_merge_rows([grid[index] for index in group]) for group in group_adjacent(range(len(lines)), continues)]


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
    if any(completes_number(before[column], texts[column]) for column in filled):
        return filled <= filled_above
    if any(is_number(texts[column]) and column > 0 for column in filled):
        # A name that began in the line above, which has no numbers.
        return filled_above == {0} and 0 in filled and texts[0][:1].islower()
    if filled == {0}:
        return texts[0][:1].islower() and (len(filled_above) > 1 or filled_above == {0})
    return not texts[0] and filled <= filled_above
