"""Write charts and text boxes of Office Open XML files as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, zip_longest

from scraper.errors import ScraperError
from scraper.extract.documents.ooxml_parts import find_related_parts, iter_sheet_parts
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
