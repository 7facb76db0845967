"""Which class names a page has: one pass in C tells whether any rule that goes by them is needed at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from lxml import etree

from scraper.extract.dom.xpath import Element, elements

_VALUES = etree.XPath("descendant-or-self::*/@class", smart_strings=False)
_CLASSED = elements("descendant-or-self::*[@class]")


def names_in(root: Element) -> str:
    """All different values of `class` in a tree, one on a line."""
    return "\n".join(set(cast("list[str]", _VALUES(root))))


def named(root: Element, pattern: re.Pattern[str]) -> Iterator[tuple[Element, list[str]]]:
    """The elements whose classes a pattern is found in, with the classes."""
    known: dict[str, bool] = {}
    for element in _CLASSED(root):
        classes = element.get("class") or ""
        found = known.get(classes)
        if found is None:
            found = known[classes] = pattern.search(classes) is not None
        if found:
            yield element, classes.split()
