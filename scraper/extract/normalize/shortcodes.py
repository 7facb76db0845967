"""Remove the tags of page builders that a site displays as text, for example `[vc_row css="..."]`."""

from __future__ import annotations

import re

from scraper.extract.dom.xpath import Element, text_of

_CLOSING_TAG = re.compile(r"\[/([a-z]+_[a-z0-9_]{1,40})\]")
"""Closing tag of a name with an underscore: `[/b]` may be an example of forum markup."""

_CODE_TAGS = frozenset({"pre", "code", "samp", "kbd"})


def remove_shortcodes(root: Element) -> None:
    """Remove opening and closing tags of every name that the text closes, except in code."""
    names = set(_CLOSING_TAG.findall(text_of(root)))
    if not names:
        return
    tags = re.compile(rf"\[/?(?:{'|'.join(sorted(names))})(?:\s[^\[\]]{{0,4000}})?\]")
    for element in root.iter():
        if element.text and "[" in element.text and not _is_in_code(element):
            element.text = tags.sub(" ", element.text)
        if element.tail and "[" in element.tail and not _is_in_code(element.getparent()):
            element.tail = tags.sub(" ", element.tail)


def _is_in_code(element: Element | None) -> bool:
    while element is not None:
        if element.tag in _CODE_TAGS:
            return True
        element = element.getparent()
    return False
