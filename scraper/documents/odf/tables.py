"""Read OpenDocument tables, with bounded repetition of rows and cells, and the charts and formulas of a file.

A sheet may repeat an empty row a million times.
"""

import copy
import html
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lxml import etree

from scraper.documents import office_xml as ns
from scraper.documents.office_markup import REPEATED_CHARS, TableCell, write_table
from scraper.documents.office_xml import get_attribute, get_int_attribute
from scraper.documents.safe_zip import ZipParts
from scraper.errors import ScraperError
from scraper.html.dom.parsing import Element, remove, text_of

MAX_ROWS = 20_000
MAX_COLUMNS = 500
_MAX_CELLS = 500_000
_MAX_REPEATS = 100
"""Repetitions of a row or cell with content; empty ones at the end are dropped."""
_MAX_DEPTH = 20
_MAX_SPAN = 1_000
_MAX_MERGED_CELLS = 200
_ROW_GROUPS = frozenset(
    {ns.TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group", "table-columns")}
)


@dataclass(slots=True)
class OdfGrid:
    """The rows of a table."""

    rows: list[list[TableCell]] = field(default_factory=list)
    has_more_rows: bool = False
    """A row beyond the limits has text."""
    has_more_columns: bool = False
    """A cell beyond `MAX_COLUMNS` has text."""

    def split_merged_cells(self) -> list[list[str]]:
        """Return the texts by row; merged cells repeat short texts, unless they are large or as wide as the grid."""
        texts = [[cell.text for cell in row] for row in self.rows]
        width = max(map(len, texts), default=0)
        for y, row in enumerate(self.rows):
            for x, cell in enumerate(row):
                is_merged = 1 < cell.columns * cell.rows <= _MAX_MERGED_CELLS and cell.columns < width
                if not is_merged or not cell.text or len(cell.text) > REPEATED_CHARS:
                    continue
                end = min(x + cell.columns, MAX_COLUMNS)
                for line in texts[y : y + cell.rows]:
                    line.extend([""] * (end - len(line)))
                    line[x:end] = [text or cell.text for text in line[x:end]]
        return texts


def read_grid(table: Element, text_of_cell: Callable[[Element], str]) -> OdfGrid:
    """Read the cells of a table within the limits; a repeated row without text is read once."""
    grid, remaining = OdfGrid(), _MAX_CELLS
    for row in _rows(table, 0):
        cells, has_more_columns = _cells(row, text_of_cell)
        has_text = has_more_columns or any(cell.text for cell in cells)
        repeats = get_int_attribute(row, ns.TABLE + "number-rows-repeated", 1) if has_text else 1
        for _ in range(min(_MAX_REPEATS, repeats)):
            if len(grid.rows) >= MAX_ROWS or remaining <= 0:
                if has_text:
                    grid.has_more_rows = True
                    return grid
                break
            grid.rows.append(cells)
            grid.has_more_columns |= has_more_columns
            remaining -= len(cells) + 1
    return grid


def _rows(table: Element, depth: int) -> Iterator[Element]:
    for child in table:
        if child.tag == ns.TABLE + "table-row":
            yield child
        elif child.tag in _ROW_GROUPS and depth < _MAX_DEPTH:
            yield from _rows(child, depth + 1)


def _cells(row: Element, text_of_cell: Callable[[Element], str]) -> tuple[list[TableCell], bool]:
    """Return the cells of a row, and True if one beyond the limit has text."""
    cells: list[TableCell] = []
    has_more = False
    for element in row:
        if element.tag not in (ns.TABLE + "table-cell", ns.TABLE + "covered-table-cell"):
            continue
        free = MAX_COLUMNS - len(cells)
        repeats = get_int_attribute(element, ns.TABLE + "number-columns-repeated", 1)
        if element.tag == ns.TABLE + "covered-table-cell":
            cells += [TableCell(covered=True)] * min(repeats, free)
            continue
        cell = TableCell(
            text_of_cell(element),
            max(1, min(_MAX_SPAN, get_int_attribute(element, ns.TABLE + "number-columns-spanned", 1))),
            max(1, min(_MAX_SPAN, get_int_attribute(element, ns.TABLE + "number-rows-spanned", 1))),
        )
        shown = min(repeats, _MAX_REPEATS) if cell.text else repeats
        has_more |= bool(cell.text) and shown > free
        cells += [cell] * min(shown, free)
    while cells and not cells[-1].text and not cells[-1].covered and cells[-1].rows == 1:
        cells.pop()
    return cells, has_more


_CHART_KINDS = {"circle": "Pie", "ring": "Doughnut"}
_MAX_OBJECTS = 1_000
_MAX_FORMULA_CHARS = 20_000


class EmbeddedObjects:
    """Embedded objects of one file, loaded when their element is converted."""

    def __init__(self, parts: ZipParts) -> None:
        """Load objects from these parts."""
        self._parts = parts
        self._roots: dict[Element, Element | None] = {}

    def formula(self, frame: Element) -> str:
        """Return the formula in a frame as MathML, as text if it is very long; empty if there is none."""
        holder = frame.find(ns.DRAW + "object")
        root = None if holder is None else self._root(holder)
        math = None if root is None else next(root.iter(ns.MATH + "math"), None)
        return "" if math is None else _formula(math)

    def chart(self, holder: Element) -> str:
        """Return the chart in a `draw:object` as HTML; empty for other objects or if it cannot be read."""
        root = self._root(holder)
        chart = None if root is None else next(root.iter(ns.CHART + "chart"), None)
        return "" if chart is None else _chart(chart)

    def _root(self, holder: Element) -> Element | None:
        if holder not in self._roots and len(self._roots) < _MAX_OBJECTS:
            self._roots[holder] = self._load(holder)
        return self._roots.get(holder)

    def _load(self, holder: Element) -> Element | None:
        inside = next((child for child in holder if isinstance(child.tag, str)), None)
        if inside is not None and inside.tag in (ns.MATH + "math", ns.OFFICE + "document"):
            return inside
        folder = posixpath.normpath("/" + get_attribute(holder, ns.LINK)).lstrip("/")
        try:
            return self._parts.xml_or_none(f"{folder}/content.xml")
        except ScraperError:
            return None  # Too large or encrypted: continue without the object.


def _formula(math: Element) -> str:
    plain = copy.deepcopy(math)
    plain.tail = None
    for element in plain.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
    for note in list(plain.iter("annotation", "annotation-xml")):
        remove(note)
    etree.cleanup_namespaces(plain)
    mathml = etree.tostring(plain, encoding="unicode")
    return mathml if len(mathml) < _MAX_FORMULA_CHARS else html.escape(text_of(math)[:_MAX_FORMULA_CHARS])


def _chart(chart: Element) -> str:
    title = chart.find(ns.CHART + "title")
    title_text = "" if title is None else " ".join(text_of(one) for one in title.iter(ns.TEXT + "p")).strip()
    name = get_attribute(chart, ns.CHART + "class").rpartition(":")[2]
    kind = f"{_CHART_KINDS.get(name, name.title())} chart" if name.isalpha() else "Chart"
    table = next(chart.iter(ns.TABLE + "table"), None)

    def cell_text(cell: Element) -> str:
        text = " ".join(" ".join(text_of(one).split()) for one in cell.iter(ns.TEXT + "p"))
        return "" if text in ("NaN", "1.#NAN") else html.escape(text)

    rows = [] if table is None else read_grid(table, cell_text).rows
    return "".join(f"<p>{html.escape(text)}</p>" for text in (title_text, kind) if text) + write_table(rows)
