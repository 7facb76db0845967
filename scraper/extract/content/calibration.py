"""Calibrate the probabilities of blocks by siblings and page type, and select those of the greatest expected F1."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scraper.extract.content.page_statistics import BlockMask, FloatArray, PageStatistics

_MAX_ARTICLE, _MAX_FORUM = 0.5, 0.3
"""Probabilities of page types. On articles and forums, blocks of one path are of several kinds: paragraphs of the text
and of the author's box, posts and signatures."""

_PATH_SHARE = 0.5
"""Share of the mean of the path in a new probability. F1 on wcxb is the same at .7, where phrases are .002 lower."""

_MIN_SERVICE = 0.6
"""Probability. F1 of services on wcxb is the same at .4, where headings of widgets are selected on other pages."""

_SERVICE_LOGIT = 0.6
"""Logit added on pages of services. Their sections look like teasers, but gold texts have most of them. F1 of services
on wcxb is .006 higher at .6 and at .8."""

_LEAST = 1e-6
"""Least distance of a probability from 0 and 1, so that its logit is finite."""


def calibrate(page: PageStatistics, p: FloatArray, types: Mapping[str, float]) -> FloatArray:
    """Return adjusted probabilities of the blocks of a page, except on articles and forums."""
    if types["forum"] >= _MAX_FORUM:
        return p
    adjusted = _raise_service_pages(p, types)
    return adjusted if types["article"] >= _MAX_ARTICLE else _average_paths(page, adjusted)


def _average_paths(page: PageStatistics, p: FloatArray) -> FloatArray:
    """Move each probability towards the mean of the blocks whose ancestors have the same tags and classes.

    Longer blocks count more. Items of a list or parts of cards are then more often selected together.
    """
    weights = page.lengths + 1
    means = np.bincount(page.path_groups, p * weights) / np.maximum(np.bincount(page.path_groups, weights), 1)
    return (1 - _PATH_SHARE) * p + _PATH_SHARE * means[page.path_groups]


def _raise_service_pages(p: FloatArray, types: Mapping[str, float]) -> FloatArray:
    """Raise the probabilities on a page of a service, in proportion to the probability of this page type."""
    if types["service"] <= _MIN_SERVICE:
        return p
    clipped = np.clip(p, _LEAST, 1 - _LEAST)
    odds = clipped / (1 - clipped) * np.exp(_SERVICE_LOGIT * types["service"])
    return np.asarray(odds / (1 + odds))


_LEAST_LENGTH = 1.0
"""Words added to the length of each block, so that blocks without words are selected by their probability."""


def select_by_expected_f1(p: FloatArray, lengths: FloatArray) -> BlockMask:
    """Select the blocks above the probability threshold with the greatest expected F1.

    Blocks are taken in order of probability. A block of n words with the probability p has n p expected content words.
    The expected F1 is 2 sum(n p) / (sum(n) + sum over all blocks (n p)). The first two sums are over the selected
    blocks. A fixed threshold would cost .009 of F1.
    """
    lengths = lengths + _LEAST_LENGTH
    order = np.argsort(-p, kind="stable")
    expected = (lengths * p)[order]
    values = 2 * np.cumsum(expected) / (np.cumsum(lengths[order]) + expected.sum() + 1e-9)
    return np.asarray(p >= p[order[int(values.argmax())]])


def estimate_f1(chosen: BlockMask, p: FloatArray, lengths: FloatArray) -> float:
    """Return the expected F1 of a selection, from 0 to 1."""
    lengths = lengths + _LEAST_LENGTH
    expected = lengths * p
    return float(2 * expected[chosen].sum() / (lengths[chosen].sum() + expected.sum() + 1e-9))
