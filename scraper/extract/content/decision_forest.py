"""Evaluate decision trees in plain numpy with bit operations, without a training library at run time.

Each comparison of a feature with a threshold is made for all rows at once. The results are stored as bits, 64 rows in
a word. From the roots down, the rows of a node are divided into the left and right child. This takes two operations
for each node, for all rows of a word. The leaf number of each row then results from five bit planes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

MAX_LEAVES = 32
"""Leaves of a tree."""
_PLANES = 5
"""Bits of a leaf number."""

_SPAN = 64
"""Factor that is larger than any leaf number: tree, start and end of a leaf range combine into one number with it."""

_WORD, _BYTE = 64, 8
_ALL, _NONE = ~np.uint64(0), np.uint64(0)
_FEW_WORDS = 2
"""Maximum words of rows for which every comparison is made: to find the columns that differ takes as long."""

_CELLS_AT_ONCE = 1 << 17
"""Values compared at once. They take half a megabyte, so that they stay in the processor's cache."""

_Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]

_NO_ROWS: _Ints = np.empty(0, np.int64)


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
        """Order the nodes by level and merge equal comparisons."""
        self._trees = len(nodes.leaves)
        levels, sources = _find_levels(nodes)
        order = np.concatenate(levels)
        borders = np.cumsum([0, *map(len, levels)]).tolist()
        self._levels = [(start, end, sources[start:end]) for start, end in itertools.pairwise(borders) if start < end]
        keys = nodes.features[order] << 32 | nodes.thresholds[order].view(np.uint32)
        _, places, self._node_comparisons = np.unique(keys, return_index=True, return_inverse=True)
        self._features, self._thresholds = nodes.features[order[places]], nodes.thresholds[order[places]][:, None]
        self._comparisons = np.arange(len(self._features))
        self._rows, self._starts = _plane_rows(nodes, order, self._trees)
        leaves = np.empty_like(nodes.leaves)
        leaves[:, _gray(np.arange(MAX_LEAVES))] = nodes.leaves
        self._leaves = leaves.ravel()
        self._first_leaf = (np.arange(self._trees) * MAX_LEAVES)[:, None]

    def compute_logits(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum of the trees for each column of a matrix with the shape (features, rows)."""
        count = matrix.shape[1]
        sums = np.empty(count, np.float32)
        results, node_results = self._compare(matrix)
        for start, word_results in zip(range(0, count, _WORD), results, strict=True):
            word_sums = sums[start : start + _WORD]
            word_sums[:] = self._sum_word(word_results.take(node_results), len(word_sums))
        return sums

    def _sum_word(self, results: Words, count: int) -> NDArray[np.float32]:
        """Return the sums for the rows of one word from the comparison result of each node."""
        planes = np.bitwise_xor.reduceat(self._find_rows_to_right(results).take(self._rows), self._starts)
        at_least = max(count, 2)  # numpy would add the trees of a single row in another order
        bits = np.unpackbits(planes.view(np.uint8).reshape(-1, 8), axis=1, count=at_least, bitorder="little")
        bits = bits.reshape(_PLANES, self._trees, at_least)
        leaf = bits[-1]
        for plane in bits[-2::-1]:
            leaf = (leaf + leaf) | plane  # a shift takes ten times as long
        return np.asarray(self._leaves.take(leaf + self._first_leaf, mode="clip").sum(0)[:count])

    def _compare(self, matrix: NDArray[np.float32]) -> tuple[Words, _Ints]:
        """Return the comparison results of each word of rows, and the index of each node's result.

        A result has one bit for each row, set if the value goes right. A quarter of all comparisons are on columns
        that are equal in all rows. They are made once, and their results follow the others.
        """
        count = matrix.shape[1]
        words, octets = -(-count // _WORD), -(-count // _BYTE)
        values = np.zeros((len(matrix), octets * _BYTE), np.float32)
        values[:, :count] = matrix
        varying, equal, node_results = self._comparisons, _NO_ROWS, self._node_comparisons
        if words > _FEW_WORDS:
            differs = (matrix != matrix[:, :1]).any(axis=1)[self._features]
            varying, equal = np.flatnonzero(differs), np.flatnonzero(~differs)
            places = np.empty_like(self._comparisons)
            places[np.concatenate((varying, equal))] = self._comparisons
            node_results = places[self._node_comparisons]
        results = np.empty((words, len(self._comparisons)), np.uint64)
        goes_right = values[:, 0].take(self._features[equal]) > self._thresholds[equal, 0]
        results[:, len(varying) :] = np.where(goes_right, _ALL, _NONE)
        features, thresholds = self._features[varying], self._thresholds[varying]
        bits = np.zeros((len(varying), words * _WORD // _BYTE), np.uint8)
        step = _CELLS_AT_ONCE // (octets * _BYTE) + 1
        for start in range(0, len(varying), step):
            end = min(start + step, len(varying))
            right = values.take(features[start:end], axis=0) > thresholds[start:end]
            bits[start:end, :octets] = np.packbits(right, bitorder="little").reshape(-1, octets)
        results[:, : len(varying)] = bits.view(np.uint64).T
        return results, node_results

    def _find_rows_to_right(self, results: Words) -> Words:
        """Return the rows that each node sends to the right, level by level, and one extra empty entry."""
        both = np.zeros((2, len(results) + 1), np.uint64)
        left, right = both
        sides = both.ravel()
        for start, end, sources in self._levels:
            reached = sides.take(sources) if start else _ALL
            here = right[start:end]
            np.bitwise_and(results[start:end], reached, out=here)
            np.bitwise_xor(here, reached, out=left[start:end])
        return right


def _find_levels(nodes: TreeNodes) -> tuple[list[_Ints], _Ints]:
    """Return the nodes of each level from the roots down, and the source of each node's rows.

    The source is an index into a list of all left children, followed by all right children. Leaves are numbered from
    left to right, so each node covers a range of leaves. The root of a range is the node that begins with the range and
    has the longest left side.
    """
    keys = (nodes.trees * _SPAN + nodes.first) * _SPAN + nodes.last
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    trees = np.arange(len(nodes.leaves))
    starts, ends = np.zeros_like(trees), np.full_like(trees, _SPAN - 1)
    source = np.zeros_like(trees)
    levels, sources, done = [], [], 0
    while len(trees):
        spans = trees * _SPAN + starts
        at = np.searchsorted(keys, spans * _SPAN + ends) - 1
        inner = (at >= 0) & (keys[at] // _SPAN == spans)
        level = order[at[inner]]
        levels.append(level)
        sources.append(source[inner])
        places = np.arange(done, done + len(level))
        done += len(level)
        middles = nodes.last[level]
        trees, ends = np.tile(nodes.trees[level], 2), np.concatenate((middles, ends[inner]))
        starts = np.concatenate((starts[inner], middles))
        source = np.concatenate((places, places + len(nodes.trees) + 1))
    return levels, np.concatenate(sources)


def _plane_rows(nodes: TreeNodes, order: _Ints, trees: int) -> tuple[_Ints, _Ints]:
    """Return the nodes whose right sides form each bit plane of each tree, and the start of each group.

    Each step to the right changes the number of the first reachable leaf. An exclusive or of the changed bits
    of all steps gives the bits of the leaf number. In Gray code neighbors differ by one bit.
    """
    first, last = nodes.first[order], nodes.last[order]
    changes = _gray(first) ^ _gray(last)
    # the empty entry, so that each plane of a tree has at least one
    rows = [np.full(_PLANES * trees, len(order))]
    groups = [np.arange(_PLANES * trees)]
    for plane in range(_PLANES):
        changed = np.flatnonzero((changes >> plane) & 1)
        rows.append(changed)
        groups.append(plane * trees + nodes.trees[order[changed]])
    group = np.concatenate(groups)
    sort = np.argsort(group, kind="stable")
    return np.concatenate(rows)[sort], np.searchsorted(group[sort], groups[0])


def _gray(number: _Ints) -> _Ints:
    return number ^ (number >> 1)
