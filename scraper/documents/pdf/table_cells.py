"""Text lines of a table: split them into segments at wide gaps, join lines into rows of cells, find outer headers.

Headers outside of the grid of a table stand above it or are rotated.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from scraper.documents.pdf.layout_model import LayoutRow, RulingLine, Span, TextRun
from scraper.documents.pdf.text_assembly import completes_number, group_adjacent, is_label, join_cell_lines, text_of_row

Table = tuple[tuple[str, ...], ...]

WIDE_GAP = 0.75
"""Multiple of the font size. Words of justified text are up to .6 apart; cells of dense tables from .8 on."""
_FIXED_WIDTH_GAP = 0.66
"""Multiple of the font size: spaces of a fixed width are .6."""
_NUMERIC = re.compile(r"(?=[^\d]*\d)[\s$€£%()+\-–—.,/*\d<>≤≥~:]++(?:[a-z]|[⁰¹²³⁴-⁹]{1,2})?|[-–—.*]{1,3}|n/?a|N/?A")
_YEAR = re.compile(r"(?:19|20)\d\d(?:[-/–]\d{2,4})?[*a-z]?")


class SegmentedRow(LayoutRow):
    """A row and its segments, the parts without a wide gap."""

    __slots__ = ("segments",)

    def __init__(self, groups: Sequence[Sequence[TextRun]]) -> None:
        """Build a row of segments from groups of its runs."""
        super().__init__(tuple(chain.from_iterable(groups)))
        self.segments = [LayoutRow(tuple(group)) for group in groups]

    @property
    def gaps(self) -> list[Span]:
        """Horizontal intervals between its segments."""
        return [(a.x1, b.x0) for a, b in pairwise(self.segments)]

    @property
    def is_cellular(self) -> bool:
        """True if it has several segments, and not only a list item with its mark."""
        return len(self.segments) > 1 and not (len(self.segments) == 2 and is_label(text_of_row(self.segments[0])))


def split_row(row: LayoutRow, gap: float = WIDE_GAP) -> SegmentedRow:
    """Split a row into segments at gaps that are wider than a multiple of the font size."""
    if any(run.fixed_width for run in row.runs[1:]):
        gap = max(gap, _FIXED_WIDTH_GAP)
    groups: list[list[TextRun]] = []
    end = 0.0
    for run in row.runs:
        if groups and run.x0 - end <= gap * min(run.size, groups[-1][-1].size):
            groups[-1].append(run)
            end = max(end, run.x1)
        else:
            groups.append([run])
            end = run.x1
    return SegmentedRow(groups)


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
        top, line = lines[group[-1]].y1 - 3, lines[index]
        near = (rule for rule in across if top <= rule.at <= line.y0 + 3)
        if any(min(rule.end, line.x1) - max(rule.start, line.x0) > 0.5 * (line.x1 - line.x0) for rule in near):
            return False
        ends_header = group[0] == 0 and not line.bold and all(lines[other].bold for other in group)
        if ends_header or line.y0 - lines[group[-1]].y1 > 0.6 * line.size:
            return False
        return _continues_cells(_merge_rows([grid[other] for other in group]), grid[index], is_header=index < headers)

    return [_merge_rows([grid[index] for index in group]) for group in group_adjacent(range(len(lines)), continues)]


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
    if any(map(completes_number, before, texts)):
        return filled <= filled_above
    if 0 in filled - filled_above and filled_above <= filled:  # Its cells of several lines end level.
        return not any(is_number(before[column]) or is_number(texts[column]) for column in filled_above)
    if any(map(is_number, texts[1:])):
        # A name that began in the line above, which has no numbers.
        return filled_above == {0} and 0 in filled and texts[0][:1].islower()
    if filled == {0}:
        return texts[0][:1].islower() and (len(filled_above) > 1 or filled_above == {0})
    return not texts[0] and filled <= filled_above


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
    pairs = list(zip(cells, others, strict=True))
    return None if any(map(all, pairs)) else [cell or other for cell, other in pairs]


def _row_cells(line: SegmentedRow, columns: Sequence[Span]) -> list[str] | None:
    """Return the texts of a row by column, or None if it is not a row of the table."""
    texts = list(map(text_of_row, line.segments))
    if len(texts) < 2 or _CAPTION.match(texts[0]) or any(len(text) > _MAX_HEADER_CHARS for text in texts):
        return None
    if line.x0 < columns[0][0] - 12 or line.x1 > columns[-1][1] + 12:
        return None
    cells = [""] * len(columns)
    positions = _spanned_columns(line.segments, columns) or [_find_column(one, columns) for one in line.segments]
    for segment, column in zip(line.segments, positions, strict=True):
        if cells[column]:
            return None
        cells[column] = text_of_row(segment)
    return cells


def _find_column(segment: LayoutRow, columns: Sequence[Span]) -> int:
    """Return the column of a header; the first one if it spans several."""
    overlaps = [min(segment.x1, end) - max(segment.x0, start) for start, end in columns]
    covered = [at for at, (start, end) in enumerate(columns) if overlaps[at] > 0.5 * (end - start)]
    return covered[0] if len(covered) > 1 else overlaps.index(max(overlaps))


def _spanned_columns(segments: Sequence[LayoutRow], columns: Sequence[Span]) -> list[int]:
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
