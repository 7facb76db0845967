"""Match names of requested fields with labels and attributes of a page, by words, synonyms and numbers."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from scraper.facts.money import MONEY
from scraper.text.date_parsing import find_date
from scraper.text.terms import CAMEL_CASE
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

TABLE = read_table(__package__, "field_words.toml")
_KINDS: Mapping[str, str] = TABLE["kinds"]
_TITLES = frozenset({"title", "name", "headline", "heading"})
_SYNONYMS = tuple(frozenset(row.split()) for row in TABLE["synonyms"])
_FILLERS = frozenset("the of a an and in for to our your is".split())
_WORD = re.compile(r"[^\W\d_]+|\d+")
_MAX_LABEL_WORDS = 8
_MAX_HINT_WORDS = 12


@lru_cache(maxsize=20_000)
def _split_name(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(CAMEL_CASE.sub(" ", text[:400].replace("#", " number "))))


class FieldName:
    """Name and hint of a requested field."""

    def __init__(self, name: str, hint: str = "") -> None:
        """Split the name into words, and derive the format of its values."""
        self.name = name
        words = _split_name(name)
        self._numbers = frozenset(word for word in words if word.isdigit())
        self._words = tuple(word for word in words if not word.isdigit()) or words
        self._hint = _split_name(hint)[:_MAX_HINT_WORDS]
        known = (*self._words, *self._hint)
        self.kind = next((kind for kind, row in _KINDS.items() if set(row.split()).intersection(known)), "")
        """Format of the values, one of `value_formats`; empty for any format."""
        if self.kind == "money" and "time" in words:
            self.kind = ""
        if self.kind == "isbn" and "13" in self._numbers:
            self.kind = "isbn_13"
        self.is_title = not _TITLES.isdisjoint(words)
        """True if the name is a word for the title of the page."""
        self._synonyms = frozenset().union(*(row for row in _SYNONYMS if row.intersection(known))) - set(self._words)
        self._cache: dict[str, float] = {}

    def match(self, label: str) -> float:
        """Return the similarity of a label to the field name, from 0 to 1."""
        score = self._cache.get(label)
        if score is None:
            score = self._cache[label] = self._match(_split_name(label))
        return score

    def _match(self, label: Sequence[str]) -> float:
        if not label or len(label) > _MAX_LABEL_WORDS or not self._words:
            return 0.0
        words = [word for word in label if word not in _FILLERS] or label
        hits = sum(any(_is_same(own, word) for word in words) for own in self._words)
        score = hits / len(self._words) * (hits / len(words)) ** 0.5 if hits else 0.0
        hinted = sum(any(_is_same(own, word) for word in words) for own in self._hint)
        if hinted:
            share = min(1.0, hinted / min(len(self._hint), len(words)))
            score = max(score, 0.95 * share * min(1.0, hinted / len(words)) ** 0.5)
        similar = sum(word in self._synonyms for word in words)
        if similar:
            score = max(score, min(1.0, 0.7 * (similar + hits) / len(words)))
        numbers = {word for word in label if word.isdigit()}
        if self._numbers and numbers:
            score *= 1.15 if numbers & self._numbers else 0.4
        return min(1.0, score)


def _is_same(own: str, other: str) -> bool:
    """Return True if two words are equal except for their ending."""
    if own == other:
        return True
    shorter = min(len(own), len(other))
    return shorter >= 3 and (
        own.rstrip("s") == other.rstrip("s") or (shorter >= 5 and own[: shorter - 1] == other[: shorter - 1])
    )


_PATTERNS: Mapping[str, re.Pattern[str] | WordPattern] = {"money": MONEY} | {
    kind: re.compile("|".join(patterns), re.IGNORECASE) for kind, patterns in TABLE["formats"].items()
}
"""Pattern of each format."""


def rate_format(kind: str, text: str) -> float:
    """Return the fit of a text to a format, from -1 (does not contain it) to 1 (is a value of it).

    Return 0 for an unknown format.
    """
    if kind == "number":
        return 0.6 if any(map(str.isdecimal, text)) and len(text) < 40 else -0.8
    if kind == "title":
        return 0.1 if 2 < len(text) < 200 and not MONEY.fullmatch(text) else -0.5
    if kind not in _PATTERNS:
        return 0.0
    match = _PATTERNS[kind].search(text[:400])
    if match is None:
        return 0.1 if kind == "money" and not text.strip("0123456789.,' ") else -1.0
    return 1.0 if len(match[0]) >= TABLE["shares"][kind] * len(text) else 0.4


def find_day(text: str) -> str:
    """Return the first text in the form of a date as written there; empty if there is none or it is not a date."""
    match = _PATTERNS["date"].search(text)
    return match[0] if match and (find_date(match[0]) or "ago" in match[0].lower()) else ""
