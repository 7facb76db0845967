"""Namespaces of WordprocessingML and helpers to read and create its elements."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from scraper.html.dom.xpath import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
OMITTED_ELEMENTS = frozenset(
    {W + name for name in ("del", "moveFrom", "instrText", "delText", "rPr", "pPr", "sectPr", "tblPr", "tcPr")}
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
"""Deleted text, properties, and second copies for older programs."""
SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def w(name: str, *children: Element) -> Element:
    """Create an element of the main namespace."""
    element = etree.Element(W + name)
    element.extend(children)
    return element


def text_element(text: str) -> Element:
    """Create a text element that preserves spaces."""
    element = etree.Element(W + "t", {SPACE: "preserve"})
    element.text = text
    return element


def text_of_paragraph(paragraph: Element) -> str:
    """Return the text of a paragraph, without formulas, field instructions and deleted text."""
    return "".join(text.text or "" for text in paragraph.iter(W + "t"))


def visible_texts(parent: Element) -> Iterator[str]:
    """Yield the texts that Word displays in a paragraph, without those of paragraphs inside of it."""
    for child in parent:
        if child.tag == W + "t":
            yield child.text or ""
        elif child.tag not in OMITTED_ELEMENTS and child.tag != W + "p" and not is_enabled(child, "rPr", "vanish"):
            yield from visible_texts(child)


def get_child_value(parent: Element | None, *path: str) -> str | None:
    """Return the value of a descendant such as `<w:pStyle w:val="..."/>` in `<w:pPr>`."""
    child = None if parent is None else parent.find("/".join(W + name for name in path))
    return None if child is None else child.get(W + "val")


def is_enabled(parent: Element | None, *path: str) -> bool:
    """Return True if a toggle such as `<w:vanish/>` is on."""
    child = None if parent is None else parent.find("/".join(W + name for name in path))
    return child is not None and child.get(W + "val") not in ("0", "false", "off")
