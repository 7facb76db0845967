"""Microdata as objects of the shape that JSON-LD has, read by extruct on a tree of bounded size."""

from __future__ import annotations

from typing import Any

import html_text
from extruct.w3cmicrodata import LxmlMicrodataExtractor

from scraper.extract.dom.xpath import Element, attribute_selector
from scraper.extract.syntaxes.jsonld import Item

MAX_PROPERTIES = 20_000
"""Elements with `itemprop`; lists of a thousand products have some 10,000."""
MAX_REFERRED = 100_000
"""Elements with `itemref` times properties: each pair takes 23 us where all point to the same place."""
MAX_TEXT = 3_000_000
"""Characters of all values: where properties stand in each other, each holds the text of those inside."""

_SCOPES = attribute_selector("itemscope")
_PROPERTIES = attribute_selector("itemprop")
_REFERENCES = attribute_selector("itemref")


class _Extractor(LxmlMicrodataExtractor):  # type: ignore[misc]
    """Reads the text where it stands: extruct copies and cleans the element first, at ten times the cost."""

    def __init__(self) -> None:
        super().__init__()
        self._left = MAX_TEXT

    def _extract_textContent(self, node: Element) -> str:
        if self._left <= 0:
            return ""
        text: str = html_text.etree_to_text(node)
        self._left -= len(text)
        return text


def read(root: Element, base: str) -> tuple[Item, ...]:
    """The outermost items of a tree without scripts and styles.

    Raises:
        ValueError: there is more than a page has; nothing was read.
    """
    if not _SCOPES(root):
        return ()
    properties = len(_PROPERTIES(root))
    if properties > MAX_PROPERTIES or properties * len(_REFERENCES(root)) > MAX_REFERRED:
        raise ValueError("too much of it")
    return tuple(_uniform(item) for item in _Extractor().extract_items(root, base))


def find_loose_properties(root: Element, names: frozenset[str]) -> list[tuple[str, Element]]:
    """Properties of these names that stand outside of every item, in order."""
    return [
        (name, element)
        for element in _PROPERTIES(root)
        if element.get("itemscope") is None
        for name in (element.get("itemprop") or "").split()
        if name in names and not _is_in_item(element)
    ]


def _is_in_item(element: Element) -> bool:
    return any(around.get("itemscope") is not None for around in element.iterancestors())


def _uniform(value: Any) -> Any:
    """extruct's items with their properties beside their type; the vocabulary as context."""
    if isinstance(value, list):
        return [_uniform(part) for part in value if part is not None]
    if not isinstance(value, dict):
        return value
    if "properties" not in value:
        return {**_typed(value), "value": value["value"]} if "value" in value else value
    return {
        **_typed(value),
        **{name: _uniform(inner) for name, inner in value["properties"].items() if inner is not None},
    }


def _typed(item: Item) -> Item:
    declared = item.get("type")
    names = declared if isinstance(declared, list) else [declared] if declared else []
    typed: Item = {}
    if names:
        context, _, _ = names[0].rpartition("/")
        if context:
            typed["@context"] = context
        locals_ = [name.rpartition("/")[2] or name for name in names]
        typed["@type"] = locals_[0] if len(locals_) == 1 else locals_
    if item.get("id"):
        typed["@id"] = item["id"]
    return typed
