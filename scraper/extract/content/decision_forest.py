"""Evaluate decision trees in plain numpy with bit operations, without a training library at run time.

Each comparison of a feature with a threshold is made for 64 rows at once, and its results are the bits of one number.
A row reaches the first leaf of a tree that no comparison excludes: all leaves left of a node whose value is too large
are excluded (QuickScorer). The leaf number of each row then results from five bit planes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_LEAVES = 32
"""Leaves of a tree."""
_PLANES = tuple(np.flatnonzero(np.arange(MAX_LEAVES) >> bit & 1) for bit in range(5))
"""For each bit of a leaf number: the leaves in whose number it is set."""

_ROWS, _BYTE = 64, 8
"""Rows that are evaluated at once, and those of a byte."""


@dataclass(frozen=True, slots=True)
class TreeNodes:
    """Inner nodes of all trees, one entry per node in each array, and the leaf values (trees x 32)."""

    trees: NDArray[np.int64]
    """Index of the node's tree."""
    features: NDArray[np.int64]
    """Row of the feature matrix that the node compares."""
    thresholds: NDArray[np.float32]
    """A value of at most the threshold goes left."""
    first: NDArray[np.int64]
    """First leaf of the node, which is also the first leaf of its left child."""
    last: NDArray[np.int64]
    """End of the leaf range of the left child: a value above the threshold cannot reach these leaves."""
    leaves: NDArray[np.float32]


class DecisionForest:
    """Sum of the trees of a forest; nodes with the same feature and threshold share one comparison."""

    def __init__(self, nodes: TreeNodes) -> None:
        """Merge equal comparisons, and list those that exclude each leaf of each tree."""
        self._trees = trees = len(nodes.leaves)
        keys = nodes.features << 32 | nodes.thresholds.view(np.uint32)
        _, places, comparisons = np.unique(keys, return_index=True, return_inverse=True)
        self._features, self._thresholds = nodes.features[places], nodes.thresholds[places][:, None]
        numbers = np.arange(MAX_LEAVES)
        node, leaf = np.nonzero((nodes.first[:, None] <= numbers) & (numbers < nodes.last[:, None]))
        # Each leaf also has an entry that never excludes it, because a group must not be empty.
        every = np.arange(MAX_LEAVES * trees)
        groups = np.concatenate((every, leaf * trees + nodes.trees[node]))
        order = np.argsort(groups, kind="stable")
        self._excluding = np.concatenate((np.full(len(every), len(places)), comparisons[node]))[order]
        self._starts = np.searchsorted(groups[order], every)
        self._leaves = nodes.leaves.ravel()
        self._first_leaf = (np.arange(trees) * MAX_LEAVES)[:, None]

    def compute_logits(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum of the trees for each column of a matrix with the shape (features, rows)."""
        sums = np.empty(matrix.shape[1], np.float32)
        for start in range(0, len(sums), _ROWS):
            sums[start : start + _ROWS] = self._sum_leaves(matrix[:, start : start + _ROWS])
        return sums

    def _sum_leaves(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sums for at most `_ROWS` rows."""
        count = matrix.shape[1]
        octets = -(-count // _BYTE)
        values = np.zeros((len(matrix), octets * _BYTE), np.float32)
        values[:, :count] = matrix
        results = np.zeros((len(self._features) + 1, _ROWS // _BYTE), np.uint8)
        is_larger = values.take(self._features, axis=0) > self._thresholds
        results[:-1, :octets] = np.packbits(is_larger, bitorder="little").reshape(-1, octets)
        excluded = np.bitwise_or.reduceat(results.view(np.uint64).ravel().take(self._excluding), self._starts)
        excluded = excluded.reshape(MAX_LEAVES, self._trees)
        reached = ~excluded
        reached[1:] &= np.bitwise_and.accumulate(excluded, axis=0)[:-1]
        planes = np.array([np.bitwise_or.reduce(reached[leaves], axis=0) for leaves in _PLANES])
        at_least = max(count, 2)  # numpy would add the trees of a single row in another order
        bits = np.unpackbits(planes.view(np.uint8).reshape(-1, _BYTE), axis=1, count=at_least, bitorder="little")
        *lower, leaf = bits.reshape(len(_PLANES), self._trees, at_least)
        for plane in reversed(lower):
            leaf = (leaf + leaf) | plane  # a shift takes ten times as long
        return np.asarray(self._leaves.take(leaf + self._first_leaf, mode="clip").sum(0)[:count])
