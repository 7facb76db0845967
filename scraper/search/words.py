"""Texts as sets of words, folded for case and accents, in scripts with and without spaces."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["content_words", "jaccard", "title_key", "words"]

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters: written without spaces."""
_PUBLISHER = re.compile(r"\s+[-–—|·»]\s+[^-–—|·»]{2,60}$")
_OPERATOR = re.compile(r"(?:^|(?<=[\s(]))-?(?:site|filetype|intitle|inurl|when|after|before):\S+|(?<=\s)-\S+")
_BOOLEAN = re.compile(r"\b(?:OR|AND|NOT)\b")

MIN_LETTERS = 3
"""Shorter words say little of what a query is about."""

_STOP_WORDS = frozenset(
    "the and for with from that this what which who when where why how are was were does did can you your "
    "der die das und mit von ist wie les des une est que pour los las del por para con una uno como che per "
    "não com uma".split()
)


def words(text: str) -> frozenset[str]:
    """Words, and pairs of neighbours where a script has no spaces."""
    found: set[str] = set()
    folded = _folded(text)
    for run in _UNSPACED.findall(folded):
        found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    found.update(_WORD.findall(_UNSPACED.sub(" ", folded)))
    return frozenset(found)


def content_words(query: str) -> tuple[str, ...]:
    """What a query is about, in its order: no operators, short words or words of every sentence."""
    text = _BOOLEAN.sub(" ", _OPERATOR.sub(" ", query))
    found: dict[str, None] = {}
    for piece in re.findall(f"{_UNSPACED.pattern}|{_WORD.pattern}", _folded(text)):
        if _UNSPACED.match(piece):
            found.update(dict.fromkeys(piece[at : at + 2] for at in range(max(1, len(piece) - 1))))
        else:
            for word in _WORD.findall(_UNSPACED.sub(" ", piece)):
                if len(word) >= MIN_LETTERS and word not in _STOP_WORDS:
                    found[word] = None
    return tuple(found)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of common words among all of both."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


def title_key(title: str) -> str:
    """A headline by its letters and digits, without the publisher at its end."""
    return "".join(_WORD.findall(_folded(_PUBLISHER.sub("", title))))


def _folded(text: str) -> str:
    split = unicodedata.normalize("NFKD", text.casefold())
    # Marks above Latin letters go; voiced kana and vowels of other scripts are put together again.
    bare = re.sub("[\u0300-\u036f]", "", split)
    return unicodedata.normalize("NFC", bare).replace("đ", "d")
