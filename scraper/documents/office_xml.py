"""Namespaces of Office Open XML and OpenDocument, access to elements, and relations between the parts of a file.

Charts, diagrams (SmartArt) and text boxes of Office Open XML are written as Markdown.
"""

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from lxml import etree

from scraper.documents.markdown_writing import pipe_table
from scraper.documents.safe_zip import ZipParts
from scraper.errors import ScraperError
from scraper.html.dom.parsing import Element

_SCHEMAS, _MICROSOFT = "{http://schemas.openxmlformats.org/", "{http://schemas.microsoft.com/office/"
W, S = f"{_SCHEMAS}wordprocessingml/2006/main}}", f"{_SCHEMAS}spreadsheetml/2006/main}}"
A, C = f"{_SCHEMAS}drawingml/2006/main}}", f"{_SCHEMAS}drawingml/2006/chart}}"
WP, MC = f"{_SCHEMAS}drawingml/2006/wordprocessingDrawing}}", f"{_SCHEMAS}markup-compatibility/2006}}"
M, DIAGRAM = f"{_SCHEMAS}officeDocument/2006/math}}", f"{_SCHEMAS}drawingml/2006/diagram}}"
R_ID, R_DIAGRAM = (f"{_SCHEMAS}officeDocument/2006/relationships}}{name}" for name in ("id", "dm"))
W14, W15 = f"{_MICROSOFT}word/2010/wordml}}", f"{_MICROSOFT}word/2012/wordml}}"
M14, P = f"{_MICROSOFT}drawing/2010/main}}", f"{_SCHEMAS}presentationml/2006/main}}"
THREADED = f"{_MICROSOFT}spreadsheetml/2018/threadedcomments}}"
"""Namespace of comments with replies, since Excel 2019 ([MS-XLSX], 2.6.204)."""
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
OFF = ("0", "false", "off")
"""Values of a toggle such as `<w:vanish/>` that switch it off."""
OMITTED_ELEMENTS = frozenset(
    {W + name for name in ("del", "moveFrom", "instrText", "delText", "rPr", "pPr", "sectPr", "tblPr", "tcPr")}
    | {MC + "Fallback"}
)
"""Elements of Word with deleted text, properties, and second copies for older programs."""

_URN = "{urn:oasis:names:tc:opendocument:xmlns:"
TEXT, OFFICE, TABLE = f"{_URN}text:1.0}}", f"{_URN}office:1.0}}", f"{_URN}table:1.0}}"
DRAW, STYLE, META = f"{_URN}drawing:1.0}}", f"{_URN}style:1.0}}", f"{_URN}meta:1.0}}"
PRESENTATION, CHART = f"{_URN}presentation:1.0}}", f"{_URN}chart:1.0}}"
FO = f"{_URN}xsl-fo-compatible:1.0}}"
LIBRE_OFFICE = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
DUBLIN = "{http://purl.org/dc/elements/1.1/}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
LINK = "{http://www.w3.org/1999/xlink}href"

_PREFIXES = {
    "dublin": DUBLIN, "draw": DRAW, "meta": META, "office": OFFICE, "presentation": PRESENTATION, "table": TABLE,
    "text": TEXT,
}  # fmt: skip

_WORKBOOK = "xl/workbook.xml"


def qualify(names: str) -> frozenset[str]:
    """Return the tags of names such as `text:p` of OpenDocument, which are separated by white space."""
    parts = (name.split(":") for name in names.split())
    return frozenset(_PREFIXES[prefix] + name for prefix, name in parts)


def get_attribute(element: Element, name: str) -> str:
    """Return an attribute; empty if it is missing."""
    return str(element.get(name, ""))


def get_int_attribute(element: Element, name: str, default: int) -> int:
    """Return an attribute of at most nine digits as an integer, else `default`, also for negative numbers."""
    value = get_attribute(element, name)
    return int(value) if value.isdecimal() and len(value) < 10 else default


def join_texts(parent: Element | None, tag: str) -> str:
    """Return the texts of all elements with a tag, such as `w:t`, as one."""
    return "" if parent is None else "".join(element.text or "" for element in parent.iter(tag))


def w(name: str, *children: Element) -> Element:
    """Create an element of Word."""
    element = etree.Element(W + name)
    element.extend(children)
    return element


def text_element(text: str) -> Element:
    """Create a text element of Word that preserves spaces."""
    element = etree.Element(W + "t", {SPACE: "preserve"})
    element.text = text
    return element


def visible_texts(parent: Element) -> Iterator[str]:
    """Yield the texts that Word displays in a paragraph, without those of paragraphs inside of it."""
    for child in parent:
        if child.tag == W + "t":
            yield child.text or ""
        elif child.tag not in OMITTED_ELEMENTS and child.tag != W + "p" and not is_enabled(child, "rPr", "vanish"):
            yield from visible_texts(child)


def _find_child(parent: Element | None, path: tuple[str, ...]) -> Element | None:
    return None if parent is None else parent.find("/".join(W + name for name in path))


def get_child_value(parent: Element | None, *path: str) -> str | None:
    """Return the value of a descendant such as `<w:pStyle w:val="..."/>` in `<w:pPr>`."""
    child = _find_child(parent, path)
    return None if child is None else child.get(W + "val")


def is_enabled(parent: Element | None, *path: str) -> bool:
    """Return True if a toggle such as `<w:vanish/>` is on."""
    child = _find_child(parent, path)
    return child is not None and child.get(W + "val") not in OFF


def find_relations(parts: ZipParts, part: str, kind: str = "", *, external: bool = False) -> dict[str, str]:
    """Return the parts to which a part refers, by ID of the relationship; the file itself has an empty name.

    Args:
        parts: Parts of an Office Open XML file.
        part: Name of the part.
        kind: End of the type of the relationships; all types if empty.
        external: Return addresses outside of the file instead.
    """
    folder, _, name = part.rpartition("/")
    root = parts.xml_or_none(f"{folder}/_rels/{name}.rels".lstrip("/"))
    found = {}
    for relation in root if root is not None else ():
        is_kind = not kind or get_attribute(relation, "Type").endswith(f"/{kind}")
        if is_kind and (relation.get("TargetMode") == "External") == external:
            target = get_attribute(relation, "Target")
            found[str(relation.get("Id"))] = target if external else parts.resolve(part, target)
    return found


def find_related_parts(parts: ZipParts, part: str, kind: str) -> list[str]:
    """Return the parts of this relationship type that a part refers to; never external ones."""
    return list(find_relations(parts, part, kind).values())


def iter_sheet_parts(parts: ZipParts) -> Iterator[tuple[str, str]]:
    """Yield name and part of each sheet of a workbook."""
    workbook = parts.xml_or_none(_WORKBOOK)
    targets = find_relations(parts, _WORKBOOK)
    for sheet in workbook.iter(S + "sheet") if workbook is not None else ():
        yield str(sheet.get("name")), targets.get(str(sheet.get(R_ID)), "")


_CHART_KIND = re.compile(r"(?<!\w)(\w+?)(?:3D)?Chart")
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
    title = _chart_title(root.find(C + "chart"))
    if not plots:
        return title
    kinds = dict.fromkeys(kind[1] for plot in plots if (kind := _CHART_KIND.search(str(plot.tag))))
    axes = [axis for axis in root.iter(C + "*") if str(axis.tag).endswith("Ax")]
    # That of categories or dates, or the horizontal one of two axes of values.
    category_axis = next(filter(_is_category_axis, axes), None)
    heading = f"{' and '.join(kinds).capitalize()} chart" if kinds else "Chart"
    series = [one for plot in plots for one in plot.findall(C + "ser")]
    tables = list(_chart_tables(series, _chart_title(category_axis)))
    known = {_series_name(one) for one in series} | ({_chart_title(category_axis)} if tables else set())
    values = [text for axis in axes if (text := _chart_title(axis)) and text not in known]
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


def _is_category_axis(axis: Element) -> bool:
    """Return True for an axis of categories or dates, and for the horizontal one of two axes of values."""
    is_across = any(axis.find(f"{C}axPos[@val='{side}']") is not None for side in "bt")
    return is_across or axis.tag in (C + "catAx", C + "dateAx")


def _chart_title(element: Element | None) -> str:
    return "" if element is None else " ".join(join_texts(element.find(C + "title"), A + "t").split())


def _chart_tables(series: Sequence[Element], category_title: str) -> Iterator[str]:
    """Yield a table for each group of series with the same categories, with the sizes of their bubbles."""
    columns: list[tuple[dict[int, str], str, dict[int, str]]] = []
    for one in series:
        labels, name = _series_points(one, "cat", "xVal"), _series_name(one)
        columns.append((labels, name, _series_points(one, "val", "yVal")))
        if sizes := _series_points(one, "bubbleSize"):
            columns.append((labels, f"{name} (size)".strip(), sizes))
    for labels, group in groupby(columns, key=itemgetter(0)):
        found = list(group)
        indexes = sorted(set(labels).union(*(values for _, _, values in found)))[:_MAX_POINTS]
        if indexes:
            rows = [[labels.get(index, ""), *(values.get(index, "") for _, _, values in found)] for index in indexes]
            yield pipe_table([[category_title, *(name for _, name, _ in found)], *rows])


def _series_name(series: Element) -> str:
    return next(iter(_series_points(series, "tx").values()), series.findtext(f"{C}tx/{C}v", ""))


def _series_points(series: Element, *names: str) -> dict[int, str]:
    """Return the data points of the first of these children that has any, by number; missing points have none."""
    for name in names:
        levels = list(series.iterfind(f"{C}{name}//{C}lvl")) or list(series.iterfind(C + name))
        points = [_level_points(level) for level in reversed(levels)]
        if any(points):
            # The labels of the last level, each with the outer labels that hold until the next one.
            *outer, inner = points
            current = [""] * len(outer)
            joined = {}
            for index in sorted(set(inner).union(*outer)):
                current = [level.get(index, before) for level, before in zip(outer, current, strict=True)]
                if index in inner:
                    joined[index] = ", ".join(filter(None, (*current, inner[index])))
            return joined
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
