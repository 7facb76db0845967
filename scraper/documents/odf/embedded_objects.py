"""Convert charts and formulas embedded in OpenDocument files to HTML and MathML."""

from __future__ import annotations

import copy
import html
import posixpath

from lxml import etree

from scraper.documents.odf import xml_names as ns
from scraper.documents.odf.tables import read_grid, write_table
from scraper.documents.odf.xml_names import get_attribute
from scraper.documents.safe_zip import ZipParts
from scraper.errors import ScraperError
from scraper.html.dom.xpath import Element, text_of

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
        if (parent := note.getparent()) is not None:
            parent.remove(note)
    etree.cleanup_namespaces(plain)
    mathml = etree.tostring(plain, encoding="unicode")
    return mathml if len(mathml) < _MAX_FORMULA_CHARS else html.escape(text_of(math)[:_MAX_FORMULA_CHARS])


def _chart(chart: Element) -> str:
    title = chart.find(ns.CHART + "title")
    title_text = "" if title is None else " ".join(text_of(one) for one in title.iter(ns.TEXT + "p")).strip()
    name = get_attribute(chart, ns.CHART + "class").rpartition(":")[2]
    kind = f"{_CHART_KINDS.get(name, name.title())} chart" if name.isalpha() else "Chart"
    table = next(chart.iter(ns.TABLE + "table"), None)
    rows = [] if table is None else read_grid(table, lambda cell: html.escape(_chart_text(cell))).rows
    return "".join(f"<p>{html.escape(text)}</p>" for text in (title_text, kind) if text) + write_table(rows)


def _chart_text(cell: Element) -> str:
    text = " ".join(" ".join(text_of(one).split()) for one in cell.iter(ns.TEXT + "p"))
    return "" if text in ("NaN", "1.#NAN") else text
