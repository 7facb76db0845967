"""Find the most similar place of a value on a page, by many features of all texts of the page.

No single feature is required, so a place is found again after a redesign: its neighbors, label and heading stay the
same if class names and tags change. The method resembles wrapper induction with robust features (Dalvi et al., SIGMOD
2009).
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from difflib import SequenceMatcher
from functools import cache, cached_property, lru_cache
from itertools import islice
from operator import eq
from statistics import fmean
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from scraper.facts.fields.text_leaves import ElementTexts, TextLeaf
from scraper.html.dom.parsing import HEADINGS, Element
from scraper.text.likeness import jaccard
from scraper.text.sanitize import name_key
from scraper.text.terms import DIGITS, LETTERS, split_words

_WEIGHTS: Mapping[str, float] = {
    "tail": 1.0, "names": 1.5, "outer": 1.5, "tag": 0.5, "label": 1.0, "before": 2.0, "after": 1.0,
    "size": 0.3, "position": 0.7, "heading": 0.5, "attributes": 0.3, "index": 0.7, "context": 1.0, "in_title": 0.5,
    "path": 1.0, "content_path": 1.0, "mask": 1.0,
}  # fmt: skip
_MIN_AGREEMENT = 0.2
"""Share of its weight that a feature keeps if the places of several examples differ in it."""
_BOXES = frozenset("html body main article section div span tbody".split())
"""Tags that say nothing about their content. A redesign adds and replaces them most often."""
_MAX_TEXT = 60
"""Characters of the text of a neighbor or heading."""
_CONTEXT_LEAVES = 6
"""Leaves before and after whose words are the context."""
_MIN_IN_TITLE, _MAX_IN_TITLE = 3, 300
"""Characters of a text that may be part of the page title."""
_MAX_TAGS = 14
_MAX_STORED, _MAX_STORED_TEXTS = 400, 200
"""Characters of a text of a stored place, and texts of a list, that are read."""
_OUTER = 4
_NEAR_LEAVES = 12
_LABEL = re.compile(r"([^:：]{2,40}?)\s*[:：]\s*\S")
_NAME_ATTRIBUTES = frozenset({"class", "id", "itemprop", "property", "data-testid", "name", "rel"})
_OTHER_ATTRIBUTES = frozenset({"class", "id", "style", "href"})
_T = TypeVar("_T")


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
    prefix: str = ""
    """Text before the value of a field, if the text of the place is longer than the value."""
    suffix: str = ""
    """Text after it."""

    def feature(self, name: str) -> Any:
        """Return the feature with a name of `_WEIGHTS`."""
        if name in ("tail", "tag"):
            return self.tags[-3:] if name == "tail" else self.tags[-1:]
        if name in ("path", "content_path"):
            return self.tags if name == "path" else _content_tags(self.tags)
        return (self.index, self.is_whole) if name == "index" else getattr(self, name)

    def as_data(self) -> dict[str, Any]:
        """Return the features as JSON-serializable data."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: sorted(v) if isinstance(v, frozenset) else v for name, v in values.items()}


def parse_stored(cls: type[_T], data: Mapping[str, Any]) -> _T:
    """Return an instance of a data class whose fields are texts, numbers, and lists of texts, from JSON.

    Raises:
        ValueError: The data has another format.
    """
    values: dict[str, Any] = {}
    for one in (one for one in fields(cast("Any", cls)) if one.default is MISSING or one.name in data):
        value, kind = data.get(one.name), one.type.__name__ if isinstance(one.type, type) else str(one.type)
        if kind.startswith(("frozenset", "tuple")):
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise ValueError(f"{one.name} is not a list of texts")
            values[one.name] = (frozenset if kind.startswith("frozenset") else tuple)(value[:_MAX_STORED_TEXTS])
            continue
        expected: tuple[type, ...] = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}[kind]
        if not isinstance(value, expected) or (kind != "bool" and isinstance(value, bool)):
            raise ValueError(f"{one.name} is not {kind}")
        values[one.name] = value[:_MAX_STORED] if isinstance(value, str) else value
    return cls(**values)


def _weigh_features(known: Sequence[ValuePlace]) -> Mapping[str, float]:
    """Return the weights of the features for the places of a field in several examples."""
    if len(known) < 2:
        return _WEIGHTS
    pairs = [(one, other) for one in known for other in known if one is not other]
    own = [_compare_places(one, one) for one in known]
    both = [_compare_places(*pair) for pair in pairs]
    return {
        name: weight * max(_MIN_AGREEMENT, fmean(one[name] for one in both) / fmean(one[name] for one in own))
        for name, weight in _WEIGHTS.items()
    }


def _compare_places(known: ValuePlace, seen: ValuePlace) -> dict[str, float]:
    """Return the similarity of each feature of two places, from 0 to 1; a different label has -.5."""
    return {name: float(_COMPARISONS[name](known.feature(name), seen.feature(name))) for name in _WEIGHTS}


def _compare_tails(known: tuple[str, ...], seen: tuple[str, ...]) -> float:
    return 1.0 if known == seen else 0.5 if known[-2:] == seen[-2:] else 0.0


def _compare_labels(known: str, seen: str) -> float:
    """Return the similarity of two labels; that of two places without a label is .3, of different labels -.5."""
    return (1.0 if known else 0.3) if known == seen else -0.5


def _compare_masks(known: str, seen: str) -> float:
    return 1.0 if known == seen else 0.5 * _compare_sequences(known, seen)


def _compare_texts(known: str, seen: str) -> float:
    if known == seen:
        return 1.0 if known else 0.5
    if not known or not seen:
        return 0.0
    return 0.8 * jaccard(_word_set(known), _word_set(seen))


def _compare_names(known: frozenset[str], seen: frozenset[str]) -> float:
    return jaccard(known, seen, if_empty=0.5)


@lru_cache(maxsize=20_000)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(split_words(text.replace("_", " ")))


@lru_cache(maxsize=20_000)
def _content_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if tag not in _BOXES)


@lru_cache(maxsize=20_000)
def _compare_sequences(known: Sequence[str], seen: Sequence[str]) -> float:
    return 1.0 if known == seen else SequenceMatcher(None, known, seen, autojunk=False).ratio()


@lru_cache(maxsize=20_000)
def _mask_of(text: str) -> str:
    """Return the pattern of a text: `$9.9` for `$24.90`, `A-9` for `K-24`, `W` for several words."""
    form = DIGITS.sub("9", text[:80])
    form = LETTERS.sub(lambda run: "A" if run[0].isupper() else "C" if run[0][0].isupper() else "a", form)
    return re.sub(r"(?:[ACa][\s,.'-]*){2,}", "W", form)[:24]


_COMPARISONS: Mapping[str, Callable[[Any, Any], float]] = {
    "tail": _compare_tails, "tag": eq, "names": _compare_names, "outer": _compare_names, "attributes": _compare_names,
    "label": _compare_labels, "before": _compare_texts, "after": _compare_texts, "heading": _compare_texts,
    "path": _compare_sequences, "content_path": _compare_sequences, "mask": _compare_masks,
    "index": eq, "in_title": eq,
    "size": lambda known, seen: min(known, seen) / max(known, seen, 1),
    "position": lambda known, seen: 1.0 - min(1.0, 4 * abs(known - seen)),
    "context": lambda known, seen: len(known & seen) / max(1, len(known)),
}  # fmt: skip
_SLOW = ("path", "content_path", "mask")
"""Features that are compared last, on the leaves that may be the most similar ones."""


class ValuePlaceFinder:
    """Find places on one page."""

    def __init__(self, page: ElementTexts) -> None:
        """Read the leaves."""
        self.page = page
        self.leaves: Sequence[TextLeaf] = page.leaves()

    def place(self, leaf: TextLeaf) -> ValuePlace:
        """Return the place of a leaf."""
        return self._places[leaf.number]

    @cached_property
    def _places(self) -> list[ValuePlace]:
        return list(_read_places(self.page, self.leaves))

    @cached_property
    def _columns(self) -> Mapping[str, tuple[list[Any], NDArray[np.intp]]]:
        """The different values of each feature, and the number of that of each leaf."""
        columns = {}
        for feature in _WEIGHTS:
            numbers: dict[Any, int] = {}
            number_of = [numbers.setdefault(one.feature(feature), len(numbers)) for one in self._places]
            columns[feature] = list(numbers), np.array(number_of, dtype=np.intp)
        return columns

    def _compare(self, known: ValuePlace, feature: str) -> NDArray[np.float64]:
        """Return the similarity of a feature of each leaf to that of a place; each different value is compared once."""
        values, number_of = self._columns[feature]
        compare, own = _COMPARISONS[feature], known.feature(feature)
        return np.array([compare(own, value) for value in values], dtype=float).take(number_of)

    def find(self, known: Sequence[ValuePlace], among: Collection[int] | None = None) -> tuple[float, TextLeaf | None]:
        """Return the similarity of the leaf that is most similar to one of several places of a field, and the leaf.

        The similarity is from 0 to 1. With `among`, only leaves with these numbers are compared.
        """
        weights = _weigh_features(known)
        return max((self._find(one, weights, among) for one in known), key=lambda one: one[0])

    def _find(
        self, known: ValuePlace, weights: Mapping[str, float], among: Collection[int] | None
    ) -> tuple[float, TextLeaf | None]:
        if not self.leaves:
            return 0.0, None
        fast = sum(weights[name] * self._compare(known, name) for name in weights if name not in _SLOW)
        scores = np.asarray(fast)
        total, slow = sum(weights.values()), sum(weights[name] for name in _SLOW)
        best, found = 0.0, len(self.leaves)
        for at in np.argsort(-scores, kind="stable").tolist():
            if (scores[at] + slow) / total < best:
                break
            place = self._places[at]
            if at in among if among is not None else place.size <= max(400, 4 * known.size):
                rates = (weights[name] * _COMPARISONS[name](known.feature(name), place.feature(name)) for name in _SLOW)
                score = (float(scores[at]) + sum(rates)) / total
                if score > best or (score == best and at < found):
                    best, found = score, at
        return best, self.leaves[found] if found < len(self.leaves) else None


def _read_places(page: ElementTexts, leaves: Sequence[TextLeaf]) -> Iterator[ValuePlace]:
    names, tags = cache(_names), cache(_tags)
    outer = cache(lambda one: frozenset().union(*map(names, islice(one.iterancestors(), _OUTER))))
    texts = [leaf.text[:_MAX_TEXT] for leaf in leaves]
    words = list(map(_word_set, texts))
    title = name_key(page.page.head.title)
    features = zip(leaves, _read_neighbors(page, leaves, texts), _read_headings(leaves, texts), strict=True)
    indexes: Counter[Element] = Counter()
    for at, (leaf, (before, after), heading) in enumerate(features):
        element, label = leaf.element, _LABEL.match(leaf.text)
        around = words[max(0, at - _CONTEXT_LEAVES) : at] + words[at + 1 : at + 1 + _CONTEXT_LEAVES]
        own = name_key(leaf.text) if title and len(leaf.text) <= _MAX_IN_TITLE else ""
        yield ValuePlace(
            tags=tags(element),
            names=names(element),
            outer=outer(element),
            label=label[1].lower() if label else "",
            before=before,
            after=after,
            mask=_mask_of(leaf.text),
            size=len(leaf.text),
            position=round(at / len(leaves), 4),
            heading=heading,
            context=frozenset().union(*around),
            in_title=len(own) >= _MIN_IN_TITLE and own in title,
            attributes=frozenset(map(str, element.keys())) - _OTHER_ATTRIBUTES,
            index=indexes[element],
            is_whole=leaf.is_whole,
        )
        indexes[element] += not leaf.is_whole


def _read_neighbors(page: ElementTexts, leaves: Sequence[TextLeaf], texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield for each leaf the nearest texts before and after it that do not overlap with it."""
    starts = [page.number[leaf.element] for leaf in leaves]
    ends = [page.end[start] if leaf.is_whole else start for leaf, start in zip(leaves, starts, strict=True)]

    def is_within(inner: int, outer: int) -> bool:
        return starts[outer] <= starts[inner] < ends[outer]

    for at in range(len(leaves)):
        before = (texts[one] for one in range(at - 1, max(-1, at - 1 - _NEAR_LEAVES), -1) if not is_within(at, one))
        after = (texts[one] for one in range(at + 1, min(len(texts), at + 1 + _NEAR_LEAVES)) if not is_within(one, at))
        yield next(before, ""), next(after, "")


def _read_headings(leaves: Sequence[TextLeaf], texts: Sequence[str]) -> Iterable[str]:
    last = ""
    for leaf, text in zip(leaves, texts, strict=True):
        yield last
        parent = leaf.element.getparent()
        if leaf.element.tag in HEADINGS or (parent is not None and parent.tag in HEADINGS):
            last = text


def _tags(element: Element) -> tuple[str, ...]:
    return (*reversed([str(one.tag) for one in islice(element.iterancestors(), _MAX_TAGS)]), str(element.tag))


@lru_cache(maxsize=20_000)
def _fold(value: str) -> frozenset[str]:
    return frozenset(DIGITS.sub("0", name.lower()) for name in value[:200].split())


def _names(element: Element) -> frozenset[str]:
    return frozenset().union(*(_fold(value) for name, value in element.items() if value and name in _NAME_ATTRIBUTES))
