"""Text lines of a table: split them into segments at wide gaps, and join lines into rows of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scraper.extract.documents.pdf.layout_model import LayoutRow, RuledLine, TextRun
from scraper.extract.documents.pdf.rows import group_adjacent, join_cell_lines, text_of_runs

_ROW_DISTANCE_RATIO = 1.25
"""Ratio of the distance between rows to the distance between lines of a cell, where both occur."""
_NUMERIC = re.compile(r"(?=[^\d]*\d)[\s$€£%()+\-–—.,/*\d<>≤≥~:]++[a-z]?|[-–—.*]{1,3}|n/?a|N/?A")


def merge_lines(
    lines: Sequence[TextLine], grid: Sequence[Sequence[str]], across: Sequence[RuledLine]
) -> list[list[str]]:
    """Join the lines of a table into rows; a cell of several lines becomes one cell."""
    headers = _count_headers(grid)
    groups = group_adjacent(
        range(len(lines)), lambda group, index: _continues(lines, grid, across, group, index, headers)
    )
    return [_merge_rows([grid[index] for index in group]) for group in groups]


def _merge_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return [join_cell_lines(cell for cell in column if cell) for column in zip(*rows, strict=True)]


def _count_headers(grid: Sequence[Sequence[str]]) -> int:
    """Return the number of rows above the first one with numbers in half of its cells after the first."""
    for index, row in enumerate(grid):
        cells = [cell for cell in row[1:] if cell]
        if cells and sum(_is_number(cell) for cell in cells) * 2 >= len(cells) and not _are_years(cells):
            return index
    return 1


def _are_years(cells: Sequence[str]) -> bool:
    return all(re.fullmatch(r"(?:19|20)\d\d(?:[-/–]\d{2,4})?[*a-z]?", cell) for cell in cells)


def _is_number(cell: str) -> bool:
    return _NUMERIC.fullmatch(cell) is not None


def _continues(
    lines: Sequence[TextLine],
    grid: Sequence[Sequence[str]],
    across: Sequence[RuledLine],
    group: Sequence[int],
    index: int,
    headers: int,
) -> bool:
    """Return True if a line continues the cells of the lines above it."""
    above, line = lines[group[-1]], lines[index]
    if any(above.y1 - 3 <= rule.at <= line.y0 + 3 and _covers(rule, line) for rule in across):
        return False
    if line.y0 - above.y1 > 0.6 * line.size:
        return False
    texts, before = grid[index], _merge_rows([grid[other] for other in group])
    filled = {column for column, text in enumerate(texts) if text}
    filled_above = {column for column, text in enumerate(before) if text}
    if index < headers:  # A spanning header has a row of its own.
        shared = len(filled & filled_above)
        return shared >= min(len(filled), len(filled_above)) * 0.7 and len(filled_above) > 1
    if any(_is_number(texts[column]) and column > 0 for column in filled):
        # A name that began in the line above, which has no numbers.
        return filled_above == {0} and 0 in filled and texts[0][:1].islower()
    if filled == {0}:
        return texts[0][:1].islower() and (len(filled_above) > 1 or filled_above == {0})
    return not texts[0] and filled <= filled_above and _is_tight(lines, group[-1], index)


def _is_tight(lines: Sequence[TextLine], above: int, index: int) -> bool:
    steps = [b.y0 - a.y0 for a, b in pairwise(lines)]
    step = lines[index].y0 - lines[above].y0
    return step <= _ROW_DISTANCE_RATIO * min(steps) or step <= 1.35 * lines[index].size


def _covers(rule: RuledLine, line: TextLine) -> bool:
    return min(rule.end, line.x1) - max(rule.start, line.x0) > 0.5 * (line.x1 - line.x0)


_GAP = 0.75
"""Multiple of the font size. Words of justified text are up to .6 apart; cells of dense tables from .8 on."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a row without a wide gap."""

    runs: tuple[TextRun, ...]
    x0: float
    x1: float

    @property
    def text(self) -> str:
        """Text of its runs."""
        return text_of_runs(self.runs)


@dataclass(frozen=True, slots=True)
class TextLine:
    """A row and its segments."""

    row: LayoutRow
    segments: tuple[Segment, ...]
    x0: float
    x1: float
    y0: float
    y1: float
    size: float

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """Free intervals between its segments."""
        return [(a.x1, b.x0) for a, b in pairwise(self.segments)]


def split_row(row: LayoutRow) -> TextLine:
    """Split a row into segments."""
    groups: list[list[TextRun]] = []
    end = 0.0
    for run in row.runs:
        if groups and run.x0 - end <= _GAP * min(run.size, groups[-1][-1].size):
            groups[-1].append(run)
            end = max(end, run.x1)
        else:
            groups.append([run])
            end = run.x1
    segments = tuple(Segment(tuple(group), group[0].x0, max(run.x1 for run in group)) for group in groups)
    return TextLine(row, segments, row.x0, row.x1, row.y0, row.y1, row.size)
