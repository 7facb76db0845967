"""Read the column headers and the rows of tables that show data: of `table`, of ARIA roles, and of grids of boxes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scraper.html.dom.parsing import CELLS, Element, element_selector

MAX_HEADER = 60
"""Characters of a header."""
_MAX_COLUMNS, _MAX_ROWS, _MAX_CELLS = 60, 2_000, 20_000
_MIN_GUESSED = 3
"""Minimum number of columns of a table whose headers are plain cells."""
CONTROLS = frozenset({"input", "select", "textarea", "button"})
"""Fields and buttons of forms."""
_NO_GRIDS = CONTROLS | {"table", "thead", "tbody", "tfoot", "tr", "dl", "svg", "p", "nav"}
_Row: TypeAlias = "tuple[Sequence[Element], Sequence[Element]]"

_TABLES = element_selector(".//table | .//*[@role = 'table' or @role = 'grid' or @role = 'treegrid']")
_ROWS = element_selector(".//tr | .//*[@role = 'row']")
_ROLES = frozenset({"cell", "gridcell", "columnheader", "rowheader"})

TextOf = Callable[[Element], str]
"""Returns the text of an element with single spaces."""


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table as a grid; a cell that spans several rows or columns is in each of them."""

    headers: Sequence[str]
    """Header of each column; empty for a table without a header row."""
    rows: Sequence[tuple[Sequence[Element], Sequence[Element]]]
    """Elements of each row, and its cells, without header rows and rows of one cell, which name a group."""
    others: frozenset[Element]
    """Header rows and rows of one cell."""

    @property
    def has_row_labels(self) -> bool:
        """True if the first cell of the rows is the label of the other cells."""
        are_headers = 2 * sum(_is_header(cells[0]) for _, cells in self.rows) > len(self.rows)
        return are_headers or not (self.headers and self.headers[0])

    @property
    def single_rows(self) -> frozenset[Element]:
        """Header rows and rows of one cell; empty if so many rows have one cell that they are parts of records."""
        return self.others if 2 * len(self.others) <= len(self.rows) + 2 else frozenset()


def read_tables(body: Element, text: TextOf) -> Iterator[DataTable]:
    """Yield the tables that contain no other table and have rows of at least two cells."""
    for table in _TABLES(body):
        if not _TABLES(table) and (found := _read_table(_read_grid(table), text)):
            yield found


def read_box_grids(elements: Iterable[Element], text: TextOf) -> Iterator[DataTable]:
    """Yield the grids of boxes without roles whose first row has the headers: rows of cells, or cells alone."""
    for element in (one for one in elements if _MIN_GUESSED < len(one) <= _MAX_ROWS and one.tag not in _NO_GRIDS):
        grid = _split_boxes(list(element))
        before = element.getprevious()
        while before is not None and len(before) == 1:
            before = before[0]
        if before is not None and len(before) == len(grid[0][1]) and not _has_box_headers(grid, text):
            grid.insert(0, ([before], list(before)))
        if _has_box_headers(grid, text):
            yield DataTable(list(map(text, grid[0][1])), grid[1:], frozenset(grid[0][0]))


def _split_boxes(boxes: list[Element]) -> list[_Row]:
    """Return boxes as rows of their children; or as cells, if the first ones have a tag or class of their own."""
    width = next((at for at, box in enumerate(boxes) if _kind(box) != _kind(boxes[0])), 0)
    if width > 1 and not any(map(len, boxes)) and len(set(map(_kind, boxes))) == 2:
        return [(boxes[at : at + width],) * 2 for at in range(0, len(boxes), width)]
    return [([box], list(box)) for box in boxes]


def _has_box_headers(grid: Sequence[_Row], text: TextOf) -> bool:
    names = list(map(text, grid[0][1]))
    if len(names) < 2 or any(len(cells) != len(names) for _, cells in grid):
        return False
    is_short = all(0 < len(name) <= MAX_HEADER and not any(map(str.isdigit, name)) for name in names)
    if not is_short or len(set(names)) < len(names) or any(one.tag in ("a", "img") for one in grid[0][0][0].iter()):
        return False
    cells = [[*map(_kind, row)] for _, row in grid]
    is_apart = _kind(grid[0][0][0]) != _kind(grid[1][0][0]) or cells[0] != cells[1]
    return (is_apart and len(grid) > 2) or _has_plain_headers([row for _, row in grid], text)


def _kind(box: Element) -> tuple[object, str | None]:
    return box.tag, box.get("class")


def text_or_picture(element: Element, text: TextOf) -> str:
    """Return the text of an element, or the alternative text of its picture."""
    return text(element) or next(filter(None, (one.get("alt", "").strip() for one in element.iter("img"))), "")


def has_control(element: Element) -> bool:
    """Return True if an element contains a field or button of a form, whose value is no text."""
    return next(element.iter(*CONTROLS), None) is not None


def _is_header(cell: Element) -> bool:
    return cell.tag == "th" or cell.get("role") in ("columnheader", "rowheader")


def _read_table(grid: Iterable[_Row], text: TextOf) -> DataTable | None:
    grid = [one for one in grid if one[1]]
    rows = [one for one in grid if len(set(one[1])) > 1]
    if not rows:
        return None
    heads = [cells for _, cells in rows[: _count_header_rows([cells for _, cells in rows], text)]]
    headers = [" ".join(filter(None, dict.fromkeys(map(text, column)))) for column in zip(*heads, strict=False)]
    names = [list(map(text, cells)) for cells in heads]
    inner = [one for one in rows[len(heads) :] if next(one[0][0].iterancestors("tfoot"), None) is None]
    data = [one for one in inner if list(map(text, one[1])) not in names]
    others = {part for row, _ in grid for part in row}.difference(part for row, _ in data for part in row)
    return DataTable([header * (len(header) <= MAX_HEADER) for header in headers], data, frozenset(others))


def _read_grid(table: Element) -> Iterator[_Row]:
    rows = _ROWS(table)
    if not rows:  # cells without rows
        cells = [cell for cell in table.iterdescendants() if cell.get("role") in _ROLES]
        width = sum(cell.get("role") == "columnheader" for cell in cells) or len(cells) + 1
        yield from ((cells[at : at + width],) * 2 for at in range(0, len(cells), width))
    below: dict[int, tuple[int, Element]] = {}
    count = 0
    for number, row in enumerate(rows):
        cells = []
        inner = row if row.tag == "tr" else row.iterdescendants()
        for cell in (one for one in inner if one.tag in CELLS or one.get("role") in _ROLES):
            _add_spanned(cells, below)
            height = _span(cell, "rowspan", _MAX_ROWS)
            for _ in range(min(_span(cell, "colspan", _MAX_COLUMNS), _MAX_COLUMNS - len(cells))):
                if height > 1:
                    below[len(cells)] = height - 1, cell
                cells.append(cell)
        _add_spanned(cells, below)
        count += len(cells)
        if number == _MAX_ROWS or count > _MAX_CELLS:
            return
        yield [row], cells


def _add_spanned(cells: list[Element], below: dict[int, tuple[int, Element]]) -> None:
    while (rows := below.get(len(cells), (0, None))[0]) > 0:
        cell = below[len(cells)][1]
        below[len(cells)] = rows - 1, cell
        cells.append(cell)


def _span(cell: Element, name: str, most: int) -> int:
    value = (cell.get(name) or "").strip()
    return max(1, min(most, int(value))) if value.isdecimal() and len(value) < 6 else 1


def _count_header_rows(rows: Sequence[Sequence[Element]], text: TextOf) -> int:
    is_head = [
        next(cells[0].iterancestors("thead"), None) is not None
        or (all(_is_header(cell) or not text(cell) for cell in cells) and any(map(_is_header, cells[1:])))
        for cells in rows[:-1]
    ]
    heads = (*is_head, False).index(False)
    return heads or _has_plain_headers(rows, text)


def _has_plain_headers(rows: Sequence[Sequence[Element]], text: TextOf) -> bool:
    """Return True if the first row are short names, and the others differ from it: in digits or in bold type."""
    names = list(map(text, rows[0]))
    are_names = all(names[1:]) and len(set(names)) == len(names) and all(len(name) <= MAX_HEADER for name in names)
    if len(rows) < 2 or not are_names or any(_is_header(cell) for cells in rows for cell in cells):
        return False
    if all(not name or _is_bold(cell) for cell, name in zip(rows[0], names, strict=True)):
        return not all(map(_is_bold, rows[1]))
    if len(names) < _MIN_GUESSED or not names[0]:
        return len(names) >= _MIN_GUESSED
    columns = zip(*(map(text, cells) for cells in rows[1:]), strict=False)
    has_numbers = any(all(any(map(str.isdigit, one)) for one in filter(None, column)) for column in columns)
    return has_numbers and not any(map(str.isdigit, "".join(names)))


def _is_bold(cell: Element) -> bool:
    return not (cell.text or "").strip() and [one.tag in ("b", "strong") for one in cell] == [True]
