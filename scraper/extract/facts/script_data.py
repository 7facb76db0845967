"""The data in a page's scripts: JSON for frameworks, and objects that plain code assigns or passes on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, cast

import chompjs
from lxml import etree

from scraper.extract.dom.xpath import Element
from scraper.extract.page.page_tree import ScriptElement

MAX_CHARACTERS = 3_000_000
"""Of all scripts that are read; state trees of large shops have one or two million."""
_MAX_OBJECTS = 60
_MAX_TRIES = 120
_MAX_OBJECT = 400_000
"""Of an object that is no JSON: reading it costs ten times as much."""

_TELLING = re.compile(r"price|amount", re.IGNORECASE)
_OBJECTS = etree.XPath(
    ".//@*[starts-with(., '{') or starts-with(., '[')][contains(., 'rice') or contains(., 'mount')]",
    smart_strings=False,
)
_OPENING = re.compile(
    r"(?:[\w$\]'\"]\s*=|dataLayer\s*\.\s*push\s*\(|\.push\s*\(|(?:JSON\.parse)?\(|:)\s*+(?=\{\s*[\"'\w])",
    re.ASCII,
)


def read(scripts: Iterable[ScriptElement]) -> list[Any]:
    """Objects in the scripts that mention a price; JSON-LD is not among them."""
    found: list[Any] = []
    left = MAX_CHARACTERS
    for script in scripts:
        text = script.text
        if "ld+json" in script.type or not text or len(text) > left or not _TELLING.search(text):
            continue
        left -= len(text)
        found += _json(text) if "json" in script.type else _objects(text)
    return found


def in_attributes(body: Element) -> list[Any]:
    """Objects in attributes that mention a price: what components of the page are given to begin with."""
    found: list[Any] = []
    left = MAX_CHARACTERS
    for text in cast("list[str]", _OBJECTS(body))[:_MAX_OBJECTS]:
        left -= len(text)
        if left >= 0 and _TELLING.search(text):
            found += _json(text)
    return found


def _json(text: str) -> list[Any]:
    try:
        return [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        return []


def _objects(text: str) -> list[Any]:
    """The outermost objects that code assigns or passes on."""
    decoder = json.JSONDecoder(strict=False)
    found: list[Any] = []
    end = 0
    tries = 0
    for match in _OPENING.finditer(text):
        start = match.end()
        if start < end:
            continue
        if len(found) == _MAX_OBJECTS or tries == _MAX_TRIES:
            break
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = _loose(text[start : start + _MAX_OBJECT])
        if value:
            found.append(value)
    return found


def _loose(text: str) -> Any:
    """An object as JavaScript writes it."""
    try:
        return chompjs.parse_js_object(text, loader_kwargs={"strict": False})
    except (ValueError, RecursionError):
        return None
