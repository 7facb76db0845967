"""Build the rows of the training table of a page: features, labels and weights of its blocks."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.training.labels import matched_shares
from benchmarks.training.pages import Sample
from browsers.model import Snapshot
from scraper.extract.content import hashed_features
from scraper.extract.content.extraction import describe_page
from scraper.extract.content.feature_matrix import compute_columns, stack_columns
from scraper.extract.content.page_statistics import PageStatistics
from scraper.html.page import page_tree
from scraper.html.page.segmentation import segment_body
from scraper.text.terms import split_words

FOLDS = 4
KEEP = 0.5
"""Share of words. A block with this share in the gold text is content."""

_MIN_COVER = 0.5
_MIN_COVER_EXTRA = 0.85
"""Share of the gold text. If less of it is in the page, the page is not used for training."""

_LENGTH_POWER = 0.8
_MIN_GOLD_WORDS = 30
_PHRASE_WEIGHT = 1.0
_WORD = re.compile(r"\w+")
_WHITE = re.compile(r"\s+")


@dataclass(slots=True)
class Row:
    """One page of the training table."""

    id: str
    source: str
    domain: str
    page_type: str
    language: str
    fold: int
    main: bool
    names: tuple[str, ...]
    matrix: NDArray[np.float32]
    hashed: hashed_features.HashedFeatures
    measures: PageStatistics
    """Statistics without the words and the tree, to save memory."""
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    used_for_training: bool
    gold: str
    bag: Bag


@dataclass(frozen=True, slots=True)
class Bag:
    """Words of each block and of the gold text as numbers, to score a selection quickly."""

    words: NDArray[np.int64]
    blocks: NDArray[np.int64]
    gold: NDArray[np.int64]

    def f1(self, chosen: NDArray[np.bool_]) -> float:
        """Return the benchmark's score of a selection."""
        total = int(self.gold.sum())
        found = np.bincount(self.words[chosen[self.blocks]], minlength=len(self.gold))
        if not total:
            return float(not found.sum())
        return float(2 * np.minimum(found, self.gold).sum() / (found.sum() + total))


def word_f1(text: str, gold: str) -> float:
    """Return F1 over the words of two texts; if both are empty it is 1."""
    ours, theirs = Counter(_WORD.findall(text.lower())), Counter(_WORD.findall(gold.lower()))
    if not theirs:
        return float(not ours)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def snapshot_of(sample: Sample) -> Snapshot:
    """Return the page as a snapshot of its response."""
    return Snapshot(sample.url, sample.url, 200, media_type="text/html", html=sample.html)


def fold_of(domain: str) -> int:
    """Return the fold of a domain, from 0 to `FOLDS - 1`."""
    return zlib.crc32(domain.encode()) % FOLDS


def row_of(sample: Sample) -> Row | None:
    """Return the row of a sample, or None if the page has no text."""
    page = page_tree.build_page_tree(snapshot_of(sample))
    segments = segment_body(page.body)
    if not segments.texts:
        return None
    measures = PageStatistics(segments, describe_page(page.head, sample.url))
    named = compute_columns(measures)
    hashed = hashed_features.hash_features(measures)
    shares, weights, used_for_training = _labels(sample, measures)
    bag = _bag(measures.texts, sample.gold)
    return Row(
        id=sample.id,
        source=sample.source,
        domain=sample.domain,
        page_type=sample.page_type,
        language=sample.language,
        fold=fold_of(sample.domain),
        main=sample.main,
        names=tuple(named),
        matrix=stack_columns(named, tuple(named), measures.n),
        hashed=hashed,
        measures=_lightened(measures),
        shares=shares,
        weights=weights,
        used_for_training=used_for_training,
        gold=sample.gold,
        bag=bag,
    )


def _lightened(page: PageStatistics) -> PageStatistics:
    page.words, page.vocabulary = [], []
    page.word_ids = page.word_block = page.word_at = np.empty(0, np.int64)
    page.segments.pieces.clear()
    page.segments.elements.nodes.clear()
    return page


def _labels(sample: Sample, page: PageStatistics) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    if sample.wanted or sample.unwanted:
        return _labels_of_phrases(sample, page)
    gold = split_words(sample.gold, by_character=True)
    shares = np.array(matched_shares(page.words, gold))
    kept = shares >= KEEP
    # Pages weigh the same at any length; with a short gold text the other text weighs more.
    weights = (page.lengths + 0.5) ** _LENGTH_POWER
    weights = 100 * weights / (max(len(gold), _MIN_GOLD_WORDS) ** _LENGTH_POWER + weights[kept].sum())
    cover = float(page.counts @ shares) / max(len(gold), 1)
    least = _MIN_COVER if sample.main else _MIN_COVER_EXTRA
    return shares, weights, bool(gold) and cover > least


def _labels_of_phrases(sample: Sample, page: PageStatistics) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """Label only the blocks that contain a phrase; the others have no weight."""
    texts = [_squashed(text) for text in page.texts]
    wanted, unwanted = _holding(texts, sample.wanted), _holding(texts, sample.unwanted)
    shares = wanted.astype(np.float64)
    judged = wanted ^ unwanted
    weights = np.where(judged, _PHRASE_WEIGHT * 100 / max(int(judged.sum()), 6), 0.0)
    return shares, weights, bool(judged.any())


def _holding(texts: Sequence[str], phrases: Sequence[str]) -> NDArray[np.bool_]:
    squashed = [_squashed(phrase) for phrase in phrases]
    return np.array([any(phrase in text for phrase in squashed if phrase) for text in texts])


def _squashed(text: str) -> str:
    return _WHITE.sub("", text).lower()


def _bag(texts: Sequence[str], gold: str) -> Bag:
    numbers: dict[str, int] = {}
    words = [_WORD.findall(text.lower()) for text in texts]
    ids = np.array([numbers.setdefault(word, len(numbers)) for block in words for word in block], np.int64)
    theirs = np.array([numbers.setdefault(word, len(numbers)) for word in _WORD.findall(gold.lower())], np.int64)
    blocks = np.repeat(np.arange(len(texts)), [len(block) for block in words])
    return Bag(ids, blocks, np.bincount(theirs, minlength=len(numbers)))
