"""Marks of list items: bullets and numbers."""

from __future__ import annotations

import re

_BULLETS = (
    "\u2022\u25cf\u25cb\u25aa\u25ab\u25a0\u25a1\u25e6\u2023\u2043"
    "\u2219\u27a2\u2794\u2713\u2714\uf0b7\uf0a7\uf0d8\uf076\uf02d\u00b7"
)
BULLET = re.compile(rf"\s*(?:[{_BULLETS}]+\s*|[*\u2013\u2014-]\s+)(?=\S)")
NUMBER = re.compile(r"\s*(\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])\s+(?=\S)")
_LABEL = re.compile(
    rf"\s*(?:[{_BULLETS}*\u2013\u2014-]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivxIVX]{{1,5}})[.)]?|\[\d{{1,3}}\])\s*"
)


def is_label(text: str) -> bool:
    """Whether a text is no more than the mark of an item."""
    return _LABEL.fullmatch(text) is not None


def split_mark(text: str) -> tuple[str | None, str]:
    """The mark of an item and the rest; an empty mark is a bullet, None is none."""
    bullet = BULLET.match(text)
    if bullet:
        return "", text[bullet.end() :]
    number = NUMBER.match(text)
    return (number[1], text[number.end() :]) if number else (None, text)
