"""Data from a page brought within bounds: depth, length, visible characters, absolute addresses."""

from __future__ import annotations

import math
import re
from typing import Any
from urllib.parse import urljoin

from scraper.extract.text import sanitize

MAX_CHARACTERS = 400_000
"""Of one syntax: some hundred thousand tokens, beyond what any answer tells."""
MAX_TEXT = 50_000
MAX_DEPTH = 30
_HALF_PAIRS = re.compile("[\ud800-\udfff]")
"""What no encoding can carry."""
_COST_OF_A_VALUE = 4
"""Counted for what is around a value, so that ten million empty lists come to an end too."""

_ADDRESSES = frozenset(
    "@id url image logo photo contenturl embedurl thumbnail thumbnailurl sameas mainentityofpage "
    "urltemplate target primaryimageofpage discussionurl".split()
)


class JsonBounder:
    """Copies values of one syntax; `cut` tells afterwards whether something was left out."""

    def __init__(self, base: str, *, characters_left: int = MAX_CHARACTERS) -> None:
        self.cut = False
        self._base = base
        self._left = characters_left

    def objects(self, values: Any) -> tuple[dict[str, Any], ...]:
        """Those of the values that are objects, while there is room."""
        found: list[dict[str, Any]] = []
        for value in values:
            if self._left <= 0:
                self.cut = True
                break
            if isinstance(value, dict) and (copy := self.value(value)):
                found.append(copy)
        return tuple(found)

    def value(self, value: Any, name: str = "", depth: int = 0) -> Any:
        """A copy of a value; what is beyond the bounds is missing in it."""
        self._left -= _COST_OF_A_VALUE
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, float) and not math.isfinite(value):
            return None  # JSON has no name for it
        if value is None or isinstance(value, bool | int | float):
            return value
        if not isinstance(value, dict | list | tuple):
            return self._text(str(value), "")
        if depth >= MAX_DEPTH:
            self.cut = True
            return None
        if isinstance(value, dict):
            return self._object(value, depth)
        return self._list(value, name, depth)

    def _object(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        for name, inner in value.items():
            if self._left <= 0:
                self.cut = True
                break
            copy[self._text(str(name), "")] = self.value(inner, str(name), depth + 1)
        return copy

    def _list(self, value: list[Any] | tuple[Any, ...], name: str, depth: int) -> list[Any]:
        copy: list[Any] = []
        for inner in value:
            if self._left <= 0:
                self.cut = True
                break
            copy.append(self.value(inner, name, depth + 1))
        return copy

    def _text(self, text: str, name: str) -> str:
        if len(text) > MAX_TEXT:
            self.cut = True
            text = text[:MAX_TEXT]
        text, _ = sanitize.clean(_HALF_PAIRS.sub("\ufffd", text))
        self._left -= len(text)
        return self._absolute(text) if name.lower() in _ADDRESSES else text

    def _absolute(self, text: str) -> str:
        """Relative addresses joined with the page's; whole ones, names and prose as they are."""
        address = text.strip()
        if not address or ":" in address.partition("/")[0] or any(map(str.isspace, address)):
            return text
        try:
            return urljoin(self._base, address)
        except ValueError:
            return text
