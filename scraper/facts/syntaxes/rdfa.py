"""Read RDFa with extruct. That takes 70 ms, and one page in thirty contains RDFa."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from extruct.rdfa import RDFaExtractor
from extruct.utils import parse_xmldom_html
from lxml import etree

from scraper.facts.syntaxes.jsonld import JsonLdItem
from scraper.html.dom.xpath import Element, attribute_selector, text_of

_MAX_ELEMENTS = 20_000
"""Elements. Reading takes 30 us each, more than a second beyond this."""
_MAX_PROPERTIES = 5_000
"""Properties and types, at 250 us each."""
_MAX_NODES = 2_000
_MAX_TEXT = 200_000
"""Characters of the page's text in which the position of each value is searched."""

_MAX_ROUNDS = 10
"""Steps over references in which nodes are compared. Each takes 10 us per value."""
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
    document = parse_xmldom_html(etree.tostring(root, encoding="utf-8", method="html"), "utf-8")
    found = RDFaExtractor().extract_items(document, base_url=base)
    nodes = [node for node in found if not _is_ignored(node)]
    fingerprints = _compute_fingerprints(nodes)
    _sort_values(nodes, " ".join(text_of(root)[:_MAX_TEXT].split()), fingerprints)
    nodes.sort(key=lambda node: (*_sort_key(node), fingerprints.get(node.get("@id", ""), "")))
    numbers: dict[str, str] = {}
    return tuple(_rename_blank_nodes(node, numbers) for node in nodes[:_MAX_NODES])


def _compute_fingerprints(nodes: list[JsonLdItem]) -> dict[str, str]:
    """Return a text for each blank node that depends on its content and references, not on its random name.

    Nodes with equal fingerprints are interchangeable, unless only references of more than `_MAX_ROUNDS` steps differ.
    """
    fingerprints = {node["@id"]: "" for node in nodes if str(node.get("@id")).startswith("_:")}
    for _ in range(_MAX_ROUNDS if fingerprints else 0):
        contents = [_canonical_text(node, fingerprints) for node in nodes]
        references: defaultdict[str, list[str]] = defaultdict(list)
        for node, content in zip(nodes, contents, strict=True):
            for name, values in node.items():
                for value in _find_nodes(values):
                    references[str(value.get("@id"))].append(f"{name} {content}")
        refined = {
            node["@id"]: _hash("\n".join((content, *sorted(references[node["@id"]]))))
            for node, content in zip(nodes, contents, strict=True)
            if node.get("@id") in fingerprints
        }
        is_stable = len(set(refined.values())) == len(set(fingerprints.values()))
        fingerprints = refined
        if is_stable:
            break
    return fingerprints


def _canonical_text(value: Any, fingerprints: Mapping[str, str]) -> str:
    """Return a text that is equal for equal values, without names of blank nodes and order of lists."""
    if isinstance(value, list):
        return f"[{','.join(sorted(_canonical_text(part, fingerprints) for part in value))}]"
    if isinstance(value, dict):
        parts = (f"{json.dumps(name)}:{_canonical_text(value[name], fingerprints)}" for name in sorted(value))
        return f"{{{','.join(parts)}}}"
    return json.dumps(fingerprints.get(value, value) if isinstance(value, str) else value)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _sort_values(nodes: list[JsonLdItem], text: str, fingerprints: Mapping[str, str]) -> None:
    """Sort the values of each property by their position on the page: an RDF graph has no order."""
    places: dict[Any, tuple[int, str]] = {}
    # The position of a node is that of its first text, or of the first text of the nodes in it.
    for _ in range(2):
        places |= {
            node.get("@id"): min(
                (_find_position(value, text, places) for values in node.values() for value in _find_nodes(values)),
                default=(len(text), ""),
            )
            for node in nodes
        }
    for node in nodes:
        for values in node.values():
            if isinstance(values, list) and len(values) > 1:
                values.sort(
                    key=lambda value: (*_find_position(value, text, places), _canonical_text(value, fingerprints))
                )


def _find_nodes(values: Any) -> list[Any]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _find_position(value: Any, text: str, places: dict[Any, tuple[int, str]]) -> tuple[int, str]:
    """Return the position of a text or node on the page. Invisible values come last, in alphabetical order."""
    if isinstance(value, dict) and "@id" in value:
        name = str(value["@id"])
        return places.get(name, (len(text), "" if name.startswith("_:") else name))
    words = " ".join(str(value.get("@value", "") if isinstance(value, dict) else value).split())
    at = text.find(words) if words else -1
    return (at if at >= 0 else len(text), words)


def _is_ignored(node: JsonLdItem) -> bool:
    names = [name for name in node if not name.startswith("@")]
    return bool(names) and all(name.startswith(_IGNORED_VOCABULARIES) for name in names)


def _sort_key(node: JsonLdItem) -> tuple[bool, str]:
    """Return a key that does not depend on the names of blank nodes, which differ at each reading."""
    return "@type" not in node, _BLANK_ID.sub("_:", json.dumps(node, sort_keys=True, ensure_ascii=False))


def _rename_blank_nodes(value: Any, numbers: dict[str, str]) -> Any:
    """Return a copy with consecutive numbers as the ids of blank nodes."""
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
