"""Split queries, titles and snippets into words, to compare them."""

from __future__ import annotations

import re

from scraper.text.terms import ENGLISH_STOP_WORDS, fold_letters, is_ngram, split_terms
from scraper.words.matcher import Words

_PUBLISHER = re.compile(r"\s+[-–—|·»]\s+[^-–—|·»]{2,60}$")
_OPERATOR = re.compile(r"(?:^|(?<=[\s(]))-?(?:site|filetype|intitle|inurl|when|after|before):\S+|(?<=\s)-\S+")
_BOOLEAN = re.compile(r"\b(?:OR|AND|NOT)\b")

_MIN_LETTERS = 3
"""Letters. Shorter words are too common to compare queries."""

_STOP_WORDS = Words("stop_words.query")
"""Stop words of other languages than English, normalized like terms."""


def extract_content_words(query: str) -> tuple[str, ...]:
    """Return the distinct words of a query in order, without operators, short words and stop words."""
    words = dict.fromkeys(split_terms(_BOOLEAN.sub(" ", _OPERATOR.sub(" ", query))))
    return tuple(word for word in words if is_ngram(word) or (len(word) >= _MIN_LETTERS and not _is_stop_word(word)))


def _is_stop_word(word: str) -> bool:
    return word in ENGLISH_STOP_WORDS.all or word in _STOP_WORDS.all


def title_key(title: str) -> str:
    """Return the letters and digits of a title, without the publisher at its end."""
    return fold_letters(_PUBLISHER.sub("", title))
