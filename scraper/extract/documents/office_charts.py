"""Charts of Office Open XML files as tables, and the relationships between the parts of such files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, zip_longest

from scraper.errors import ScraperError
from scraper.extract.documents.safe_zip import ZipParts
from scraper.extract.documents.tables import pipe_table
from scraper.extract.dom.xpath import Element

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_KIND = re.compile(r"(?<!\w)(\w+?)(?:3D)?Chart")
_MAX_CHARTS = 100
_MAX_POINTS = 500


def read_charts(parts: ZipParts) -> dict[str, list[str]]:
    """Return the charts and text boxes of a workbook by sheet name."""
    charts: dict[str, list[str]] = {}
    for name, part in iter_sheet_parts(parts):
        for drawing in find_related_parts(parts, part, "drawing"):
            texts = (format_chart(parts, chart) for chart in find_related_parts(parts, drawing, "chart")[:_MAX_CHARTS])
            charts.setdefault(name, []).extend(filter(None, (*texts, *_read_text_boxes(parts.xml_or_none(drawing)))))
    return charts


def _read_text_boxes(drawing: Element | None) -> Iterator[str]:
    """Yield the paragraphs of the shapes that lie over a sheet."""
    for paragraph in drawing.iter(_A + "p") if drawing is not None else ():
        yield " ".join("".join(text.text or "" for text in paragraph.iter(_A + "t")).split())


def format_chart(parts: ZipParts, name: str) -> str:
    """Return title, type and data table of a chart; empty if it cannot be read."""
    try:
        root = parts.xml_or_none(name)
    except ScraperError:
        return ""
    if root is None:
        return ""
    title = root.find(f"{_C}chart/{_C}title")
    title_text = "" if title is None else "".join(text.text or "" for text in title.iter(_A + "t")).strip()
    plot = next((element for element in root.iter(_C + "*") if str(element.tag).endswith("Chart")), None)
    if plot is None:
        return title_text
    kind = _KIND.search(str(plot.tag))
    return "\n\n".join(filter(None, (title_text, f"{kind[1].title()} chart" if kind else "Chart", _format_data(plot))))


def _format_data(plot: Element) -> str:
    series = plot.findall(_C + "ser")
    names = [next(iter(_points(one, "tx")), "") for one in series]
    labels = _points(series[0], "cat", "xVal") if series else []
    columns = [labels, *(_points(one, "val", "yVal") for one in series)]
    rows = list(islice(zip_longest(*columns, fillvalue=""), _MAX_POINTS))
    return pipe_table([["", *names], *rows]) if rows else ""


def _points(series: Element, *names: str) -> list[str]:
    """Return the data points of the first of these children that has any."""
    points = ([value.text or "" for value in series.iterfind(f"{_C}{name}//{_C}pt//{_C}v")] for name in names)
    return [_format_number(text) for text in next(filter(None, points), [])]


def _format_number(number: str) -> str:
    try:
        value = float(number)
    except ValueError:
        return number
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else number


_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_WORKBOOK = "xl/workbook.xml"


def iter_sheet_parts(parts: ZipParts) -> Iterator[tuple[str, str]]:
    """Yield name and part of each sheet of a workbook."""
    workbook = parts.xml_or_none(_WORKBOOK)
    if workbook is None:
        return
    relations = _relations(parts, _WORKBOOK)
    targets = {relation.get("Id"): _target(parts, _WORKBOOK, relation) for relation in relations}
    for sheet in workbook.iter(_S + "sheet"):
        yield str(sheet.get("name")), targets.get(sheet.get(_R), "")


def find_related_parts(parts: ZipParts, part: str, kind: str) -> list[str]:
    """Return the parts of this relationship type that a part refers to; never external ones."""
    return [target for _, target in find_relations(parts, part, kind)]


def find_relations(parts: ZipParts, part: str, kind: str) -> list[tuple[str, str]]:
    """Return id and target of the relationships of a part that have this type, without external ones."""
    return [
        (str(relation.get("Id")), _target(parts, part, relation))
        for relation in _relations(parts, part)
        if str(relation.get("Type", "")).endswith(f"/{kind}") and relation.get("TargetMode") != "External"
    ]


def _relations(parts: ZipParts, part: str) -> list[Element]:
    folder, _, name = part.rpartition("/")
    root = parts.xml_or_none(f"{folder}/_rels/{name}.rels") if name else None
    return [] if root is None else list(root)


def _target(parts: ZipParts, part: str, relation: Element) -> str:
    return parts.resolve(part, str(relation.get("Target", "")))
