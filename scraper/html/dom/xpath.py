"""Compile XPath expressions into typed selector functions, and read texts and class names of elements.

Evaluation in C costs a tenth of the same traversal in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias, cast

from lxml import etree

Element: TypeAlias = etree._Element

_STRING = etree.XPath("string()", smart_strings=False)


def element_selector(expression: str) -> Callable[[Element], list[Element]]:
    """Return a function that selects the elements that match an expression, in document order."""
    return cast("Callable[[Element], list[Element]]", etree.XPath(expression))


def attribute_selector(attribute: str) -> Callable[[Element], list[Element]]:
    """Return a function that selects all elements of the whole tree that have an attribute.

    This costs a third of `//*[@name]`, grows linearly unlike `//@name/..`, and skips the text nodes that `//@name`
    visits.
    """
    compiled = etree.XPath(f"//*/@{attribute}")

    def select(root: Element) -> list[Element]:
        return [value.getparent() for value in cast("list[Any]", compiled(root))]

    return select


def text_selector(expression: str) -> Callable[[Element], list[str]]:
    """Return a function that selects the values of attributes or the texts that match an expression."""
    return cast("Callable[[Element], list[str]]", etree.XPath(expression, smart_strings=False))


def text_of(element: Element) -> str:
    """Return all text inside an element, without its tail."""
    return cast("str", _STRING(element)) if len(element) else element.text or ""


_CLASSED = element_selector("descendant-or-self::*[@class]")


def collect_names(root: Element) -> tuple[frozenset[str], str]:
    """Return the distinct tags of a tree, and its distinct values of `class`, one per line, in one walk.

    Callers search the result first, and skip a rule whose classes do not occur in the tree. An XPath expression takes
    1.5 times as long.
    """
    pairs = {(element.tag, element.get("class")) for element in root.iter()}
    return frozenset(tag for tag, _ in pairs), "\n".join(filter(None, {value for _, value in pairs}))


def pad_names(names: str) -> str:
    """Return class names in lower case, with a blank before and after them, for patterns of whole names.

    With `IGNORECASE`, or with an alternative that begins with `^`, a search takes several times as long.
    """
    return f" {names.lower()} "


def find_by_class(root: Element, pattern: re.Pattern[str]) -> Iterator[tuple[Element, list[str]]]:
    """Yield each element whose `class` value matches a pattern, with its list of classes.

    The pattern is searched in the result of `pad_names`.
    """
    matches = cache(lambda classes: pattern.search(pad_names(classes)) is not None)
    for element in _CLASSED(root):
        classes = element.get("class") or ""
        if matches(classes):
            yield element, classes.split()


def classes_of(element: Element) -> list[str]:
    """Return the names in the `class` attribute of an element."""
    return (element.get("class") or "").split()


def depth_of(element: Element) -> int:
    """Return the number of ancestors of an element."""
    return sum(1 for _ in element.iterancestors())
