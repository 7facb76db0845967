"""Lattice tables: find grids of crossing lines and the text in their cells."""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median

from scraper.documents.pdf import text_assembly
from scraper.documents.pdf.layout_model import LayoutPage, LayoutRow, RulingLine, TextRun
from scraper.documents.pdf.table_cells import find_free_strips, split_row

_TOUCH = 3.0
"""Points by which lines that meet may miss each other."""
_CLOSE = 0.5
"""Points by which a line may miss the space between two words."""
_SAME_LINE = 3.0
_MIN_LINES = 3
_EDGE = 2.0
_MIN_COLUMN_ROWS = 4


@dataclass(frozen=True, slots=True)
class LatticeGrid:
    """A table with drawn lines: position, text runs and rows of cells."""

    x0: float
    y0: float
    x1: float
    y1: float
    runs: tuple[TextRun, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[tuple[float, float], ...] = ()
    """Left and right edge of each column."""
    first_y1: float = 0.0
    """Lower end of its first band."""


@dataclass(frozen=True, slots=True)
class _Lattice:
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    across: tuple[RulingLine, ...]
    down: tuple[RulingLine, ...]

    def contains(self, run: TextRun) -> bool:
        is_between = self.xs[0] - _EDGE < (run.x0 + run.x1) / 2 < self.xs[-1] + _EDGE
        return is_between and self.ys[0] - _EDGE < run.middle < self.ys[-1] + _EDGE

    def has_line_below(self, row: int, column: int) -> bool:
        return _is_drawn(self.across, self.ys[row + 1], self.xs[column], self.xs[column + 1])

    def has_line_right(self, row: int, column: int) -> bool:
        return _is_drawn(self.down, self.xs[column + 1], self.ys[row], self.ys[row + 1])


def find_grids(page: LayoutPage) -> list[LatticeGrid]:
    """Return the grids with text and at least two rows and columns."""
    grids: list[LatticeGrid] = []
    used: set[TextRun] = set()
    for lattice in _find_lattices(*page.lines):
        grid = _build_grid(lattice, [run for run in page.runs if run not in used and lattice.contains(run)])
        if grid is not None:
            used.update(grid.runs)
            grids.append(grid)
    return sorted(grids, key=lambda grid: grid.y0)


def _build_grid(lattice: _Lattice, runs: list[TextRun]) -> LatticeGrid | None:
    if len(runs) < 2:
        return None
    placed = _place_runs(lattice, runs)
    bands = sorted({band for band, _ in placed})
    rows = [row for band in bands for row in _rows_of_band(lattice, placed, band)]
    rows = [row for row in rows if any(row)]
    width = len(lattice.xs) - 1
    filled = [column for column in range(width) if any(row[column] for row in rows)]
    table = tuple(tuple(row[column] for column in filled) for row in rows)
    if len(table) < 2 or len(filled) < 2 or any(_has_columns(lattice, runs, column) for column in filled):
        return None
    xs, ys = lattice.xs, lattice.ys
    columns = tuple((xs[column], xs[column + 1]) for column in filled)
    return LatticeGrid(xs[0], ys[0], xs[-1], ys[-1], tuple(runs), table, columns, ys[1])


def _has_columns(lattice: _Lattice, runs: Iterable[TextRun], column: int) -> bool:
    """Return True if the text between two lines stands in several columns: lines separate only groups of them."""
    x0, x1 = lattice.xs[column : column + 2]
    inside = text_assembly.group_rows(run for run in runs if x0 < (run.x0 + run.x1) / 2 < x1)
    rows = [row for row in map(split_row, inside) if row.is_cellular]
    if len(rows) < _MIN_COLUMN_ROWS:
        return False
    spans = ((segment.x0, segment.x1) for row in rows for segment in row.segments)
    return bool(find_free_strips(spans, 0.5 * rows[0].size, len(rows) // 10))


def _place_runs(lattice: _Lattice, runs: Iterable[TextRun]) -> dict[tuple[int, int], list[TextRun]]:
    """Return the runs by cell; cells without a line between them count as the first of them."""
    placed: dict[tuple[int, int], list[TextRun]] = defaultdict(list)
    runs = list(runs)
    crossed = {
        x
        for run in runs
        for start, end in run.words
        for x in lattice.xs[bisect_right(lattice.xs, start + _CLOSE) : bisect_left(lattice.xs, end - _CLOSE)]
    }
    for run in chain.from_iterable(_split_at_lines(lattice, run, crossed) for run in runs):
        row = max(0, bisect_left(lattice.ys, run.middle) - 1)
        start = min(run.x0 + _TOUCH, (run.x0 + run.x1) / 2)
        column = max(0, bisect_left(lattice.xs, start) - 1)
        placed[min(row, len(lattice.ys) - 2), min(column, len(lattice.xs) - 2)].append(run)
    _merge_right(lattice, placed)
    owners = _owners(lattice, sorted(placed))
    merged: dict[tuple[int, int], list[TextRun]] = defaultdict(list)
    for cell, owner in owners.items():
        merged[owner] += placed[cell]
    return merged


def _split_at_lines(lattice: _Lattice, run: TextRun, crossed: Collection[float]) -> Iterator[TextRun]:
    """Yield the parts of a run between whose words a line is drawn: two columns may be as close as two words."""
    row = min(max(0, bisect_left(lattice.ys, run.middle) - 1), len(lattice.ys) - 2)
    first, last = bisect_left(lattice.xs, run.x0 + _TOUCH), bisect_right(lattice.xs, run.x1 - _TOUCH)
    texts = run.text.split()
    if first >= last or len(texts) != len(run.words) or text_assembly.is_right_to_left(run.text):
        yield run
        return
    start = 0
    for at, (before, after) in enumerate(pairwise(run.words), 1):
        column = bisect_left(lattice.xs, before[1] - _CLOSE, max(1, first), last)
        if column >= last or lattice.xs[column] > after[0] + _CLOSE or lattice.xs[column] in crossed:
            continue
        if lattice.has_line_right(row, column - 1):
            yield run._replace(
                text=" ".join(texts[start:at]), x0=run.words[start][0], x1=before[1], words=run.words[start:at]
            )
            start = at
    yield run._replace(text=" ".join(texts[start:]), x0=run.words[start][0], words=run.words[start:]) if start else run


def _merge_right(lattice: _Lattice, placed: dict[tuple[int, int], list[TextRun]]) -> None:
    """Move text of cells without lines between them into the first one if it is contiguous."""
    width = len(lattice.xs) - 1
    for row in sorted({row for row, _ in placed}):
        column = 0
        while column < width:
            end = column
            while end + 1 < width and not lattice.has_line_right(row, end):
                end += 1
            group = [placed.pop((row, place), []) for place in range(column, end + 1)]
            runs = [run for cell in group for run in cell]
            if end - column < width - 1:
                group = [runs]
            placed.update({(row, column + index): cell for index, cell in enumerate(group) if cell})
            column = end + 1


def _owners(lattice: _Lattice, cells: Iterable[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return for each cell the top one of the cells it is merged with: no line separates them."""
    owners: dict[tuple[int, int], tuple[int, int]] = {}
    last: dict[int, int] = {}
    for row, column in cells:
        top, end = row, last.get(column, -1)
        while top > max(0, end) and not lattice.has_line_below(top - 1, column):
            top -= 1
        owners[row, column] = owners[end, column] if top == end else (top, column)
        last[column] = row
    return owners


def _rows_of_band(lattice: _Lattice, placed: dict[tuple[int, int], list[TextRun]], band: int) -> list[list[str]]:
    """Return the rows between two lines: one, or as many as all columns have text lines."""
    width = len(lattice.xs) - 1
    cells = [text_assembly.group_rows(placed.get((band, column), ())) for column in range(width)]
    lines = _common_lines(cells)
    if lines is None:
        return [[text_assembly.join_cell_lines(text_assembly.text_of_row(row) for row in cell) for cell in cells]]
    rows = []
    for top, bottom in lines:
        inside = [[row for row in cell if top <= row.runs[0].middle < bottom] for cell in cells]
        rows.append([text_assembly.join_cell_lines(text_assembly.text_of_row(row) for row in cell) for cell in inside])
    return rows


def _common_lines(cells: list[list[LayoutRow]]) -> list[tuple[float, float]] | None:
    """Return the text lines that all columns of a band share, or None if the band is one row."""
    filled = [cell for cell in cells if cell]
    if len(filled) < 2:
        return None
    longest = max(filled, key=len)
    if len(longest) < _MIN_LINES:
        return None
    height = longest[0].y1 - longest[0].y0
    full = [cell for cell in filled if len(cell) >= 0.8 * len(longest)]
    if (len(full) < 2 or len(full) < 0.6 * len(filled)) and not _are_figures_beside_names(cells, longest):
        return None
    middles = [row.runs[0].middle for row in longest]
    rows = [row.runs[0].middle for cell in filled for row in cell]
    if sum(any(abs(row - middle) < height / 3 for middle in middles) for row in rows) < 0.95 * len(rows):
        return None
    bounds = [-1e9, *((a + b) / 2 for a, b in pairwise(middles)), 1e9]
    return list(pairwise(bounds))


def _are_figures_beside_names(cells: list[list[LayoutRow]], longest: list[LayoutRow]) -> bool:
    """Return True if the first column has the most lines and all others contain numbers."""
    if not cells[0] or longest is not cells[0]:
        return False
    texts = [text_assembly.text_of_row(row) for cell in cells[1:] for row in cell]
    numbers = sum(any(map(str.isdigit, text)) and len(text) < 16 for text in texts)
    return len(texts) >= 2 and numbers >= 0.9 * len(texts)


def _find_lattices(across: Sequence[RulingLine], down: Sequence[RulingLine]) -> list[_Lattice]:
    """Group touching lines, each group with its distinct positions; the lines are sorted."""
    if len(across) < 2 or not down:
        return []
    parent = list(range(len(across) + len(down)))

    def find(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    by_band: dict[int, list[tuple[float, float, float, int]]] = defaultdict(list)
    for index, (x, start, end) in enumerate(down, len(across)):
        for band in range(_band(start - _TOUCH), _band(end + _TOUCH) + 1):
            by_band[band].append((x, start - _TOUCH, end + _TOUCH, index))
    for at, (y, start, end) in enumerate(across):
        near = by_band[_band(y)]
        first, last = bisect_left(near, (start - _TOUCH,)), bisect_right(near, (end + _TOUCH, math.inf))
        for _, low, high, index in near[first:last]:
            if low <= y <= high and parent[index] != parent[at]:
                parent[find(index)] = find(at)
    groups: dict[int, tuple[list[RulingLine], list[RulingLine]]] = defaultdict(lambda: ([], []))
    for index, line in enumerate((*across, *down)):
        groups[find(index)][index >= len(across)].append(line)
    lattices = []
    for horizontals, verticals in groups.values():
        if len(horizontals) < 2 or len(verticals) < 2:
            continue
        xs = _with_ends(_positions(verticals), horizontals)
        ys = _with_ends(_positions(horizontals), verticals)
        if len(xs) >= 3 and len(ys) >= 3:
            lattices.append(_Lattice(xs, ys, tuple(horizontals), tuple(verticals)))
    return sorted(lattices, key=lambda lattice: (lattice.ys[0], lattice.xs[0]))


_BAND, _MAX_BANDS = 10.0, 400
"""Points. Only the vertical lines in the same band of the page are compared with a horizontal line."""


def _band(y: float) -> int:
    return 0 if y < 0 else int(y / _BAND) if y < _BAND * _MAX_BANDS else _MAX_BANDS


_OPEN_CELL = 8.0
"""Points by which lines extend beyond the last crossing line if the cells at the edge are open."""


def _with_ends(positions: tuple[float, ...], crossing: Sequence[RulingLine]) -> tuple[float, ...]:
    """Return line positions, and the ends of crossing lines where the outermost cells have no border."""
    if len(positions) < 2 or len(crossing) < 2:
        return positions
    start = median(rule.start for rule in crossing)
    end = median(rule.end for rule in crossing)
    before = (start,) if start < positions[0] - _OPEN_CELL else ()
    after = (end,) if end > positions[-1] + _OPEN_CELL else ()
    return before + positions + after


def _positions(lines: Iterable[RulingLine]) -> tuple[float, ...]:
    clusters = text_assembly.group_adjacent(
        sorted(line.at for line in lines), lambda cluster, at: at - cluster[-1] <= _SAME_LINE
    )
    return tuple(sum(cluster) / len(cluster) for cluster in clusters)


def _is_drawn(rules: Sequence[RulingLine], at: float, start: float, end: float) -> bool:
    """Return True if lines at this position cover most of an interval; the lines are sorted."""
    first = bisect_left(rules, (at - _SAME_LINE - 1,))
    near = rules[first : bisect_right(rules, (at + _SAME_LINE + 1, math.inf), first)]
    return sum(max(0.0, min(high, end) - max(low, start)) for _, low, high in near) >= (end - start) / 2
