"""Decision trees in plain numpy, as arrays: no training library at run time.

A tree has at most 32 leaves, so the leaves that a row can still reach fit one word of 32 bits. For a feature
and the bin its value falls in there is a word for each tree that asks for it: what all nodes leave that the
value fails. The conjunction over the features leaves one lowest bit: the leaf. (QuickScorer, Lucchese and
others, SIGIR 2015, turned from one row at a time to one feature at a time.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_LEAVES", "Forest", "Nodes"]

MAX_LEAVES = 32
_ALL = np.uint32(0xFFFFFFFF)
_ROWS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class Nodes:
    """The inner nodes of all trees, and the values of their leaves (trees x 32)."""

    trees: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: NDArray[np.float32]
    """A value at most this goes to the left."""
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    """The leaves of the left side: those that a value above the threshold cannot reach."""
    leaves: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Table:
    """What the values of one feature leave."""

    feature: int
    edges: NDArray[np.float32]
    trees: NDArray[np.int64]
    masks: NDArray[np.uint32]
    """Trees x bins."""


class Forest:
    """The sum of all trees of some forests: what asks the same of a value is asked once."""

    def __init__(self, *forests: Nodes) -> None:
        nodes = _joined(forests)
        self._leaves = nodes.leaves
        order = np.argsort(nodes.features, kind="stable")
        features = nodes.features[order]
        borders = [0, *(np.flatnonzero(np.diff(features)) + 1).tolist(), len(features)]
        self._tables = [_table(nodes, order[start:end]) for start, end in pairwise(borders) if end > start]

    def sums(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """The sum over the trees for each column of a matrix (features x rows)."""
        count = matrix.shape[1]
        sums = np.empty(count, np.float32)
        for start in range(0, count, _ROWS_AT_ONCE):
            end = start + _ROWS_AT_ONCE
            sums[start:end] = self._some(matrix[:, start:end])
        return sums

    def _some(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        left = np.full((len(self._leaves), matrix.shape[1]), _ALL, np.uint32)
        for table in self._tables:
            bins = table.edges.searchsorted(matrix[table.feature])
            # `clip` spares the check of places that are right: a quarter of the whole.
            masks = table.masks.take(bins, axis=1, mode="clip")
            masks &= left.take(table.trees, axis=0, mode="clip")
            left[table.trees] = masks
        lowest = left & (~left + np.uint32(1))
        leaf = np.frexp(lowest.astype(np.float32))[1] - 1
        return np.asarray(np.take_along_axis(self._leaves, leaf.astype(np.intp), 1).sum(0))


def _joined(forests: Sequence[Nodes]) -> Nodes:
    shifts = np.cumsum([0, *(len(forest.leaves) for forest in forests[:-1])])
    return Nodes(
        np.concatenate([forest.trees + shift for forest, shift in zip(forests, shifts, strict=True)]),
        np.concatenate([forest.features for forest in forests]),
        np.concatenate([forest.thresholds for forest in forests]),
        np.concatenate([forest.first for forest in forests]),
        np.concatenate([forest.last for forest in forests]),
        np.concatenate([forest.leaves for forest in forests]),
    )


def _table(nodes: Nodes, some: NDArray[np.int64]) -> _Table:
    thresholds = nodes.thresholds[some]
    edges = np.unique(thresholds)
    trees, rows = np.unique(nodes.trees[some], return_inverse=True)
    masks = np.full((len(trees), len(edges) + 1), _ALL, np.uint32)
    bins = np.searchsorted(edges, thresholds)
    one = np.uint64(1)
    gone = (one << nodes.last[some].astype(np.uint64)) - (one << nodes.first[some].astype(np.uint64))
    kept = _ALL ^ gone.astype(np.uint32)
    for row, at, mask in zip(rows.tolist(), bins.tolist(), kept, strict=True):
        masks[row, at + 1 :] &= mask
    return _Table(int(nodes.features[some[0]]), edges, trees, masks)
