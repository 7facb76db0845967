"""What is embedded in an OpenDocument file: charts as their numbers, formulas as they are."""

from __future__ import annotations

import copy
import html
import posixpath

from lxml import etree

from scraper.errors import ScraperError
from scraper.extract.documents.odf.cells import grid_of, table_html
from scraper.extract.documents.odf.xml_names import CHART, DRAW, LINK, MATH, OFFICE, TABLE, TEXT, said
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.dom.xpath import Element, text_of

_KINDS = {
    "bar": "Bar", "line": "Line", "circle": "Pie", "area": "Area", "scatter": "Scatter", "ring": "Doughnut",
    "radar": "Radar", "bubble": "Bubble", "stock": "Stock",
}  # fmt: skip
_MOST = 1_000
_LONGEST = 20_000


class EmbeddedObjects:
    """The objects of one file, by the names that its text gives them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._roots: dict[Element, Element | None] = {}

    def formula(self, frame: Element) -> str:
        """The formula in a frame; empty where it holds none, or cannot be read."""
        holder = frame.find(DRAW + "object")
        root = None if holder is None else self._root(holder)
        math = None if root is None else next(root.iter(MATH + "math"), None)
        return "" if math is None else _formula(math)

    def chart(self, holder: Element) -> str:
        """The chart in a `draw:object` as HTML; empty where it is of another kind, or cannot be read."""
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
        folder = posixpath.normpath("/" + said(holder, LINK)).lstrip("/")
        try:
            return self._parts.xml_if_there(f"{folder}/content.xml")
        except ScraperError:
            return None  # too large, or locked: the text around it stands without it


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
    name = said(chart, CHART + "class").rpartition(":")[2]
    kind = f"{_KINDS.get(name, name.title())} chart" if name.isalpha() else "Chart"
    table = next(chart.iter(TABLE + "table"), None)
    rows = [] if table is None else grid_of(table, lambda cell: html.escape(_words(cell))).rows
    return "".join(f"<p>{html.escape(text)}</p>" for text in (words, kind) if text) + table_html(rows)


def _words(cell: Element) -> str:
    text = " ".join(" ".join(text_of(one).split()) for one in cell.iter(TEXT + "p"))
    return "" if text in ("NaN", "1.#NAN") else text
