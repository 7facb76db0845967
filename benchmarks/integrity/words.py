"""Read the lists of words in `words.toml` and compile them to patterns."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_LISTS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_WILD = {r"\*": r"\w*", r"\#": r"\d+", "…": ".*"}
"""Signs of the lists: any letters, a number, any text."""


def _names(topic: str) -> re.Pattern[str]:
    """Return a pattern that finds a name of a list between characters that are not letters."""
    return re.compile(rf"(?<![a-z])(?:{_any(_LISTS[topic].split())})(?![a-z])", re.IGNORECASE)


def _any(words: list[str]) -> str:
    pattern = "|".join(re.escape(word) for word in words)
    for sign, meaning in _WILD.items():
        pattern = pattern.replace(sign, meaning)
    return pattern


def _phrases(topic: str) -> str:
    return _any([phrase.strip() for phrase in _LISTS[topic].split(",")])


HIDDEN_CLASSES, APART_CLASSES = _names("hidden_classes"), _names("apart_classes")
FIGURE_CLASSES, NUMBER_CLASSES = _names("figure_classes"), _names("number_classes")
CONTROLS = re.compile(_phrases("controls"), re.IGNORECASE)
"""Matches a whole text."""
TEASERS = re.compile(rf"\W*(?:{_phrases('teasers')})", re.IGNORECASE)
"""Matches the beginning of a line."""
DISCUSSION = re.compile(_phrases("discussion"), re.IGNORECASE)
RAISED_ENDINGS = frozenset(_LISTS["raised_endings"].split())
