"""What queries, headlines and snippets are about, as sets of words that compare."""

from __future__ import annotations

import re

from scraper.extract.text.terms import fold_letters, is_ngram, split_terms

_PUBLISHER = re.compile(r"\s+[-–—|·»]\s+[^-–—|·»]{2,60}$")
_OPERATOR = re.compile(r"(?:^|(?<=[\s(]))-?(?:site|filetype|intitle|inurl|when|after|before):\S+|(?<=\s)-\S+")
_BOOLEAN = re.compile(r"\b(?:OR|AND|NOT)\b")

MIN_LETTERS = 3
"""Shorter words say little of what a query is about."""

_STOP_WORDS = frozenset(
    "the and for with from that this what which who when where why how are was were does did can you your "
    "der die das und mit von ist wie les des une est que pour los las del por para con una uno como che per "
    "nao com uma".split()
)
"""Folded, as terms are."""


def words(text: str) -> frozenset[str]:
    """Words, and pairs or threes of characters where a script has no spaces."""
    return frozenset(split_terms(text))


def content_words(query: str) -> tuple[str, ...]:
    """What a query is about, in its order: no operators, short words or words of every sentence."""
    found = dict.fromkeys(split_terms(_BOOLEAN.sub(" ", _OPERATOR.sub(" ", query))))
    return tuple(word for word in found if is_ngram(word) or _tells(word))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of common words among all of both."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


def title_key(title: str) -> str:
    """A headline by its letters and digits, without the publisher at its end."""
    return fold_letters(_PUBLISHER.sub("", title))


def _tells(word: str) -> bool:
    return len(word) >= MIN_LETTERS and word not in _STOP_WORDS
