"""RDFa, read by extruct where a page carries it: that costs 70 ms, and one page in thirty does."""

from __future__ import annotations

import json
from typing import Any

from extruct.rdfa import RDFaExtractor
from extruct.utils import parse_xmldom_html
from lxml import etree

from scraper.extract.dom.xpath import Element, attribute_selector, text_of
from scraper.extract.syntaxes.jsonld import Item

MAX_ELEMENTS = 20_000
"""Reading takes 30 us an element: more than a second beyond."""
MAX_PROPERTIES = 5_000
"""Properties and types, at 250 us each."""
MAX_NODES = 2_000
_MAX_DEPTH = 12
_MAX_TEXT = 200_000
"""Characters in which each value is looked for."""

_TYPED = attribute_selector("typeof")
_VOCABULARIES = attribute_selector("vocab")
_PROPERTIES = attribute_selector("property")
_ELSEWHERE = (
    "http://www.w3.org/1999/xhtml/vocab#",
    "http://www.w3.org/ns/rdfa#",
    "http://ogp.me/ns",
    "https://ogp.me/ns",
    "https://dev.twitter.com/cards#",
)
"""What ARIA roles and vocabularies become, which say nothing, and metas, which OpenGraph has told."""


def is_present(root: Element) -> bool:
    """Whether anything in a tree has a type or a vocabulary; properties alone are metas."""
    return bool(_TYPED(root) or _VOCABULARIES(root))


def read(root: Element, base: str) -> tuple[Item, ...]:
    """The nodes of the page's graph, in expanded JSON-LD, typed ones first.

    Raises:
        ValueError: there is more than a page has; nothing was read.
    """
    told = len(_TYPED(root)) + len(_PROPERTIES(root))
    if told > MAX_PROPERTIES or sum(1 for _ in root.iter()) > MAX_ELEMENTS:
        raise ValueError("the page is too large for it")
    document = parse_xmldom_html(etree.tostring(root, encoding="utf-8", method="html"), "utf-8")
    found = RDFaExtractor().extract_items(document, base_url=base)
    nodes = [node for node in found if not _says_nothing(node)]
    _put_in_order(nodes, " ".join(text_of(root)[:_MAX_TEXT].split()))
    return tuple(_renamed(sorted(nodes[:MAX_NODES], key=_order)))


def link_nodes(nodes: tuple[Item, ...]) -> list[Item]:
    """The nodes as plain objects: short names, bare values, nodes in place of what refers to them."""
    by_id = {node["@id"]: node for node in nodes if "@id" in node}
    return [_plain(node, by_id, 0) for node in nodes if "@type" in node]


def _plain(value: Any, by_id: dict[str, Item], depth: int) -> Any:
    if isinstance(value, list):
        parts = [_plain(part, by_id, depth) for part in value]
        return parts[0] if len(parts) == 1 else parts
    if not isinstance(value, dict):
        return value
    if "@value" in value:
        return value["@value"]
    node = by_id.get(value.get("@id", ""), value)
    if depth > _MAX_DEPTH or ("@type" not in node and len(node) == 1):
        return node.get("@id")
    plain: Item = {"@type": [_last_word(name) for name in node.get("@type", [])]}
    for name, inner in node.items():
        if not name.startswith("@"):
            plain[_last_word(name)] = _plain(inner, by_id, depth + 1)
    return plain


def _last_word(name: str) -> str:
    return name.replace("#", "/").rpartition("/")[2].rpartition(":")[2]


def _put_in_order(nodes: list[Item], text: str) -> None:
    """Sort the values of each property as the page has them: the graph of RDF keeps no order."""
    places: dict[Any, tuple[int, str]] = {}
    for node in nodes:
        own = [_place(value, text, places) for values in node.values() for value in _listed(values)]
        places[node.get("@id")] = min(own, default=(len(text), ""))
    for node in nodes:
        for values in node.values():
            if isinstance(values, list) and len(values) > 1:
                values.sort(key=lambda value: _place(value, text, places))


def _listed(values: Any) -> list[Any]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _place(value: Any, text: str, places: dict[Any, tuple[int, str]]) -> tuple[int, str]:
    """Where a text or a node stands on the page; what is not shown stands behind, by its letters."""
    told = value.get("@value", "") if isinstance(value, dict) else value
    if isinstance(value, dict) and "@id" in value:
        name = str(value["@id"])
        return places.get(name, (len(text), "" if name.startswith("_:") else name))
    words = " ".join(str(told).split())
    at = text.find(words) if words else -1
    return (at if at >= 0 else len(text), words)


def _says_nothing(node: Item) -> bool:
    names = [name for name in node if not name.startswith("@")]
    return bool(names) and all(name.startswith(_ELSEWHERE) for name in names)


def _order(node: Item) -> tuple[bool, str]:
    """The same every time: names of blank nodes are made up anew at each reading."""
    return "@type" not in node, _without_blanks(json.dumps(node, sort_keys=True, ensure_ascii=False))


def _without_blanks(text: str) -> str:
    return "_:".join(
        part if index == 0 else part.partition('"')[2] for index, part in enumerate(text.split('"_:'))
    )


def _renamed(nodes: list[Item]) -> list[Item]:
    """Blank nodes numbered in order."""
    numbers: dict[str, str] = {}
    return [_rename(node, numbers) for node in nodes]


def _rename(value: Any, numbers: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_rename(part, numbers) for part in value]
    if isinstance(value, dict):
        return {
            name: _rename_id(inner, numbers) if name == "@id" else _rename(inner, numbers)
            for name, inner in value.items()
        }
    return value


def _rename_id(name: Any, numbers: dict[str, str]) -> Any:
    if isinstance(name, str) and name.startswith("_:"):
        return numbers.setdefault(name, f"_:b{len(numbers)}")
    return name
