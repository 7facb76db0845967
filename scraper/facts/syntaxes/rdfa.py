"""Read RDFa with extruct. That takes 70 ms, and one page in thirty contains RDFa."""

import json
import re
from typing import Any

from lxml import etree

from scraper.facts.syntaxes import import_part
from scraper.facts.syntaxes.jsonld import JsonLdItem
from scraper.html.dom.parsing import Element, attribute_selector, text_of

_MAX_ELEMENTS = 20_000
"""Elements. Reading takes 30 us each, more than a second beyond this."""
_MAX_PROPERTIES = 5_000
"""Properties and types, at 250 us each."""
_MAX_NODES = 2_000
_MAX_TEXT = 200_000
"""Characters of the page's text in which the position of each value is searched."""

_BLANK_ID = re.compile(r'"_:[^"]*"')
_TYPED = attribute_selector("typeof")
_VOCABULARIES = attribute_selector("vocab")
_PROPERTIES = attribute_selector("property")
_IGNORED_VOCABULARIES = (
    "http://www.w3.org/1999/xhtml/vocab#",
    "http://www.w3.org/ns/rdfa#",
    "http://ogp.me/ns",
    "https://ogp.me/ns",
    "https://dev.twitter.com/cards#",
)
"""Vocabularies of ARIA roles, which carry no data, and of metas, which OpenGraph covers."""


def is_present(root: Element) -> bool:
    """Return True if the tree contains a type or a vocabulary. Properties alone are metas."""
    return bool(_TYPED(root) or _VOCABULARIES(root))


def read(root: Element, base: str) -> tuple[JsonLdItem, ...]:
    """Return the nodes of the page's graph in expanded JSON-LD, typed ones first.

    Raises:
        ValueError: the page exceeds the limits; nothing was read.
    """
    declared = len(_TYPED(root)) + len(_PROPERTIES(root))
    if declared > _MAX_PROPERTIES or sum(1 for _ in root.iter()) > _MAX_ELEMENTS:
        raise ValueError("the page is too large for it")
    document = import_part("extruct.utils").parse_xmldom_html(
        etree.tostring(root, encoding="utf-8", method="html"), "utf-8"
    )
    found = import_part("extruct.rdfa").RDFaExtractor().extract_items(document, base_url=base)
    nodes = []
    for node in found:
        names = [name for name in node if not name.startswith("@")]
        if not names or not all(name.startswith(_IGNORED_VOCABULARIES) for name in names):
            nodes.append(node)
    _sort_values(nodes, " ".join(text_of(root)[:_MAX_TEXT].split()))
    nodes.sort(key=lambda node: ("@type" not in node, _canonical_text(node)))
    numbers: dict[str, str] = {}
    return tuple(_rename_blank_nodes(node, numbers) for node in nodes[:_MAX_NODES])


def _sort_values(nodes: list[JsonLdItem], text: str) -> None:
    """Sort the values of each property by their position on the page: an RDF graph has no order."""
    places: dict[Any, tuple[int, str]] = {}
    # The position of a node is that of its first text, or of the first text of the nodes in it.
    for _ in range(2):
        places |= {
            node.get("@id"): min(
                (
                    _find_position(value, text, places)
                    for values in node.values()
                    if isinstance(values, list)
                    for value in values
                    if isinstance(value, dict)
                ),
                default=(len(text), ""),
            )
            for node in nodes
        }
    for node in nodes:
        for values in node.values():
            if isinstance(values, list) and len(values) > 1:
                values.sort(key=lambda value: (*_find_position(value, text, places), _canonical_text(value)))


def _find_position(value: Any, text: str, places: dict[Any, tuple[int, str]]) -> tuple[int, str]:
    if isinstance(value, dict) and "@id" in value:
        name = str(value["@id"])
        return places.get(name, (len(text), "" if name.startswith("_:") else name))
    words = " ".join(str(value.get("@value", "") if isinstance(value, dict) else value).split())
    at = text.find(words) if words else -1
    return (at if at >= 0 else len(text), words)


def _canonical_text(value: Any) -> str:
    return _BLANK_ID.sub("_:", json.dumps(value, sort_keys=True, ensure_ascii=False))


def _rename_blank_nodes(value: Any, numbers: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_rename_blank_nodes(part, numbers) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        name: numbers.setdefault(inner, f"_:b{len(numbers)}")
        if name == "@id" and str(inner).startswith("_:")
        else _rename_blank_nodes(inner, numbers)
        for name, inner in value.items()
    }
