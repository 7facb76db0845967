"""The JSON-LD of a page as a flat list of its items, whatever state the blocks are in."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import chompjs

from scraper.extract.syntaxes import json_repair

Item: TypeAlias = dict[str, Any]

MAX_BLOCKS = 500
MAX_CHARACTERS = 1_000_000
"""Of one block; the largest that pages were seen to carry have some 300,000."""

_MAX_ITEMS = 2_000
_MAX_MENDED = 200_000
_MAX_MENDED_IN_ALL = 400_000
"""Mending costs ten to thirty times as much as reading: half a microsecond a character."""

_MAX_DIGITS = 4_000
_NAMES_TYPE = frozenset({"@type", "@graph"})
_ESCAPED_QUOTE = re.compile(r"[\[{,:]\s*&(?:quot|#34|#x22);", re.IGNORECASE)
_WRAPPER = re.compile(r"\A\W{0,20}<!\[CDATA\[(?:\s*\*/)?|(?:/\*\s*|//\s*)?\]\]>\W{0,20}\Z")
_AFTER_VALUE = re.compile(r"[\s;,]*")


@dataclass(frozen=True, slots=True)
class JsonLdBlocks:
    """What the blocks of a page hold, outermost values in order; `broken` counts those that hold nothing."""

    values: tuple[Item, ...]
    broken: int = 0


def read(blocks: Iterable[str]) -> JsonLdBlocks:
    """Every outermost object in the blocks. A broken block loses only itself."""
    values: list[Item] = []
    broken = 0
    left = _MAX_MENDED_IN_ALL
    for number, block in enumerate(blocks):
        if number == MAX_BLOCKS:
            break
        found = _first_of((_documents,), block) if len(block) <= MAX_CHARACTERS else None
        if found is None and len(block) <= min(left, _MAX_MENDED):
            left -= len(block)
            found = _first_of((_as_code, _completed), block)
        if found is None:
            broken += bool(block.strip())
        else:
            values += [value for value in found if isinstance(value, dict) and value]
    return JsonLdBlocks(tuple(values), broken)


def items(
    blocks: Iterable[str], *, without: frozenset[str] = frozenset(), single: frozenset[str] = frozenset()
) -> list[Item]:
    """Every object in the blocks that has a type, outer ones first.

    There are none under the names `without`, and none of several under the names `single`.
    """
    return flat(read(blocks).values, without=without, single=single)


def flat(
    values: Iterable[Item], *, without: frozenset[str] = frozenset(), single: frozenset[str] = frozenset()
) -> list[Item]:
    """Every object among the values that has a type, breadth first: a page's own before what it mentions."""
    found: list[Item] = []
    waiting: list[Any] = list(values)
    for part in waiting:
        if len(waiting) > _MAX_ITEMS:
            break
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            if "@type" in part:
                found.append(part)
            waiting.extend(
                inner
                for name, inner in part.items()
                if isinstance(inner, dict | list)
                and name not in without
                and not (name in single and isinstance(inner, list) and len(inner) > 1)
            )
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


def _first_of(readings: Iterable[Callable[[str], list[Any]]], block: str) -> list[Any] | None:
    """The values of one block by the first reading that can; None where none can."""
    text = block.strip().removeprefix("\ufeff")
    if not text:
        return []
    for reading in readings:
        try:
            return [value for document in reading(text) for value in _listed(document)]
        except (ValueError, RecursionError):
            continue
    return None


def _listed(value: Any) -> list[Any]:
    """What is in a list and in the lists within it."""
    waiting, found = [value], []
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += reversed(part)
        else:
            found.append(part)
    return found


def _documents(text: str) -> list[Any]:
    """One JSON document, or several one after the other; control characters in strings are let through."""
    decoder = json.JSONDecoder(strict=False, parse_int=_integer)
    found: list[Any] = []
    at = 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        behind = _AFTER_VALUE.match(text, at)
        at = behind.end() if behind else at
    return found


def _integer(digits: str) -> int | float:
    """Python refuses to read thousands of digits; such a number is infinite to most other readers of JSON."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _as_code(text: str) -> list[Any]:
    """What is an object to JavaScript: comments, wrappers, CDATA, commas too many, single quotes."""
    text = _unwrapped(text)
    if json_repair.is_misread_as_code(text):
        raise ValueError("it says something else to JavaScript")
    found: list[Any] = [value for value in _js_objects(text) if isinstance(value, dict | list) and value]
    if not found:
        raise ValueError("nothing in it")
    return found


def _unwrapped(text: str) -> str:
    text = _WRAPPER.sub("", text)
    return html.unescape(text) if _ESCAPED_QUOTE.search(text) else text


def _completed(text: str) -> list[Any]:
    """What is neither, as it was meant: only where it still names a type, so that no scrap counts as data."""
    for reading in (_documents, _js_objects):
        for attempt in json_repair.attempts(_unwrapped(text)):
            try:
                found = [part for value in reading(attempt) for part in _listed(value)]
            except (ValueError, RecursionError):
                continue
            if any(isinstance(part, dict) and _NAMES_TYPE.intersection(part) for part in found):
                return found
    raise ValueError("nothing in it")


def _js_objects(text: str) -> Iterable[Any]:
    found: Iterable[Any] = chompjs.parse_js_objects(text, loader_kwargs={"strict": False})
    return found
