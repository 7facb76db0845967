"""Hash the names and words of blocks into buckets, and compute a linear score from them.

There are four groups: the names of the element, the names of all its ancestors, the words of the block, and the words
of the heading before it. The weight of a class or word is learned.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, count
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import hash_class_names
from scraper.extract.content.page_statistics import FloatArray, IntArray, PageStatistics

_BITS = 17
BUCKETS = 1 << _BITS
"""Number of buckets, and of weights of the linear model."""

SCORE_NAMES = ("own", "around", "text", "heading", "least", "above", "all")
"""Columns of the linear model, which are sums of learned weights.

`least` is the least `around` score of the element and its ancestors, at most 0. `above` is the `around` score of the
parent. `all` is the sum of the four groups.
"""

_DIGITS = re.compile(r"\d")
_HEAD_WORDS = 12
_TAIL_WORDS = 4
_PAIRS = 6
_WHOLE_WORDS = 7
_HEADING_WORDS = 8
_MAX_INLINE_TOKENS = 6
_NO_HEADING = -1

_Codes = NDArray[np.uint64]
_OWN, _AROUND, _INLINE, _START, _END, _PAIR, _WHOLE, _TITLE, _TITLE_WHOLE = (
    np.uint64(crc32(name) * 0x100000001B3 % 2**64)
    for name in (b"own", b"around", b"inline", b"start", b"end", b"pair", b"whole", b"t", b"tw")
)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(0x100000001B3)


@dataclass(frozen=True, slots=True)
class FeatureGroup:
    """Buckets of one group of features, and for each bucket the row that it belongs to."""

    rows: IntArray
    buckets: IntArray


@dataclass(frozen=True, slots=True)
class HashedFeatures:
    """All buckets of a page. Rows of `own` and `around` are distinct element names; rows of the others are blocks."""

    own: FeatureGroup
    around: FeatureGroup
    text: FeatureGroup
    heading: FeatureGroup
    last_heading: IntArray
    """Index of the heading before each block, or -1."""


def hash_features(page: PageStatistics) -> HashedFeatures:
    """Hash the names and words of a page into buckets."""
    tokens = [names.tokens for names in page.name_features]
    counts = np.array([len(some) for some in tokens], np.int64)
    codes = np.fromiter(chain.from_iterable(tokens), np.uint64, int(counts.sum()))
    names = np.repeat(np.arange(len(tokens)), counts)
    # All digits are equal.
    lines = _DIGITS.sub("0", "\n".join(page.vocabulary)).encode("utf-8", "replace").split(b"\n")
    words = np.fromiter(map(crc32, lines), np.uint64, len(page.vocabulary))[page.word_ids]
    headings = np.where(page.heading, page.index, _NO_HEADING)
    before = np.concatenate(([_NO_HEADING], np.maximum.accumulate(headings)[:-1]))
    mask = page.heading[page.word_block] & (page.word_at < _HEADING_WORDS)
    rows = page.word_block[mask]
    whole = np.flatnonzero(page.heading)
    sequences = _hash_sequences(words[mask], page.word_at[mask], rows, page.n)
    return HashedFeatures(
        own=FeatureGroup(names, _buckets(codes, _OWN)),
        around=FeatureGroup(names, _buckets(codes, _AROUND)),
        text=_hash_text(page, words),
        heading=FeatureGroup(
            np.concatenate((rows, whole)),
            np.concatenate((_buckets(words[mask], _TITLE), _buckets(sequences[whole], _TITLE_WHOLE))),
        ),
        last_heading=before,
    )


def _hash_text(page: PageStatistics, words: _Codes) -> FeatureGroup:
    at, block, counts = page.word_at, page.word_block, page.counts
    start = at < _HEAD_WORDS
    of_block = np.repeat(counts, counts)
    from_end = of_block - at
    end = (from_end <= _TAIL_WORDS) & (of_block > _HEAD_WORDS)
    pairs = np.flatnonzero((at < _PAIRS) & (from_end > 1))
    whole = np.flatnonzero((counts > 0) & (counts <= _WHOLE_WORDS))
    rows, tokens = _hash_inline_classes(page)
    return FeatureGroup(
        np.concatenate((block[start], block[end], block[pairs], whole, rows)),
        np.concatenate(
            (
                _buckets(words[start], _START),
                _buckets(words[end], _END),
                _buckets(words[pairs] * _STEP + words[pairs + 1], _PAIR),
                _buckets(_hash_sequences(words, at, block, page.n)[whole], _WHOLE),
                _buckets(tokens, _INLINE),
            )
        ),
    )


def _hash_inline_classes(page: PageStatistics) -> tuple[IntArray, _Codes]:
    """Return the block of each token of the classes of inline elements, and the hashes of the tokens."""
    classes = page.segments.inline_classes
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    names = np.fromiter(map(numbers.__getitem__, chain.from_iterable(classes)), np.int64)
    blocks = np.repeat(page.index, np.fromiter(map(len, classes), np.int64, page.n))
    tokens = [hash_class_names(name)[:_MAX_INLINE_TOKENS] for name in numbers]
    counts = np.fromiter(map(len, tokens), np.int64, len(tokens))
    codes = np.fromiter(chain.from_iterable(tokens), np.uint64, int(counts.sum()))
    repeats = counts[names]
    shifts = (np.cumsum(counts) - counts)[names] - (np.cumsum(repeats) - repeats)
    token_blocks = np.repeat(blocks, repeats)
    return token_blocks, codes[np.arange(len(token_blocks)) + np.repeat(shifts, repeats)]


def _hash_sequences(words: _Codes, at: IntArray, block: IntArray, n: int) -> _Codes:
    """Hash the word sequence of each block; the order of the words matters."""
    sums = np.zeros(n, np.uint64)
    starts = np.flatnonzero(at == 0)
    if len(starts):
        weighted = words * (_MIX * (at.astype(np.uint64) * np.uint64(2) + np.uint64(1)))
        sums[block[starts]] = np.add.reduceat(weighted, starts)
    return sums


def _buckets(codes: _Codes, salt: np.uint64) -> IntArray:
    mixed = (codes ^ salt) * _MIX
    return (mixed >> np.uint64(64 - _BITS)).astype(np.int64)


def compute_scores(page: PageStatistics, features: HashedFeatures, weights: NDArray[np.float32]) -> FloatArray:
    """Return the columns `SCORE_NAMES` with the shape (scores, blocks); `weights` has the shape (`BUCKETS`)."""
    own, around = (
        np.bincount(group.rows, weights[group.buckets], len(page.name_features))[page.name_ids]
        for group in (features.own, features.around)
    )
    path = page.sum_ancestors(np.asarray(around, np.float64))
    least = page.combine_ancestors(np.minimum(around, 0.0), np.minimum, 0)
    titles = np.bincount(features.heading.rows, weights[features.heading.buckets], page.n)
    owner, has_parent = page.owner, page.parent[page.owner] >= 0
    out = np.empty((len(SCORE_NAMES), page.n))
    out[0] = own[owner]
    out[1] = np.where(has_parent, path[page.above], 0.0)
    out[2] = np.bincount(features.text.rows, weights[features.text.buckets], page.n)
    out[3] = np.where(features.last_heading >= 0, titles[features.last_heading], 0.0)
    out[4] = least[owner]
    out[5] = np.where(has_parent, around[page.above], 0.0)
    out[6] = out[:4].sum(0)
    return out
