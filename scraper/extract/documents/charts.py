"""Charts of Office files: title, type and data of each chart as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scraper.errors import ScraperError
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.documents.tables import pipe_table
from scraper.extract.dom.xpath import Element

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_KIND = re.compile(r"(?<!\w)(\w+?)(?:3D)?Chart")
_MAX_CHARTS = 100
_MAX_POINTS = 500
_KINDS = {"bar": "Bar", "line": "Line", "pie": "Pie", "area": "Area", "scatter": "Scatter", "doughnut": "Doughnut"}


def read_charts(parts: Parts) -> dict[str, list[str]]:
    """Return the charts of a workbook by sheet name."""
    found: dict[str, list[str]] = {}
    for name, part in iter_sheet_parts(parts):
        for drawing in find_related_parts(parts, part, "drawing"):
            for chart in find_related_parts(parts, drawing, "chart")[:_MAX_CHARTS]:
                text = format_chart(parts, chart)
                if text:
                    found.setdefault(name, []).append(text)
    return found


def format_chart(parts: Parts, name: str) -> str:
    """Return title, type and data table of a chart; empty if it cannot be read."""
    try:
        root = parts.xml_or_none(name)
    except ScraperError:
        return ""
    if root is None:
        return ""
    title = root.find(f"{_C}chart/{_C}title")
    words = "" if title is None else "".join(text.text or "" for text in title.iter(_A + "t")).strip()
    plot = next((one for one in root.iter() if isinstance(one.tag, str) and _is_plot(one.tag)), None)
    if plot is None:
        return words
    kind = _KIND.search(str(plot.tag))
    label = f"{_KINDS.get(kind[1], kind[1].title())} chart" if kind else "Chart"
    return "\n\n".join(filter(None, (words, label, _table(plot))))


def _is_plot(tag: str) -> bool:
    return tag.startswith(_C) and tag.endswith("Chart") and tag != _C + "chart"


def _table(plot: Element) -> str:
    series = plot.findall(_C + "ser")
    names = [_points(one.find(_C + "tx"))[:1] or [""] for one in series]
    values = [_points(one.find(_C + "val")) or _points(one.find(_C + "yVal")) for one in series]
    first = series[0] if series else None
    labels = [] if first is None else _points(first.find(_C + "cat")) or _points(first.find(_C + "xVal"))
    count = max([len(labels), *map(len, values)], default=0)
    rows = [["", *(name[0] for name in names)]]
    rows += (
        [_at(labels, index), *(_at(column, index) for column in values)] for index in range(min(count, _MAX_POINTS))
    )
    return pipe_table(rows) if len(rows) > 1 else ""


def _points(holder: Element | None) -> list[str]:
    if holder is None:
        return []
    return [_short(value.text or "") for point in holder.iter(_C + "pt") for value in point.iter(_C + "v")]


def _short(number: str) -> str:
    try:
        value = float(number)
    except ValueError:
        return number
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else number


def _at(values: Sequence[str], index: int) -> str:
    return values[index] if index < len(values) else ""


_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_WORKBOOK = "xl/workbook.xml"


def iter_sheet_parts(parts: Parts) -> Iterator[tuple[str, str]]:
    """Yield name and part of each sheet of a workbook."""
    workbook = parts.xml_or_none(_WORKBOOK)
    if workbook is None:
        return
    places = {str(relation.get("Id")): _target(parts, _WORKBOOK, relation) for relation in _relations(parts, _WORKBOOK)}
    for sheet in workbook.iter(_S + "sheet"):
        yield str(sheet.get("name")), places.get(str(sheet.get(_R)), "")


def find_related_parts(parts: Parts, part: str, kind: str) -> list[str]:
    """Return the parts of this relationship type that a part refers to; never external ones."""
    return [
        _target(parts, part, relation)
        for relation in _relations(parts, part)
        if str(relation.get("Type", "")).endswith(f"/{kind}") and relation.get("TargetMode") != "External"
    ]


def _relations(parts: Parts, part: str) -> list[Element]:
    folder, _, name = part.rpartition("/")
    root = parts.xml_or_none(f"{folder}/_rels/{name}.rels") if name else None
    return [] if root is None else list(root)


def _target(parts: Parts, part: str, relation: Element) -> str:
    return parts.resolve(part, str(relation.get("Target", "")))
