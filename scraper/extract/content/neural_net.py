"""The net: a second opinion on pages of whose choice of blocks the trees are in doubt.

Each block is a row of numbers. Twice it hears what these are in the mean over each of some spans of blocks
around it, and over the blocks of the same path; what follows from it is learned. Long blocks are heard more
than short ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.feature_matrix import Matrix
from scraper.extract.content.page_statistics import Floats, Ints, PageStatistics, running

STEPS = (-2, -1, 1, 2)
"""Blocks beside a block that it hears one by one."""

_LEVELS = 6
SPANS = len(STEPS) + 2 + _LEVELS
"""These, all blocks before, all of the page, those of the elements around it."""

LEAST = 1e-3
"""Of the weights of a span, so that an empty one is heard as nothing."""

TINY = 1e-5
"""Of a square, so that nothing is divided by zero."""

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Stretches of blocks, and for each block of the page which of them is its own: many share one."""

    starts: Ints
    ends: Ints
    places: Ints


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Where the blocks of a page stand."""

    spans: tuple[TextSpan, ...]
    paths: Ints
    """Equal for blocks of the same path; numbers without gaps."""
    weights: Floats
    """How much each block is heard."""


def surroundings(page: PageStatistics) -> Neighborhood:
    """What is around each block of a page, beside its neighbours."""
    index, start = page.index, np.zeros(1, np.int64)
    before = TextSpan(np.zeros_like(index), index, index)
    whole = TextSpan(start, start + page.n, np.zeros_like(index))
    return Neighborhood(
        (before, whole, *(_elements(page, at) for at in page.around[:_LEVELS])),
        page.path_groups,
        np.sqrt(page.lengths + 1),
    )


def _elements(page: PageStatistics, at: Ints) -> TextSpan:
    elements, places = np.unique(at, return_inverse=True)
    return TextSpan(page.first[elements], page.last[elements], places)


@dataclass(frozen=True, slots=True)
class AttentionRound:
    """What is learned about one time of hearing."""

    scale: Array
    own: Array
    heard: Array
    """For each of `STEPS`, each span and the path, one below the other."""
    bias: Array


@dataclass(frozen=True, slots=True)
class AttentionLayer:
    """All that is learned."""

    low: Array
    high: Array
    means: Array
    deviations: Array
    columns: Array
    """Columns x numbers of a block."""
    tags: Array
    """A row for each tag."""
    bias: Array
    rounds: tuple[AttentionRound, ...]
    out: Array
    out_bias: Array


class NeuralNet:
    """The net at work."""

    def __init__(self, learned: AttentionLayer) -> None:
        self._learned = learned

    def sums(self, page: PageStatistics, values: Matrix) -> Array:
        """For each block of a page, given its columns (columns x blocks)."""
        learned = self._learned
        around = surroundings(page)
        standard = (np.clip(values.T, learned.low, learned.high) - learned.means) / learned.deviations
        first = standard @ learned.columns + learned.tags[page.tag] + learned.bias
        state = _bent(np.asarray(first, np.float32))
        for each in learned.rounds:
            own = state / np.sqrt((state * state).mean(axis=1, keepdims=True) + TINY) * each.scale
            state = state + _bent(own @ each.own + _heard(own, around, each.heard) + each.bias)
        return np.asarray(state @ learned.out + learned.out_bias)


def _bent(values: Array) -> Array:
    return np.maximum(values, np.float32(0))


def _heard(states: Array, around: Neighborhood, learned: Array) -> Array:
    """What follows for each block from what it hears.

    The mean over a span is taken once, and what follows from it is worked out once, for all blocks in it.
    """
    weights = around.weights
    of_steps, of_spans, of_paths = np.split(
        learned.reshape(SPANS + 1, -1, learned.shape[1]), [len(STEPS), SPANS]
    )
    alone = states * (weights / (weights + LEAST)).astype(np.float32)[:, None]
    heard = np.zeros_like(states)
    for step, each in zip(STEPS, of_steps, strict=True):
        near, far = (heard[:-step], alone[step:]) if step > 0 else (heard[-step:], alone[:step])
        near += far @ each
    sums, totals = _running(states * weights[:, None]), running(weights)
    for span, each in zip(around.spans, of_spans, strict=True):
        starts, ends = span.starts, span.ends
        means = (sums[ends] - sums[starts]) / (totals[ends] - totals[starts] + LEAST)[:, None]
        heard += (means.astype(np.float32) @ each)[span.places]
    heard += (_of_paths(states, around) @ of_paths[0])[around.paths]
    return heard


def _running(values: Floats) -> Floats:
    sums = np.zeros((len(values) + 1, values.shape[1]))
    values.cumsum(axis=0, out=sums[1:])
    return sums


def _of_paths(states: Array, around: Neighborhood) -> Array:
    """The mean over the blocks of each path."""
    order = np.argsort(around.paths, kind="stable")
    weighed = states[order] * around.weights[order, None]
    totals = np.bincount(around.paths, around.weights)
    sums = np.add.reduceat(weighed, np.searchsorted(around.paths[order], np.arange(len(totals))))
    return np.asarray(sums / (totals + LEAST)[:, None], np.float32)
