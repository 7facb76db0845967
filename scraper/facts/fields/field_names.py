"""Match names of requested fields with labels and attributes of a page, by words, synonyms and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_KINDS = {
    "money": "price cost amount msrp fee salary rent fare total",
    "date": "date published publication posted released release updated created deadline born birthday",
    "phone": "phone telephone tel fax mobile",
    "isbn": "isbn ean gtin",
    "email": "email mail",
    "site": "website site homepage web",
    "number": "count number quantity votes points comments reviews stars rating rank views downloads pages",
    "title": "title name headline model heading",
}
_SYNONYMS = tuple(
    frozenset(row.split())
    for row in (
        "title name headline heading subject",
        "price cost amount msrp",
        "author authors by writer writers byline creator",
        "publisher imprint press",
        "publication published date released release posted updated created",
        "brand manufacturer maker make mfr vendor",
        "phone telephone tel call",
        "address location where city place area region",
        "website site homepage web url www",
        "company employer organization organisation firm hiring",
        "category categories genre genres type kind",
        "cuisine cuisines food",
        "description summary abstract overview",
        "rating rated stars score",
        "director directors directed",
        "height ht",
        "weight wt",
        "fuel economy mpg mileage",
        "engine motor",
        "position pos",
        "school college university",
        "salary pay compensation wage",
        "language languages lang",
        "availability stock available",
        "sku mpn part",
        "comments replies answers",
        "duration length runtime time",
        "ingredients ingredient",
        "instructions steps directions method preparation",
        "image picture photo thumbnail",
    )
)
_FILLERS = frozenset("the of a an and in for to our your is".split())
_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAX_LABEL_WORDS = 8
_MAX_HINT_WORDS = 12


@lru_cache(maxsize=20_000)
def _split_name(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a name such as `isbn_13` or `datePublished` in lower case."""
    return tuple(word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text[:400].replace("#", " number "))))


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
