"""Maximize and estimate the expected F1 of a selection of blocks, from the probabilities of the blocks."""

from __future__ import annotations

import numpy as np

from scraper.extract.content.page_statistics import BlockMask, FloatArray

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
