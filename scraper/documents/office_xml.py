"""Namespaces of Office Open XML and OpenDocument, access to elements, and relations between the parts of a file."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from scraper.documents.safe_zip import ZipParts
from scraper.html.dom.xpath import Element

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

_WORKBOOK = "xl/workbook.xml"


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
