"""Score the text of one page as numerators and denominators, so that figures of many pages are ratios of sums."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from benchmarks.training.pages import Sample

Counts = dict[str, tuple[float, float]]
"""Numerator and denominator of each figure."""

_NEWS = "fundus"
"""Part of the origin name of news: the project whose parser tests they are."""

_CHARACTER_LANGUAGES = frozenset("zh ja th my km lo wuu yue".split())
_WHITE = re.compile(r"\s+")
_WORDS = re.compile(r"\w+")
_RUN = 4


def is_news(sample: Sample) -> bool:
    """Return True for news in a language with spaces: without spaces, four "words" would be a paragraph."""
    return _NEWS in sample.origin and bool(sample.gold) and sample.language not in _CHARACTER_LANGUAGES


def foreign_counts(sample: Sample, text: str) -> Counts:
    """Return F1 over words or characters, or the F1 of expected phrases and the share of phrases kept out."""
    if sample.gold:
        return {"lang.f1": (_bag_f1(text, sample.gold, sample.language), 1.0)}
    squashed = _squash(text)
    found = sum(_squash(phrase) in squashed for phrase in sample.wanted)
    leaked = sum(_squash(phrase) in squashed for phrase in sample.unwanted)
    kept_out = len(sample.unwanted) - leaked
    return {
        "lang.phrases": (2.0 * found, float(found + len(sample.wanted) + leaked)),
        "lang.kept_out": (float(kept_out), float(len(sample.unwanted))),
    }


def news_counts(sample: Sample, text: str) -> Counts:
    """Return precision and recall over runs of four words."""
    ours, theirs = _shingles(text), _shingles(sample.gold)
    shared = (ours & theirs).total()
    return {
        "news.precision": (shared / max(ours.total(), 1), 1.0),
        "news.recall": (shared / max(theirs.total(), 1), 1.0),
    }


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    """Return the runs of four words; a shorter text is one run."""
    words = _WORDS.findall(text)
    return Counter(tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)))


def _bag_f1(text: str, gold: str, language: str) -> float:
    pattern = r"\w" if language in _CHARACTER_LANGUAGES else r"\w+"
    ours, theirs = (Counter(re.findall(pattern, unicodedata.normalize("NFKC", each).lower())) for each in (text, gold))
    return 2 * (ours & theirs).total() / max(ours.total() + theirs.total(), 1)


def _squash(text: str) -> str:
    return _WHITE.sub("", unicodedata.normalize("NFKC", text)).lower()
