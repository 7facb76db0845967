"""Describe the place of a value by many features, and find the most similar place on another page.

No single feature is required, so a place is found again after a redesign: its neighbors, label and heading stay the
same if class names and tags change. The method resembles wrapper induction with robust features (Dalvi et al., SIGMOD
2009).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from scraper.extract.dom.tags import HEADINGS
from scraper.extract.dom.xpath import Element
from scraper.extract.fields.text_leaves import ElementTexts, TextLeaf
from scraper.extract.text.sanitize import name_key

PATH, CONTENT_PATH, MASK = 1.0, 1.0, 1.0
"""Weights of the features that are compared last, because their comparison is slow."""
_WEIGHTS = {
    "tail": 1.0, "names": 1.5, "outer": 1.5, "tag": 0.5, "label": 1.0, "before": 2.0, "after": 1.0,
    "size": 0.3, "position": 0.7, "heading": 0.5, "attributes": 0.3, "index": 0.7, "context": 1.0, "in_title": 0.5,
}  # fmt: skip
_TOTAL = sum(_WEIGHTS.values()) + PATH + CONTENT_PATH + MASK

_BOXES = frozenset("html body main article section div span tbody".split())
"""Tags that say nothing about their content. A redesign adds and replaces them most often."""
_MAX_TEXT = 60
_CONTEXT_LEAVES = 6
"""Leaves before and after whose words are the context."""
_MIN_IN_TITLE, _MAX_IN_TITLE = 3, 300
"""Characters of a text that may be part of the page title."""
_MAX_TAGS = 14
_OUTER = 4
_NEAR_LEAVES = 12
_LABEL = re.compile(r"([^:：]{2,40}?)\s*[:：]\s*\S")
_WORD = re.compile(r"[^\W_]+")
_NAME_ATTRIBUTES = ("class", "id", "itemprop", "property", "data-testid", "name", "rel")
_OTHER_ATTRIBUTES = frozenset({"class", "id", "style", "href"})


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """Features of the place of a text on a page."""

    tags: tuple[str, ...]
    """Tags of the ancestors from the root down, then of the element."""
    names: frozenset[str]
    """Class names, ids and similar attributes of the element, with digits replaced."""
    outer: frozenset[str]
    """Names of the four nearest ancestors."""
    label: str
    """Text before a colon within the value's own text."""
    before: str
    """Beginning of the nearest text before this one."""
    after: str
    """Beginning of the nearest text after this one."""
    mask: str
    """Pattern of the text, such as `$9.9` or `A-9`."""
    size: int
    """Characters of the text."""
    position: float
    """Share of the page's texts that come before this one, from 0 to 1."""
    heading: str
    """Beginning of the nearest heading before the text."""
    context: frozenset[str]
    """Words of the near texts before and after this one."""
    in_title: bool
    """True if the page title contains the text."""
    attributes: frozenset[str]
    """Names of the other attributes of the element."""
    index: int
    """Number of text pieces of the same element before this one."""
    is_whole: bool

    def as_data(self) -> dict[str, Any]:
        """Return the features as JSON-serializable data."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: sorted(v) if isinstance(v, frozenset) else v for name, v in values.items()}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> ValuePlace:
        """Parse the result of `as_data`.

        Raises:
            ValueError: The data has another format.
        """
        values: dict[str, Any] = {}
        for one in fields(cls):
            value, kind = data.get(one.name), str(one.type)
            if kind.startswith(("frozenset", "tuple")):
                if not isinstance(value, list) or not all(isinstance(item, str) for item in value[:200]):
                    raise ValueError(f"{one.name} is no list of texts")
                short = [item[:100] for item in value[:200]]
                values[one.name] = frozenset(short) if kind.startswith("frozenset") else tuple(short)
                continue
            expected: tuple[type, ...] = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}[kind]
            if not isinstance(value, expected) or (kind != "bool" and isinstance(value, bool)):
                raise ValueError(f"{one.name} is no {kind}")
            values[one.name] = value[:100] if isinstance(value, str) else value
        return cls(**values)


class ValuePlaceFinder:
    """Find places on one page."""

    def __init__(self, page: ElementTexts) -> None:
        """Read the leaves, and the heading before each."""
        self.page = page
        self.leaves: Sequence[TextLeaf] = page.leaves()
        self._places: dict[int, ValuePlace] = {}
        self._title = name_key(page.page.head.title)
        self._words = [_word_set(leaf.text[:_MAX_TEXT]) for leaf in self.leaves]
        self._headings = self._read_headings()
        self._indexes = self._count_earlier_pieces()
        self._names: dict[Element, frozenset[str]] = {}
        self._outer: dict[Element | None, frozenset[str]] = {}

    def _read_headings(self) -> list[str]:
        found: list[str] = []
        last = ""
        for leaf in self.leaves:
            found.append(last)
            parent = leaf.element.getparent()
            if leaf.element.tag in HEADINGS or (parent is not None and parent.tag in HEADINGS):
                last = leaf.text[:_MAX_TEXT]
        return found

    def _count_earlier_pieces(self) -> list[int]:
        counts: Counter[Element] = Counter()
        found: list[int] = []
        for leaf in self.leaves:
            found.append(counts[leaf.element])
            counts[leaf.element] += not leaf.is_whole
        return found

    def place(self, leaf: TextLeaf) -> ValuePlace:
        """Return the place of a leaf."""
        known = self._places.get(leaf.number)
        if known is None:
            known = self._places[leaf.number] = self._describe(leaf)
        return known

    def _describe(self, leaf: TextLeaf) -> ValuePlace:
        element = leaf.element
        ancestors = list(element.iterancestors())[:_MAX_TAGS]
        label = _LABEL.match(leaf.text)
        return ValuePlace(
            tags=(*(str(one.tag) for one in reversed(ancestors)), str(element.tag)),
            names=self._names_of(element),
            outer=self._outer_names(element.getparent()),
            label=label[1].lower() if label else "",
            before=self._neighbor(leaf, -1),
            after=self._neighbor(leaf, 1),
            mask=_mask(leaf.text),
            size=len(leaf.text),
            position=round(leaf.number / max(1, len(self.leaves)), 4),
            heading=self._headings[leaf.number],
            context=self._context(leaf.number),
            in_title=self._is_in_title(leaf.text),
            attributes=frozenset(str(name) for name in element.attrib if name not in _OTHER_ATTRIBUTES),
            index=self._indexes[leaf.number],
            is_whole=leaf.is_whole,
        )

    def _names_of(self, element: Element) -> frozenset[str]:
        known = self._names.get(element)
        if known is None:
            known = self._names[element] = _names(element)
        return known

    def _outer_names(self, parent: Element | None) -> frozenset[str]:
        """Return the names of an element and its nearest ancestors."""
        known = self._outer.get(parent)
        if known is None:
            near = [] if parent is None else [parent, *itertools.islice(parent.iterancestors(), _OUTER - 1)]
            known = self._outer[parent] = frozenset().union(*map(self._names_of, near))
        return known

    def _context(self, number: int) -> frozenset[str]:
        before = self._words[max(0, number - _CONTEXT_LEAVES) : number]
        return frozenset().union(*before, *self._words[number + 1 : number + 1 + _CONTEXT_LEAVES])

    def _is_in_title(self, text: str) -> bool:
        own = name_key(text) if len(text) <= _MAX_IN_TITLE else ""
        return len(own) >= _MIN_IN_TITLE and own in self._title

    def _neighbor(self, leaf: TextLeaf, step: int) -> str:
        """Return the nearest text before (-1) or after (1) a leaf that does not overlap with it."""
        for distance in range(1, _NEAR_LEAVES + 1):
            at = leaf.number + step * distance
            if not 0 <= at < len(self.leaves):
                return ""
            other = self.leaves[at]
            if step < 0:
                is_same = other.is_whole and self._contains(other.element, leaf.element)
            else:
                is_same = self._contains(leaf.element, other.element) and leaf.is_whole
            if not is_same:
                return other.text[:_MAX_TEXT]
        return ""

    def _contains(self, outer: Element, inner: Element) -> bool:
        number, end = self.page.number, self.page.end
        return number[outer] <= number[inner] < end[number[outer]]

    def find(self, known: ValuePlace) -> tuple[float, TextLeaf | None]:
        """Return the similarity of the most similar leaf, from 0 to 1, and the leaf."""
        best, found = -1.0, None
        longest = max(400, 4 * known.size)
        for leaf in self.leaves:
            if len(leaf.text) > longest:
                continue
            seen = self.place(leaf)
            score = _compare_cheap(known, seen)
            if (score + PATH + CONTENT_PATH + MASK) / _TOTAL <= best:
                continue
            score += MASK * (1.0 if known.mask == seen.mask else 0.5 * _similar(known.mask, seen.mask))
            if (score + PATH + CONTENT_PATH) / _TOTAL <= best:
                continue
            score += CONTENT_PATH * _similar(_content_tags(known.tags), _content_tags(seen.tags))
            score = (score + PATH * _similar(known.tags, seen.tags)) / _TOTAL
            if score > best:
                best, found = score, leaf
        return max(0.0, best), found


def _compare_cheap(known: ValuePlace, seen: ValuePlace) -> float:
    weights = _WEIGHTS
    tail = 1.0 if known.tags[-3:] == seen.tags[-3:] else 0.5 if known.tags[-2:] == seen.tags[-2:] else 0.0
    label = (1.0 if known.label else 0.3) if known.label == seen.label else -0.5
    score = weights["tail"] * tail + weights["label"] * label
    score += weights["names"] * _overlap(known.names, seen.names) + weights["outer"] * _overlap(known.outer, seen.outer)
    score += weights["tag"] * (known.tags[-1:] == seen.tags[-1:])
    score += weights["before"] * _same_words(known.before, seen.before)
    score += weights["after"] * _same_words(known.after, seen.after)
    score += weights["size"] * min(known.size, seen.size) / max(known.size, seen.size, 1)
    score += weights["position"] * (1.0 - min(1.0, 4 * abs(known.position - seen.position)))
    score += weights["heading"] * _same_words(known.heading, seen.heading)
    score += weights["attributes"] * _overlap(known.attributes, seen.attributes)
    score += weights["context"] * len(known.context & seen.context) / max(1, len(known.context))
    score += weights["in_title"] * (known.in_title == seen.in_title)
    return score + weights["index"] * (known.index == seen.index and known.is_whole == seen.is_whole)


def _overlap(known: frozenset[str], seen: frozenset[str]) -> float:
    if not known and not seen:
        return 0.5
    both = len(known & seen)
    return both / (len(known) + len(seen) - both)


def _same_words(known: str, seen: str) -> float:
    if known == seen:
        return 1.0 if known else 0.5
    if not known or not seen:
        return 0.0
    return 0.8 * _overlap(_word_set(known), _word_set(seen))


@lru_cache(maxsize=20_000)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


@lru_cache(maxsize=20_000)
def _content_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if tag not in _BOXES)


@lru_cache(maxsize=20_000)
def _similar(known: Sequence[str], seen: Sequence[str]) -> float:
    return 1.0 if known == seen else SequenceMatcher(None, known, seen, autojunk=False).ratio()


@lru_cache(maxsize=20_000)
def _fold(value: str) -> frozenset[str]:
    return frozenset(re.sub(r"\d+", "0", name.lower()) for name in value[:200].split())


def _names(element: Element) -> frozenset[str]:
    return frozenset().union(*(_fold(value) for name in _NAME_ATTRIBUTES if (value := element.get(name))))


@lru_cache(maxsize=20_000)
def _mask(text: str) -> str:
    """Return the pattern of a text: `$9.9` for `$24.90`, `A-9` for `K-24`, `W` for several words."""
    form = re.sub(r"\d+", "9", text[:80])
    form = re.sub(r"[^\W\d_]+", lambda run: "A" if run[0].isupper() else "C" if run[0][0].isupper() else "a", form)
    return re.sub(r"(?:[ACa][\s,.'-]*){2,}", "W", form)[:24]
