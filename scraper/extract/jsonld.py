"""The JSON-LD of a page as a flat list of its items, whatever state the blocks are in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

__all__ = ["Item", "items", "names", "types"]

Item: TypeAlias = dict[str, Any]

_MAX_BLOCKS = 30
_MAX_CHARS = 500_000
_MAX_ITEMS = 2_000

_WRAPPER = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(?:-->|//\s*\]\]>|\]\]>|/\*\s*\]\]>\s*\*/)\s*$"
)
_END = " \t\r\n;"
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")


def items(blocks: Iterable[str]) -> list[Item]:
    """Every object in the blocks that has a type, outer ones first. A broken block loses only itself."""
    found: list[Item] = []
    for number, block in enumerate(blocks):
        if number == _MAX_BLOCKS:
            break
        _collect(_parsed(block[:_MAX_CHARS]), found)
    return found


def types(item: Item) -> list[str]:
    """The types of an item, without the address of their vocabulary."""
    declared = item.get("@type")
    listed = declared if isinstance(declared, list) else [declared]
    return [name.rpartition("/")[2] for name in listed if isinstance(name, str)]


def names(value: Any) -> list[str]:
    """The names in a value that is a text, a thing with a name, or a list of these."""
    found: list[str] = []
    for part in value if isinstance(value, list) else [value]:
        name = part.get("name") if isinstance(part, dict) else part
        if isinstance(name, list):
            name = next((text for text in name if isinstance(text, str)), None)
        if isinstance(name, str) and name.strip():
            found.append(name.strip())
    return found


def _parsed(block: str) -> Any:
    for text in (block, _mended(block)):
        try:
            return json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _mended(block: str) -> str:
    """Without comment and CDATA wrappers, trailing semicolons and commas."""
    unwrapped = _WRAPPER.sub("", block.strip(_END)).strip(_END)
    return _TRAILING_COMMA.sub("", unwrapped)


def _collect(value: Any, found: list[Item]) -> None:
    """Breadth first, so that the page's own item stands before what it mentions."""
    waiting = [value]
    for part in waiting:
        if len(waiting) > _MAX_ITEMS:
            return
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            if "@type" in part:
                found.append(part)
            waiting.extend(inner for inner in part.values() if isinstance(inner, dict | list))
