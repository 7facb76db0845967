"""Write charts, diagrams (SmartArt) and text boxes of Office Open XML files as Markdown."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from scraper.documents.markdown_writing import pipe_table
from scraper.documents.office_xml import DIAGRAM, A, C, find_related_parts, iter_sheet_parts, join_texts
from scraper.documents.safe_zip import ZipParts
from scraper.errors import ScraperError
from scraper.html.dom.xpath import Element

_KIND = re.compile(r"(?<!\w)(\w+?)(?:3D)?Chart")
_MAX_CHARTS = 100
_MAX_POINTS = 500


def read_charts(parts: ZipParts) -> dict[str, list[str]]:
    """Return the charts and text boxes of a workbook by sheet name."""
    charts: dict[str, list[str]] = {}
    for name, part in iter_sheet_parts(parts):
        for drawing in find_related_parts(parts, part, "drawing"):
            texts = [format_chart(parts, chart) for chart in find_related_parts(parts, drawing, "chart")[:_MAX_CHARTS]]
            root = parts.xml_or_none(drawing)
            shapes = root.iter(A + "p") if root is not None else ()
            texts += (" ".join(join_texts(paragraph, A + "t").split()) for paragraph in shapes)
            charts.setdefault(name, []).extend(filter(None, texts))
    return charts


def format_chart(parts: ZipParts, name: str) -> str:
    """Return title, type, titles of axes and data tables of a chart; empty if it cannot be read.

    The title of the category axis is the header of the first column. A title that repeats the name of a series is left
    out.
    """
    try:
        root = parts.xml_or_none(name)
    except ScraperError:
        root = None
    if root is None:
        return ""
    plots = [element for element in root.iter(C + "*") if str(element.tag).endswith("Chart")]
    title = _title(root.find(C + "chart"))
    if not plots:
        return title
    kinds = dict.fromkeys(kind[1] for plot in plots if (kind := _KIND.search(str(plot.tag))))
    axes = [axis for axis in root.iter(C + "*") if str(axis.tag).endswith("Ax")]
    # That of categories or dates, or the horizontal one of two axes of values.
    across = (axis for axis in axes if axis.tag in (C + "catAx", C + "dateAx")
              or any(axis.find(f"{C}axPos[@val='{side}']") is not None for side in "bt"))  # fmt: skip
    category_axis = next(across, None)
    heading = f"{' and '.join(kinds).capitalize()} chart" if kinds else "Chart"
    series = [one for plot in plots for one in plot.findall(C + "ser")]
    tables = list(_tables(series, _title(category_axis)))
    known = {_name(one) for one in series} | ({_title(category_axis)} if tables else set())
    values = [text for axis in axes if (text := _title(axis)) and text not in known]
    return "\n\n".join(filter(None, (title, heading, f"Axes: {', '.join(values)}" if values else "", *tables)))


def format_diagram(parts: ZipParts, name: str) -> str:
    """Return the texts of a diagram as a list, nested as they are connected; empty if it cannot be read."""
    root = parts.xml_or_none(name)
    if root is None:
        return ""
    paragraphs = (
        (point, [join_texts(one, A + "t") for one in point.iter(A + "p")]) for point in root.iter(DIAGRAM + "pt")
    )
    texts = {str(point.get("modelId")): " ".join(" ".join(written).split()) for point, written in paragraphs}
    inner: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for link in root.iter(DIAGRAM + "cxn"):
        if link.get("type", "parOf") == "parOf" and (order := str(link.get("srcOrd", "0"))).isdecimal():
            inner[str(link.get("srcId"))].append((int(order), str(link.get("destId"))))
    connected = {point for points in inner.values() for _, point in points}
    waiting = [(point, 0) for point in reversed(texts) if point not in connected]
    lines = []
    while waiting:
        point, depth = waiting.pop()
        if text := texts.pop(point, ""):
            lines.append(f"{'  ' * depth}- {text}")
        waiting += [(one, depth + bool(text)) for _, one in sorted(inner.pop(point, ()), reverse=True)]
    return "\n".join(lines)


def _title(element: Element | None) -> str:
    return "" if element is None else " ".join(join_texts(element.find(C + "title"), A + "t").split())


def _tables(series: Sequence[Element], category_title: str) -> Iterator[str]:
    """Yield a table for each group of series with the same categories, with the sizes of their bubbles."""
    columns: list[tuple[dict[int, str], str, dict[int, str]]] = []
    for one in series:
        labels, name = _points(one, "cat", "xVal"), _name(one)
        columns.append((labels, name, _points(one, "val", "yVal")))
        if sizes := _points(one, "bubbleSize"):
            columns.append((labels, f"{name} (size)".strip(), sizes))
    for labels, group in groupby(columns, key=itemgetter(0)):
        found = list(group)
        indexes = sorted(set(labels).union(*(values for _, _, values in found)))[:_MAX_POINTS]
        if indexes:
            rows = [[labels.get(index, ""), *(values.get(index, "") for _, _, values in found)] for index in indexes]
            yield pipe_table([[category_title, *(name for _, name, _ in found)], *rows])


def _name(series: Element) -> str:
    return next(iter(_points(series, "tx").values()), series.findtext(f"{C}tx/{C}v", ""))


def _points(series: Element, *names: str) -> dict[int, str]:
    """Return the data points of the first of these children that has any, by number; missing points have none."""
    for name in names:
        levels = list(series.iterfind(f"{C}{name}//{C}lvl")) or list(series.iterfind(C + name))
        points = [_level_points(level) for level in reversed(levels)]
        if any(points):
            return _join_levels(points)
    return {}


def _level_points(level: Element) -> dict[int, str]:
    found = {}
    for position, point in enumerate(level.iter(C + "pt")):
        index, text = str(point.get("idx", position)), point.findtext(C + "v")
        if index.isdecimal() and text is not None:
            with contextlib.suppress(ValueError):
                if (value := float(text)).is_integer() and abs(value) < 1e15:
                    text = str(int(value))
            found[int(index)] = text
    return found


def _join_levels(levels: Sequence[Mapping[int, str]]) -> dict[int, str]:
    """Return the labels of the last level, each with the outer labels that hold until the next one."""
    *outer, inner = levels
    current = [""] * len(outer)
    joined = {}
    for index in sorted(set(inner).union(*outer)):
        current = [level.get(index, before) for level, before in zip(outer, current, strict=True)]
        if index in inner:
            joined[index] = ", ".join(filter(None, (*current, inner[index])))
    return joined
