"""Find the most similar place of a value on a page, by features of all texts of the page."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from scraper.facts.fields.text_leaves import ElementTexts, TextLeaf
from scraper.facts.fields.value_places import (
    ValuePlace,
    compare_labels,
    compare_masks,
    compare_sequences,
    compare_tails,
    compare_texts,
    content_tags,
    mask_of,
    weigh_features,
    word_set,
)
from scraper.html.dom.tags import HEADINGS
from scraper.html.dom.xpath import Element
from scraper.text.likeness import jaccard
from scraper.text.sanitize import name_key

_MAX_TEXT = 60
"""Characters of the text of a neighbor or heading."""
_CONTEXT_LEAVES = 6
"""Leaves before and after whose words are the context."""
_MIN_IN_TITLE, _MAX_IN_TITLE = 3, 300
"""Characters of a text that may be part of the page title."""
_MAX_TAGS = 14
_OUTER = 4
_NEAR_LEAVES = 12
_LABEL = re.compile(r"([^:：]{2,40}?)\s*[:：]\s*\S")
_NAME_ATTRIBUTES = frozenset({"class", "id", "itemprop", "property", "data-testid", "name", "rel"})
_OTHER_ATTRIBUTES = frozenset({"class", "id", "style", "href"})

_Value = TypeVar("_Value", bound=Hashable)
_Floats: TypeAlias = NDArray[np.float64]


class _Column(Generic[_Value]):
    """One feature of all leaves. Each different value is compared once."""

    def __init__(self, values: Iterable[_Value]) -> None:
        numbers: dict[_Value, int] = {}
        self._number_of = np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.intp)
        self._values = list(numbers)

    def __getitem__(self, at: int) -> _Value:
        return self._values[int(self._number_of[at])]

    def rate(self, compare: Callable[[_Value], float]) -> _Floats:
        """Return the result of a comparison for each leaf."""
        rates: _Floats = np.array([compare(value) for value in self._values], dtype=float)
        return rates.take(self._number_of)


class ValuePlaceFinder:
    """Find places on one page."""

    def __init__(self, page: ElementTexts) -> None:
        """Read the leaves."""
        self.page = page
        self.leaves: Sequence[TextLeaf] = page.leaves()
        self._title = name_key(page.page.head.title)

    def place(self, leaf: TextLeaf) -> ValuePlace:
        """Return the place of a leaf."""
        at, features = leaf.number, self._features
        around = [
            *features.words[max(0, at - _CONTEXT_LEAVES) : at],
            *features.words[at + 1 : at + 1 + _CONTEXT_LEAVES],
        ]
        return ValuePlace(
            tags=self._tags(leaf.element),
            names=features.names[at],
            outer=features.outer[at],
            label=features.labels[at],
            before=features.before[at],
            after=features.after[at],
            mask=mask_of(leaf.text),
            size=len(leaf.text),
            position=float(features.positions[at]),
            heading=features.headings[at],
            context=frozenset().union(*around),
            in_title=bool(features.in_title[at]),
            attributes=features.attributes[at],
            index=int(features.indexes[at]),
            is_whole=leaf.is_whole,
        )

    @cached_property
    def _features(self) -> _PageFeatures:
        return _PageFeatures(self.page, self.leaves, self._title)

    def _tags(self, element: Element) -> tuple[str, ...]:
        ancestors = itertools.islice(element.iterancestors(), _MAX_TAGS)
        return (*reversed([str(one.tag) for one in ancestors]), str(element.tag))

    def find(self, known: Sequence[ValuePlace], among: Collection[int] | None = None) -> tuple[float, TextLeaf | None]:
        """Return the similarity of the leaf that is most similar to one of several places of a field, and the leaf.

        The similarity is from 0 to 1. With `among`, only leaves with these numbers are compared.
        """
        weights = weigh_features(known)
        return max((self._find(one, weights, among) for one in known), key=lambda one: one[0])

    def _find(
        self, known: ValuePlace, weights: Mapping[str, float], among: Collection[int] | None
    ) -> tuple[float, TextLeaf | None]:
        if not self.leaves:
            return 0.0, None
        total = sum(weights.values())
        scores = self._features.compare(known, weights)
        bounds = (scores + weights["path"] + weights["content_path"] + weights["mask"]) / total
        if among is None:
            bounds[self._features.sizes > max(400, 4 * known.size)] = -math.inf
        else:
            bounds[[at for at in range(len(self.leaves)) if at not in among]] = -math.inf
        best, found = 0.0, len(self.leaves)
        known_content = content_tags(known.tags)
        for at in np.argsort(-bounds, kind="stable").tolist():
            if bounds[at] < best:
                break
            leaf = self.leaves[at]
            score = float(scores[at]) + weights["mask"] * compare_masks(known.mask, mask_of(leaf.text))
            if (score + weights["path"] + weights["content_path"]) / total < best:
                continue
            tags = self._tags(leaf.element)
            score += weights["content_path"] * compare_sequences(known_content, content_tags(tags))
            score = (score + weights["path"] * compare_sequences(known.tags, tags)) / total
            if score > best or (score == best and at < found):
                best, found = score, at
        return best, self.leaves[found] if found < len(self.leaves) else None


class _PageFeatures:
    """Features of all leaves of a page; each array has one item for each leaf."""

    def __init__(self, page: ElementTexts, leaves: Sequence[TextLeaf], title: str) -> None:
        self._page = page
        self._names: dict[Element, frozenset[str]] = {}
        self._outer: dict[Element | None, frozenset[str]] = {}
        texts = [leaf.text[:_MAX_TEXT] for leaf in leaves]
        self.words = list(map(word_set, texts))
        self.sizes = np.array([len(leaf.text) for leaf in leaves])
        self.positions = np.array([round(leaf.number / max(1, len(leaves)), 4) for leaf in leaves])
        self.tails = _Column(_last_tags(leaf.element) for leaf in leaves)
        self.names = _Column(self._names_of(leaf.element) for leaf in leaves)
        self.outer = _Column(self._outer_names(leaf.element.getparent()) for leaf in leaves)
        self.labels = _Column(_label(leaf.text) for leaf in leaves)
        self.attributes = _Column(_other_attributes(leaf.element) for leaf in leaves)
        self.headings = _Column(_read_headings(leaves, texts))
        neighbors = _Neighbors(page, leaves, texts)
        self.before = _Column(map(neighbors.before, range(len(leaves))))
        self.after = _Column(map(neighbors.after, range(len(leaves))))
        self.in_title = np.array([_is_in(leaf.text, title) for leaf in leaves])
        self.is_whole = np.array([leaf.is_whole for leaf in leaves])
        self.indexes = np.array(_count_earlier_pieces(leaves))
        self._leaves_with: defaultdict[str, list[int]] = defaultdict(list)
        for at, words in enumerate(self.words):
            for word in words:
                self._leaves_with[word].append(at)

    def compare(self, known: ValuePlace, weights: Mapping[str, float]) -> _Floats:
        """Return the weighted similarity of each leaf to a place, without path and pattern."""
        largest = np.maximum(np.maximum(self.sizes, known.size), 1)
        score: _Floats = weights["tail"] * self.tails.rate(lambda seen: compare_tails(known.tags[-3:], seen))
        score += weights["label"] * self.labels.rate(lambda seen: compare_labels(known.label, seen))
        score += weights["names"] * self.names.rate(lambda seen: jaccard(known.names, seen, if_empty=0.5))
        score += weights["outer"] * self.outer.rate(lambda seen: jaccard(known.outer, seen, if_empty=0.5))
        score += weights["tag"] * self.tails.rate(lambda seen: known.tags[-1:] == seen[-1:])
        score += weights["before"] * self.before.rate(lambda seen: compare_texts(known.before, seen))
        score += weights["after"] * self.after.rate(lambda seen: compare_texts(known.after, seen))
        score += weights["size"] * np.minimum(self.sizes, known.size) / largest
        score += weights["position"] * (1.0 - np.minimum(1.0, 4 * np.abs(known.position - self.positions)))
        score += weights["heading"] * self.headings.rate(lambda seen: compare_texts(known.heading, seen))
        score += weights["attributes"] * self.attributes.rate(
            lambda seen: jaccard(known.attributes, seen, if_empty=0.5)
        )
        score += weights["context"] * self._count_context(known.context) / max(1, len(known.context))
        score += weights["in_title"] * (self.in_title == known.in_title)
        score += weights["index"] * ((self.indexes == known.index) & (self.is_whole == known.is_whole))
        return score

    def _count_context(self, words: frozenset[str]) -> _Floats:
        """Return the number of these words in the near leaves of each leaf."""
        count = len(self.words)
        places = [self._leaves_with[word] for word in words if word in self._leaves_with]
        has_word = np.zeros((len(places), count + 1), dtype=np.intp)
        for row, leaves in enumerate(places):
            has_word[row, leaves] = 1
        before = np.zeros_like(has_word)
        np.cumsum(has_word[:, :-1], axis=1, out=before[:, 1:])
        at = np.arange(count)
        first, last = np.maximum(0, at - _CONTEXT_LEAVES), np.minimum(count, at + 1 + _CONTEXT_LEAVES)
        near = before[:, last] - before[:, first] - has_word[:, :-1]
        found: _Floats = (near > 0).sum(axis=0).astype(float)
        return found

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


class _Neighbors:
    """The nearest texts before and after each leaf that do not overlap with it."""

    def __init__(self, page: ElementTexts, leaves: Sequence[TextLeaf], texts: Sequence[str]) -> None:
        self._texts = texts
        self._starts = [page.number[leaf.element] for leaf in leaves]
        self._ends = [
            page.end[start] if leaf.is_whole else start for leaf, start in zip(leaves, self._starts, strict=True)
        ]
        """Number of the first element after a leaf that is the whole text of its element."""

    def before(self, at: int) -> str:
        start = self._starts[at]
        for other in range(at - 1, max(-1, at - 1 - _NEAR_LEAVES), -1):
            if not self._starts[other] <= start < self._ends[other]:
                return self._texts[other]
        return ""

    def after(self, at: int) -> str:
        start, end = self._starts[at], self._ends[at]
        for other in range(at + 1, min(len(self._texts), at + 1 + _NEAR_LEAVES)):
            if not start <= self._starts[other] < end:
                return self._texts[other]
        return ""


def _read_headings(leaves: Sequence[TextLeaf], texts: Sequence[str]) -> Iterable[str]:
    last = ""
    for leaf, text in zip(leaves, texts, strict=True):
        yield last
        parent = leaf.element.getparent()
        if leaf.element.tag in HEADINGS or (parent is not None and parent.tag in HEADINGS):
            last = text


def _count_earlier_pieces(leaves: Sequence[TextLeaf]) -> list[int]:
    counts: Counter[Element] = Counter()
    found: list[int] = []
    for leaf in leaves:
        found.append(counts[leaf.element])
        counts[leaf.element] += not leaf.is_whole
    return found


def _last_tags(element: Element) -> tuple[str, ...]:
    tags: tuple[str, ...] = (str(element.tag),)
    for _ in range(2):
        parent = element.getparent()
        if parent is None:
            break
        element = parent
        tags = (str(element.tag), *tags)
    return tags


def _label(text: str) -> str:
    """Return the text before a colon within a text, in lower case."""
    label = _LABEL.match(text)
    return label[1].lower() if label else ""


def _is_in(text: str, title: str) -> bool:
    own = name_key(text) if title and len(text) <= _MAX_IN_TITLE else ""
    return len(own) >= _MIN_IN_TITLE and own in title


def _other_attributes(element: Element) -> frozenset[str]:
    return frozenset(name for name in map(str, element.keys()) if name not in _OTHER_ATTRIBUTES)


@lru_cache(maxsize=20_000)
def _fold(value: str) -> frozenset[str]:
    return frozenset(re.sub(r"\d+", "0", name.lower()) for name in value[:200].split())


def _names(element: Element) -> frozenset[str]:
    return frozenset().union(*(_fold(value) for name, value in element.items() if value and name in _NAME_ATTRIBUTES))
