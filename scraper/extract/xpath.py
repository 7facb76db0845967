"""Compiled XPath with types: what runs in C costs a tenth of the same walk in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from lxml import etree

__all__ = ["Element", "elements", "text_of"]

Element: TypeAlias = etree._Element

_STRING = etree.XPath("string()")


def elements(expression: str) -> Callable[[Element], list[Element]]:
    """A function that gives the elements an expression selects, in document order."""
    compiled = etree.XPath(expression)

    def select(root: Element) -> list[Element]:
        return cast("list[Element]", compiled(root))

    return select


def text_of(element: Element) -> str:
    """All text in an element, its tail not included."""
    return str(_STRING(element))
