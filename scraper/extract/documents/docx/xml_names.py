"""WordprocessingML names and element access, and conversion of strict documents to transitional ones."""

from __future__ import annotations

from lxml import etree

from scraper.extract.dom.xpath import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_STRICT = (
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"),
    (b"http://purl.oclc.org/ooxml/officeDocument/math", b"http://schemas.openxmlformats.org/officeDocument/2006/math"),
    (
        b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    ),
    (b"http://purl.oclc.org/ooxml/drawingml/", b"http://schemas.openxmlformats.org/drawingml/2006/"),
)  # fmt: skip


def convert_to_transitional(xml: bytes) -> bytes:
    """Replace the namespaces of the strict edition by those of the transitional one."""
    if b"purl.oclc.org" in xml:
        for strict, usual in _STRICT:
            xml = xml.replace(strict, usual)
    return xml


def w(name: str, *children: Element, **attributes: str) -> Element:
    """Create an element of the main namespace."""
    made = etree.Element(W + name, {W + key: value for key, value in attributes.items()})
    made.extend(children)
    return made


def text_element(text: str) -> Element:
    """Create a text element that preserves spaces."""
    element = etree.Element(W + "t", {"{http://www.w3.org/XML/1998/namespace}space": "preserve"})
    element.text = text
    return element


def get_child_value(parent: Element | None, name: str, attribute: str = "val") -> str | None:
    """Return the value of a child element such as `<w:pStyle w:val="..."/>`."""
    child = None if parent is None else parent.find(W + name)
    return None if child is None else child.get(W + attribute)


def is_enabled(parent: Element | None, name: str) -> bool:
    """Return True if a toggle such as `<w:vanish/>` is on."""
    child = None if parent is None else parent.find(W + name)
    return child is not None and child.get(W + "val") not in ("0", "false", "off")
