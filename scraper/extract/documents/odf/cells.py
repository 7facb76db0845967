"""OpenDocument tables and embedded objects: rows and cells with bounded repetition, charts, formulas.

A sheet may repeat an empty row a million times.
"""

from __future__ import annotations

import copy
import html
import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from lxml import etree

from scraper.errors import ScraperError
from scraper.extract.documents.odf.styles import (
    CHART,
    DRAW,
    LINK,
    MATH,
    OFFICE,
    TABLE,
    TEXT,
    get_attribute,
    get_int_attribute,
)
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.dom.xpath import Element, text_of

MAX_ROWS = 20_000
MAX_COLUMNS = 500
MAX_CELLS = 500_000
_REPEATS = 100
"""Repetitions of a row or cell with content; empty ones at the end are dropped."""
_DEPTH = 20
_SPAN = 1_000
_GROUPS = frozenset({TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group", "table-columns")})


@dataclass(frozen=True, slots=True)
class OdfCell:
    """One cell and the rows and columns that it spans."""

    text: str = ""
    across: int = 1
    down: int = 1
    covered: bool = False
    """Another cell spans it."""


@dataclass(slots=True)
class OdfGrid:
    """The rows of a table."""

    rows: list[list[OdfCell]] = field(default_factory=list)
    cut: bool = False
    """Rows or columns beyond the limits were dropped."""

    def spread(self, longest: int) -> list[list[str]]:
        """Return the texts by row; merged cells repeat theirs, unless it is long or spans the whole grid."""
        texts = [[cell.text for cell in row] for row in self.rows]
        width = max(map(len, texts), default=0)
        for y, row in enumerate(self.rows):
            for x, cell in enumerate(row):
                if not cell.text or len(cell.text) > longest or (cell.across == 1 and cell.down == 1):
                    continue
                if cell.across >= width or cell.across * cell.down > longest:
                    continue
                for below in range(y, min(len(texts), y + cell.down)):
                    for right in range(x, x + cell.across):
                        _put(texts[below], right, cell.text)
        return texts


def read_grid(table: Element, text_of_cell: Callable[[Element], str]) -> OdfGrid:
    """Read the cells of a table."""
    grid, left = OdfGrid(), MAX_CELLS
    for row in _rows(table, 0):
        cells = _cells(row, text_of_cell)
        times = min(_REPEATS, get_int_attribute(row, TABLE + "number-rows-repeated", 1)) if _says(cells) else 1
        for _ in range(times):
            if len(grid.rows) >= MAX_ROWS or left <= 0:
                grid.cut = grid.cut or _says(cells)
                return grid
            grid.rows.append(cells)
            left -= len(cells) + 1
    return grid


def write_table(rows: Sequence[Sequence[OdfCell]]) -> str:
    """Return an HTML table whose first row is the header; the texts are HTML."""
    rows = [row for row in rows if row]
    if not any(cell.text for row in rows for cell in row):
        return ""
    body = []
    headed = max(map(len, rows)) > 1
    for at, row in enumerate(rows):
        tag = "th" if headed and not at else "td"
        cells = (
            f'<{tag} colspan="{cell.across}" rowspan="{cell.down}">{_headed(cell.text, tag)}</{tag}>'
            for cell in row
            if not cell.covered
        )
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(body)}</table>"


def _headed(text: str, tag: str) -> str:
    """Return a header cell's text without bold, which all headers have."""
    bold = tag == "th" and text.startswith("<p><b>") and text.endswith("</b></p>") and text.count("<b>") == 1
    return text[6:-8] if bold else text


def _put(row: list[str], at: int, text: str) -> None:
    if at < MAX_COLUMNS:
        row.extend([""] * (at + 1 - len(row)))
        row[at] = row[at] or text


def _says(cells: Sequence[OdfCell]) -> bool:
    return any(cell.text for cell in cells)


def _rows(table: Element, depth: int) -> Iterator[Element]:
    for child in table:
        if child.tag == TABLE + "table-row":
            yield child
        elif child.tag in _GROUPS and depth < _DEPTH:
            yield from _rows(child, depth + 1)


def _cells(row: Element, text_of_cell: Callable[[Element], str]) -> list[OdfCell]:
    cells: list[OdfCell] = []
    for element in row:
        if element.tag not in (TABLE + "table-cell", TABLE + "covered-table-cell"):
            continue
        room = MAX_COLUMNS - len(cells)
        repeats = get_int_attribute(element, TABLE + "number-columns-repeated", 1)
        if element.tag == TABLE + "covered-table-cell":
            cells += [OdfCell(covered=True)] * min(repeats, room)
            continue
        cell = OdfCell(
            text_of_cell(element),
            max(1, min(_SPAN, get_int_attribute(element, TABLE + "number-columns-spanned", 1))),
            max(1, min(_SPAN, get_int_attribute(element, TABLE + "number-rows-spanned", 1))),
        )
        cells += [cell] * min(repeats, _REPEATS if cell.text else room, room)
    while cells and not cells[-1].text and not cells[-1].covered and cells[-1].down == 1:
        cells.pop()
    return cells


_KINDS = {
    "bar": "Bar", "line": "Line", "circle": "Pie", "area": "Area", "scatter": "Scatter", "ring": "Doughnut",
    "radar": "Radar", "bubble": "Bubble", "stock": "Stock",
}  # fmt: skip
_MOST = 1_000
_LONGEST = 20_000


class EmbeddedObjects:
    """Embedded objects of one file, by the names used in its text."""

    def __init__(self, parts: Parts) -> None:
        """Read objects from the parts of a file."""
        self._parts = parts
        self._roots: dict[Element, Element | None] = {}

    def formula(self, frame: Element) -> str:
        """Return the formula in a frame; empty if there is none or it cannot be read."""
        holder = frame.find(DRAW + "object")
        root = None if holder is None else self._root(holder)
        math = None if root is None else next(root.iter(MATH + "math"), None)
        return "" if math is None else _formula(math)

    def chart(self, holder: Element) -> str:
        """Return the chart in a `draw:object` as HTML; empty for other objects or if it cannot be read."""
        root = self._root(holder)
        chart = None if root is None else next(root.iter(CHART + "chart"), None)
        return "" if chart is None else _chart(chart)

    def _root(self, holder: Element) -> Element | None:
        if holder not in self._roots and len(self._roots) < _MOST:
            self._roots[holder] = self._loaded(holder)
        return self._roots.get(holder)

    def _loaded(self, holder: Element) -> Element | None:
        inside = next((child for child in holder if isinstance(child.tag, str)), None)
        if inside is not None and inside.tag in (MATH + "math", OFFICE + "document"):
            return inside
        folder = posixpath.normpath("/" + get_attribute(holder, LINK)).lstrip("/")
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
        if (parent := note.getparent()) is not None:
            parent.remove(note)
    etree.cleanup_namespaces(plain)
    written = etree.tostring(plain, encoding="unicode")
    return written if len(written) < _LONGEST else html.escape(text_of(math)[:_LONGEST])


def _chart(chart: Element) -> str:
    title = chart.find(CHART + "title")
    words = "" if title is None else " ".join(text_of(one) for one in title.iter(TEXT + "p")).strip()
    name = get_attribute(chart, CHART + "class").rpartition(":")[2]
    kind = f"{_KINDS.get(name, name.title())} chart" if name.isalpha() else "Chart"
    table = next(chart.iter(TABLE + "table"), None)
    rows = [] if table is None else read_grid(table, lambda cell: html.escape(_simplify_formula(cell))).rows
    return "".join(f"<p>{html.escape(text)}</p>" for text in (words, kind) if text) + write_table(rows)


def _simplify_formula(cell: Element) -> str:
    text = " ".join(" ".join(text_of(one).split()) for one in cell.iter(TEXT + "p"))
    return "" if text in ("NaN", "1.#NAN") else text
