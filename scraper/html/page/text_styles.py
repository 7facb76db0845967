"""Turn styles and elements that change what a text says into plain HTML: struck text, kept lines, boxes in a line.

HTML states which elements are blocks; all others are inline as far as they stand amid text. Styles come from the
browser's marks, inline styles, and rules of inline style sheets for a single class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Final

from lxml import etree

from scraper.html.dom.tags import ALL_BLOCKS, INLINE
from scraper.html.dom.xpath import Element, attribute_selector, find_by_class
from scraper.html.page.css_rules import MAX_CSS
from scraper.html.page.style_sheets import clear_comments, parse_rules

STYLE_ATTRIBUTE: Final = "data-x-text"
"""Attribute in which the browser marks the text styles of an element: `struck`, `lines` or `inline`."""

_MARKED = attribute_selector(STYLE_ATTRIBUTE)
_STYLED = attribute_selector("style")
_STYLES = {
    "struck": re.compile(r"text-decoration[\w-]*\s*:[^;]*line-through"),
    "lines": re.compile(r"white-space[\w-]*\s*:\s*(?:pre|break-spaces)"),
    "inline": re.compile(r"display\s*:\s*inline"),
}
_HINT = re.compile(r"line-through|white-space[\w-]*\s*:\s*(?:pre|break)")
_SIMPLE = re.compile(r"[a-z]*\.([\w-]+)")
_KEEPS_LINES = frozenset({"pre", "code", "textarea", "samp", "kbd", "listing", "plaintext", "xmp"})
_BOXES = frozenset({"div", "p", "section", "article", "figure"})
"""Blocks that a style may place within a line."""
_MAX_LINES = 5_000
"""Kept lines of a page that become line breaks."""


def apply_text_styles(body: Element) -> None:
    """Mark struck text by `s`, write kept lines with `br`, and make boxes within a line `span`."""
    lines = 0
    for element, style in list(_find_styles(body)):
        if style == "inline" and element.tag in _BOXES:
            _put_in_line(element)
        elif style == "struck" and element.tag not in ("s", "del", "body"):
            _strike(element)
        elif style == "lines" and lines < _MAX_LINES and element.tag not in _KEEPS_LINES:
            lines += _break_lines(element)


def rename_inline_elements(body: Element, tags: Set[str]) -> None:
    """Make unknown elements that stand amid text `span`, and `strike` elements `s`. `tags` are all of the tree."""
    for element in body.iter("strike"):
        element.tag = "s"
    unknown = tags - ALL_BLOCKS - INLINE
    for element in list(body.iter(*unknown)) if unknown else ():
        _put_in_line(element)


def _find_styles(body: Element) -> Iterator[tuple[Element, str]]:
    for element in _MARKED(body):
        for name in (element.get(STYLE_ATTRIBUTE) or "").split():
            yield element, name
    for element in _STYLED(body):
        for name, pattern in _STYLES.items():
            if pattern.search((element.get("style") or "").lower()):
                yield element, name
    root = body.getroottree().getroot()
    css = "\n}}\n".join(sheet.text or "" for sheet in root.iter("style"))[:MAX_CSS].lower()
    if not _HINT.search(css):
        return
    by_class: dict[str, str] = {}
    for rule in parse_rules(clear_comments(css)):
        for selector in rule.selector.split(",") if rule.applies else ():
            simple = _SIMPLE.fullmatch(selector.strip())
            name = next((name for name, pattern in _STYLES.items() if simple and pattern.search(rule.body)), "")
            if simple and name:
                by_class[simple[1]] = name
    if by_class:
        pattern = re.compile(rf" (?:{'|'.join(map(re.escape, by_class))}) ")
        for element, classes in find_by_class(body, pattern):
            for style in {by_class[one.lower()] for one in classes if one.lower() in by_class}:
                yield element, style


def _put_in_line(element: Element) -> None:
    """Make an element a `span` if it holds no block and text is beside it; a button needs text on both sides."""
    if any(child.tag in ALL_BLOCKS for child in element.iterdescendants()):
        return
    before, behind = _has_text_before(element), _has_text_behind(element)
    if (before and behind) if element.tag == "button" else (before or behind):
        element.tag = "span"


def _has_text_before(element: Element) -> bool:
    """Return True if text precedes an element in its line."""
    parent = element.getparent()
    for one in element.itersiblings(preceding=True):
        if (one.tail or "").strip():
            return True
        if one.tag in ALL_BLOCKS or one.tag == "br":
            return False
    return parent is not None and bool((parent.text or "").strip())


def _has_text_behind(element: Element) -> bool:
    if (element.tail or "").strip():
        return True
    for one in element.itersiblings():
        if one.tag in ALL_BLOCKS or one.tag == "br":
            return False
        if (one.tail or "").strip():
            return True
    return False


def _strike(element: Element) -> None:
    """Put the content of an element into `s`, or make an inline element one."""
    if element.tag in INLINE and element.tag != "a":
        element.tag = "s"
        return
    if any(child.tag in ALL_BLOCKS for child in element):
        return
    struck = etree.Element("s")
    struck.text, element.text = element.text, None
    struck.extend(list(element))
    element.append(struck)


def _break_lines(root: Element) -> int:
    """Write the line breaks in the text of an element as `br`, and return their number."""
    count = 0
    for element in list(root.iter()):
        if element.tag in _KEEPS_LINES or (element is not root and element.tag in ALL_BLOCKS and not element.text):
            continue
        text = (element.text or "").lstrip("\n") if element.tag in ALL_BLOCKS else element.text or ""
        text = text if len(element) else text.rstrip("\n")
        if "\n" in text and text.strip():
            element.text, *others = text.split("\n")
            element[:0] = [_line_break(line) for line in others]
            count += len(others)
        if element is not root and "\n" in (element.tail or "").rstrip():
            first, *others = (element.tail or "").split("\n")
            element.tail = first
            for line in reversed(others):
                element.addnext(_line_break(""))
                element.getnext().tail = line  # type: ignore[union-attr]
            count += len(others)
    return count


def _line_break(text: str) -> Element:
    line = etree.Element("br")
    line.tail = text
    return line
