"""Neural net that classifies the blocks of pages for which the decision forest is not confident.

Each block has a state vector. In each of two layers a block receives the mean states of several spans of blocks around
it, and of the blocks with the same path. Long blocks have more weight than short ones. Each layer normalizes the states
by their root mean square (RMSNorm) and adds its output to them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.feature_matrix import FeatureMatrix
from scraper.extract.content.page_statistics import FloatArray, IntArray, PageStatistics, compute_prefix_sums

NEIGHBOR_STEPS = (-2, -1, 1, 2)
"""Offsets of the neighbor blocks that a block receives separately; positive ones are after the block."""

_LEVELS = 6
SPAN_COUNT = len(NEIGHBOR_STEPS) + 2 + _LEVELS
"""Number of spans: the neighbors, all blocks before, the whole page, and the ancestor elements."""

WEIGHT_EPSILON = 1e-3
"""Added to the weight of a span, so that the mean of an empty span is zero."""

NORM_EPSILON = 1e-5
"""Added to a mean square, to prevent a division by zero."""

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BlockSpans:
    """One span for each block of a page. Several blocks may share a span.

    `starts` and `ends` are the block ranges of the distinct spans; `block_spans` is the index of each block's span.
    """

    starts: IntArray
    ends: IntArray
    block_spans: IntArray


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Spans, paths and weights of the blocks of a page."""

    spans: tuple[BlockSpans, ...]
    paths: IntArray
    """Number of each block's path, consecutive from 0."""
    weights: FloatArray
    """Weight of each block in a mean: the square root of its length plus one."""


def build_neighborhood(page: PageStatistics) -> Neighborhood:
    """Return the spans, paths and weights of the blocks of a page; single neighbors need no spans."""
    index, start = page.index, np.zeros(1, np.int64)
    before = BlockSpans(np.zeros_like(index), index, index)
    whole = BlockSpans(start, start + page.n, np.zeros_like(index))
    spans = [before, whole]
    for ancestors in page.around[:_LEVELS]:
        elements, block_spans = np.unique(ancestors, return_inverse=True)
        spans.append(BlockSpans(page.first[elements], page.last[elements], block_spans))
    return Neighborhood(tuple(spans), page.path_groups, np.sqrt(page.lengths + 1))


@dataclass(frozen=True, slots=True)
class ContextLayerWeights:
    """Weights of one layer that mixes the states of other blocks into each block."""

    scale: Array
    """Factors of the normalized states. Shape (width)."""
    own: Array
    """Shape (width, width)."""
    context: Array
    """Matrices for each of `NEIGHBOR_STEPS`, each span and the path, stacked vertically.

    Shape ((`SPAN_COUNT` + 1) x width, width).
    """
    bias: Array
    """Shape (width)."""


@dataclass(frozen=True, slots=True)
class NeuralNetWeights:
    """All weights of the net."""

    low: Array
    high: Array
    """Bounds to which the columns are clipped. Shape (columns)."""
    means: Array
    deviations: Array
    """Mean and standard deviation of the columns. Shape (columns)."""
    columns: Array
    """Shape (columns, width of the state)."""
    tags: Array
    """One row for each tag."""
    bias: Array
    rounds: tuple[ContextLayerWeights, ...]
    """Layers, in order."""
    out: Array
    """Shape (width)."""
    out_bias: Array


class NeuralNet:
    """Net for inference in plain numpy."""

    def __init__(self, learned: NeuralNetWeights) -> None:
        """Use these weights."""
        self._learned = learned

    def compute_logits(self, page: PageStatistics, values: FeatureMatrix) -> Array:
        """Return the logit of each block of a page; `values` has the shape (columns, blocks)."""
        learned = self._learned
        around = build_neighborhood(page)
        standard = (np.clip(values.T, learned.low, learned.high) - learned.means) / learned.deviations
        first = standard @ learned.columns + learned.tags[page.tag] + learned.bias
        state = _relu(np.asarray(first, np.float32))
        for layer in learned.rounds:
            own = state / np.sqrt((state * state).mean(axis=1, keepdims=True) + NORM_EPSILON) * layer.scale
            state = state + _relu(own @ layer.own + _compute_context(own, around, layer.context) + layer.bias)
        return np.asarray(state @ learned.out + learned.out_bias)


def _relu(values: Array) -> Array:
    return np.maximum(values, np.float32(0))


def _compute_context(states: Array, around: Neighborhood, learned: Array) -> Array:
    """Return the contribution of the surrounding blocks to each block's new state.

    The mean of a span and its product with the matrix are computed once for all blocks that share the span.
    """
    weights = around.weights
    of_steps, of_spans, of_paths = np.split(
        learned.reshape(SPAN_COUNT + 1, -1, learned.shape[1]), [len(NEIGHBOR_STEPS), SPAN_COUNT]
    )
    alone = states * (weights / (weights + WEIGHT_EPSILON)).astype(np.float32)[:, None]
    context = np.zeros_like(states)
    for step, matrix in zip(NEIGHBOR_STEPS, of_steps, strict=True):
        near, far = (context[:-step], alone[step:]) if step > 0 else (context[-step:], alone[:step])
        near += far @ matrix
    sums = np.zeros((len(states) + 1, states.shape[1]))
    (states * weights[:, None]).cumsum(axis=0, out=sums[1:])
    totals = compute_prefix_sums(weights)
    for span, matrix in zip(around.spans, of_spans, strict=True):
        starts, ends = span.starts, span.ends
        means = (sums[ends] - sums[starts]) / (totals[ends] - totals[starts] + WEIGHT_EPSILON)[:, None]
        context += (means.astype(np.float32) @ matrix)[span.block_spans]
    order = np.argsort(around.paths, kind="stable")
    path_totals = np.bincount(around.paths, around.weights)
    firsts = np.searchsorted(around.paths[order], np.arange(len(path_totals)))
    path_sums = np.add.reduceat(states[order] * weights[order, None], firsts)
    path_means = np.asarray(path_sums / (path_totals + WEIGHT_EPSILON)[:, None], np.float32)
    context += (path_means @ of_paths[0])[around.paths]
    return context
