"""Read the column headers and the rows of tables that show data."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scraper.html.dom.parsing import CELLS, Element

MAX_HEADER = 60
"""Characters of a header."""
_MAX_COLUMNS, _MAX_ROWS, _MAX_CELLS = 60, 2_000, 20_000
_MIN_GUESSED = 3
"""Minimum number of columns of a table whose headers are plain cells."""
CONTROLS = frozenset({"input", "select", "textarea", "button"})
"""Fields and buttons of forms."""

TextOf = Callable[[Element], str]
"""Returns the text of an element with single spaces."""


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table as a grid; a cell that spans several rows or columns is in each of them."""

    headers: Sequence[str]
    """Header of each column; empty for a table without a header row."""
    rows: Sequence[tuple[Element, Sequence[Element]]]
    """Each row with its cells, without header rows and rows of one cell, which name a group or say something."""
    others: frozenset[Element]
    """Header rows and rows of one cell."""

    @property
    def has_row_labels(self) -> bool:
        """True if the first cell of the rows is the label of the other cells."""
        are_headers = 2 * sum(cells[0].tag == "th" for _, cells in self.rows) > len(self.rows)
        return are_headers or not (self.headers and self.headers[0])

    @property
    def single_rows(self) -> frozenset[Element]:
        """Header rows and rows of one cell; empty if so many rows have one cell that they are parts of records."""
        return self.others if 2 * len(self.others) <= len(self.rows) + 2 else frozenset()


def read_tables(body: Element, text: TextOf) -> Iterator[DataTable]:
    """Yield the tables that contain no other table and have rows of at least two cells."""
    for table in body.iter("table"):
        if next(table.iterdescendants("table"), None) is None and (found := _read_table(table, text)):
            yield found


def text_or_picture(element: Element, text: TextOf) -> str:
    """Return the text of an element, or the alternative text of its picture."""
    return text(element) or next(filter(None, (one.get("alt", "").strip() for one in element.iter("img"))), "")


def has_control(element: Element) -> bool:
    """Return True if an element contains a field or button of a form, whose value is no text."""
    return next(element.iter(*CONTROLS), None) is not None


def _read_table(table: Element, text: TextOf) -> DataTable | None:
    grid = [one for one in _read_grid(table) if one[1]]
    rows = [one for one in grid if len(set(one[1])) > 1]
    if not rows:
        return None
    heads = [cells for _, cells in rows[: _count_header_rows([cells for _, cells in rows], text)]]
    headers = [" ".join(filter(None, dict.fromkeys(map(text, column)))) for column in zip(*heads, strict=False)]
    names = [list(map(text, cells)) for cells in heads]
    inner = [one for one in rows[len(heads) :] if next(one[0].iterancestors("tfoot"), None) is None]
    data = [one for one in inner if list(map(text, one[1])) not in names]
    others = {row for row, _ in grid}.difference(row for row, _ in data)
    return DataTable([header * (len(header) <= MAX_HEADER) for header in headers], data, frozenset(others))


def _read_grid(table: Element) -> Iterator[tuple[Element, list[Element]]]:
    below: dict[int, tuple[int, Element]] = {}
    count = 0
    for number, row in enumerate(table.iter("tr")):
        cells: list[Element] = []
        for cell in (one for one in row if one.tag in CELLS):
            _add_spanned(cells, below)
            rows = _span(cell, "rowspan", _MAX_ROWS)
            for _ in range(min(_span(cell, "colspan", _MAX_COLUMNS), _MAX_COLUMNS - len(cells))):
                if rows > 1:
                    below[len(cells)] = rows - 1, cell
                cells.append(cell)
        _add_spanned(cells, below)
        count += len(cells)
        if number == _MAX_ROWS or count > _MAX_CELLS:
            return
        yield row, cells


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
        or (all(cell.tag == "th" or not text(cell) for cell in cells) and any(cell.tag == "th" for cell in cells[1:]))
        for cells in rows[:-1]
    ]
    heads = (*is_head, False).index(False)
    return heads or _has_plain_headers(rows, text)


def _has_plain_headers(rows: Sequence[Sequence[Element]], text: TextOf) -> bool:
    """Return True if the first row are short names, and the others differ from it: in digits or in bold type."""
    names = list(map(text, rows[0]))
    are_names = all(names[1:]) and len(set(names)) == len(names) and all(len(name) <= MAX_HEADER for name in names)
    if len(rows) < 2 or not are_names or any(cell.tag == "th" for cells in rows for cell in cells):
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
