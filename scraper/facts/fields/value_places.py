"""Describe the place of a value by many features, and compare the places of two values.

No single feature is required, so a place is found again after a redesign: its neighbors, label and heading stay the
same if class names and tags change. The method resembles wrapper induction with robust features (Dalvi et al., SIGMOD
2009).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from functools import lru_cache
from statistics import fmean
from typing import Any

from scraper.text.likeness import jaccard
from scraper.text.terms import split_words

_WEIGHTS: Mapping[str, float] = {
    "tail": 1.0, "names": 1.5, "outer": 1.5, "tag": 0.5, "label": 1.0, "before": 2.0, "after": 1.0,
    "size": 0.3, "position": 0.7, "heading": 0.5, "attributes": 0.3, "index": 0.7, "context": 1.0, "in_title": 0.5,
    "path": 1.0, "content_path": 1.0, "mask": 1.0,
}  # fmt: skip
"""Weights of the features."""
_MIN_AGREEMENT = 0.2
"""Share of its weight that a feature keeps if the places of several examples differ in it."""

_BOXES = frozenset("html body main article section div span tbody".split())
"""Tags that say nothing about their content. A redesign adds and replaces them most often."""


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
                    raise ValueError(f"{one.name} is not a list of texts")
                short = [item[:100] for item in value[:200]]
                values[one.name] = frozenset(short) if kind.startswith("frozenset") else tuple(short)
                continue
            expected: tuple[type, ...] = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}[kind]
            if not isinstance(value, expected) or (kind != "bool" and isinstance(value, bool)):
                raise ValueError(f"{one.name} is not {kind}")
            values[one.name] = value[:100] if isinstance(value, str) else value
        return cls(**values)


def weigh_features(known: Sequence[ValuePlace]) -> Mapping[str, float]:
    """Return the weights of the features for the places of a field in several examples.

    Features in which the places differ have less weight.
    """
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
    return {
        "tail": compare_tails(known.tags[-3:], seen.tags[-3:]),
        "names": jaccard(known.names, seen.names, if_empty=0.5),
        "outer": jaccard(known.outer, seen.outer, if_empty=0.5),
        "tag": float(known.tags[-1:] == seen.tags[-1:]),
        "label": compare_labels(known.label, seen.label),
        "before": compare_texts(known.before, seen.before),
        "after": compare_texts(known.after, seen.after),
        "size": min(known.size, seen.size) / max(known.size, seen.size, 1),
        "position": 1.0 - min(1.0, 4 * abs(known.position - seen.position)),
        "heading": compare_texts(known.heading, seen.heading),
        "attributes": jaccard(known.attributes, seen.attributes, if_empty=0.5),
        "index": float(known.index == seen.index and known.is_whole == seen.is_whole),
        "context": len(known.context & seen.context) / max(1, len(known.context)),
        "in_title": float(known.in_title == seen.in_title),
        "path": compare_sequences(known.tags, seen.tags),
        "content_path": compare_sequences(content_tags(known.tags), content_tags(seen.tags)),
        "mask": compare_masks(known.mask, seen.mask),
    }


def compare_tails(known: tuple[str, ...], seen: tuple[str, ...]) -> float:
    """Return the similarity of the last three tags of two places."""
    return 1.0 if known == seen else 0.5 if known[-2:] == seen[-2:] else 0.0


def compare_labels(known: str, seen: str) -> float:
    """Return the similarity of two labels; that of two places without a label is .3, of different labels -.5."""
    return (1.0 if known else 0.3) if known == seen else -0.5


def compare_masks(known: str, seen: str) -> float:
    """Return the similarity of two patterns of texts."""
    return 1.0 if known == seen else 0.5 * compare_sequences(known, seen)


def compare_texts(known: str, seen: str) -> float:
    """Return the similarity of the words of two texts; .5 if both are empty."""
    if known == seen:
        return 1.0 if known else 0.5
    if not known or not seen:
        return 0.0
    return 0.8 * jaccard(word_set(known), word_set(seen))


@lru_cache(maxsize=20_000)
def word_set(text: str) -> frozenset[str]:
    """Return the words of a text in lower case."""
    return frozenset(split_words(text.replace("_", " ")))


@lru_cache(maxsize=20_000)
def content_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags without boxes such as `div`."""
    return tuple(tag for tag in tags if tag not in _BOXES)


@lru_cache(maxsize=20_000)
def compare_sequences(known: Sequence[str], seen: Sequence[str]) -> float:
    """Return the similarity of two texts, or of two sequences of tags."""
    return 1.0 if known == seen else SequenceMatcher(None, known, seen, autojunk=False).ratio()


@lru_cache(maxsize=20_000)
def mask_of(text: str) -> str:
    """Return the pattern of a text: `$9.9` for `$24.90`, `A-9` for `K-24`, `W` for several words."""
    form = re.sub(r"\d+", "9", text[:80])
    form = re.sub(r"[^\W\d_]+", lambda run: "A" if run[0].isupper() else "C" if run[0][0].isupper() else "a", form)
    return re.sub(r"(?:[ACa][\s,.'-]*){2,}", "W", form)[:24]
