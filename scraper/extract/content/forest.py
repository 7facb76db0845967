"""Decision trees in plain numpy, as bits: no training library at run time.

Each node's question is asked of all rows at once, and the answers are kept as bits, 64 rows a word. From the
roots down, a row's bit is handed to the left or to the right: two operations a node, whatever the number of
rows in a word. The number of the leaf that a row ends in then comes out as five planes of bits.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

MAX_LEAVES = 32
_PLANES = 5
"""Bits of a leaf's number."""

_SPAN = 64
"""More than any place of a leaf, so that tree, start and end make one number."""

_WORD = 64
_BYTE = 8
_ALL, _NONE = ~np.uint64(0), np.uint64(0)
_FEW_WORDS = 2
"""So many are asked everything: to see which columns differ takes as long."""

_CELLS_AT_ONCE = 1 << 17
"""Values that are compared at once: half a megabyte, so that they stay in the processor's cache."""

Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]

_NO_ROWS: Ints = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class TreeNodes:
    """The inner nodes of all trees, and the values of their leaves (trees x 32)."""

    trees: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: NDArray[np.float32]
    """A value at most this goes to the left."""
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    """The leaves of the left side: those that a value above the threshold cannot reach."""
    leaves: NDArray[np.float32]


class DecisionForest:
    """The sum of all trees of a forest: what asks the same of a value is asked once."""

    def __init__(self, nodes: TreeNodes) -> None:
        self._trees = len(nodes.leaves)
        levels, comes_from = _levels(nodes)
        order = np.concatenate(levels)
        borders = np.cumsum([0, *map(len, levels)]).tolist()
        self._levels = [
            (start, end, comes_from[start:end]) for start, end in itertools.pairwise(borders) if start < end
        ]
        self._features, self._thresholds, self._asks = _questions(nodes, order)
        self._every = np.arange(len(self._features))
        self._rows, self._starts = _plane_rows(nodes, order, self._trees)
        leaves = np.empty_like(nodes.leaves)
        leaves[:, _gray(np.arange(MAX_LEAVES))] = nodes.leaves
        self._leaves = leaves.ravel()
        self._first_leaf = (np.arange(self._trees) * MAX_LEAVES)[:, None]

    def sums(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """The sum over the trees for each column of a matrix (features x rows)."""
        count = matrix.shape[1]
        sums = np.empty(count, np.float32)
        answers, asks = self._answers(matrix)
        for start, of_word in zip(range(0, count, _WORD), answers, strict=True):
            some = sums[start : start + _WORD]
            some[:] = self._some(of_word.take(asks), len(some))
        return sums

    def _some(self, asked: Words, count: int) -> NDArray[np.float32]:
        """The sums of the rows in one word, given the answer to each node's question."""
        planes = np.bitwise_xor.reduceat(self._handed_right(asked).take(self._rows), self._starts)
        at_least = max(count, 2)  # a single row numpy would add up in another order
        bits = np.unpackbits(planes.view(np.uint8).reshape(-1, 8), axis=1, count=at_least, bitorder="little")
        bits = bits.reshape(_PLANES, self._trees, at_least)
        leaf = bits[-1]
        for plane in bits[-2::-1]:
            leaf = (leaf + leaf) | plane  # a shift takes ten times as long
        return np.asarray(self._leaves.take(leaf + self._first_leaf, mode="clip").sum(0)[:count])

    def _answers(self, matrix: NDArray[np.float32]) -> tuple[Words, Ints]:
        """For each word of rows the answers, and for each node the place of its own among them.

        An answer has a bit for each row: whether its value goes to the right. What is asked of columns that
        are the same for all rows, a quarter of all, is asked once; these answers stand behind the others.
        """
        count = matrix.shape[1]
        words, octets = -(-count // _WORD), -(-count // _BYTE)
        values = np.zeros((len(matrix), octets * _BYTE), np.float32)
        values[:, :count] = matrix
        asked, same, asks = self._every, _NO_ROWS, self._asks
        if words > _FEW_WORDS:
            asked, same, asks = self._parted(matrix)
        answers = np.empty((words, len(self._every)), np.uint64)
        alike = values[:, 0].take(self._features[same]) > self._thresholds[same, 0]
        answers[:, len(asked) :] = np.where(alike, _ALL, _NONE)
        features, thresholds = self._features[asked], self._thresholds[asked]
        bits = np.zeros((len(asked), words * _WORD // _BYTE), np.uint8)
        step = _CELLS_AT_ONCE // (octets * _BYTE) + 1
        for start in range(0, len(asked), step):
            end = min(start + step, len(asked))
            right = values.take(features[start:end], axis=0) > thresholds[start:end]
            bits[start:end, :octets] = np.packbits(right, bitorder="little").reshape(-1, octets)
        answers[:, : len(asked)] = bits.view(np.uint64).T
        return answers, asks

    def _parted(self, matrix: NDArray[np.float32]) -> tuple[Ints, Ints, Ints]:
        """The questions whose answers may differ, the others, and each node's place in the two as one row."""
        differs = (matrix != matrix[:, :1]).any(axis=1)[self._features]
        asked, same = np.flatnonzero(differs), np.flatnonzero(~differs)
        places = np.empty_like(self._every)
        places[asked], places[same] = self._every[: len(asked)], self._every[len(asked) :]
        return asked, same, places[self._asks]

    def _handed_right(self, asked: Words) -> Words:
        """For each node, level by level, the rows that it hands to the right; one empty row more."""
        handed = np.zeros((2, len(asked) + 1), np.uint64)
        left, right = handed
        sides = handed.ravel()
        for start, end, comes_from in self._levels:
            reached = sides.take(comes_from) if start else _ALL
            here = right[start:end]
            np.bitwise_and(asked[start:end], reached, out=here)
            np.bitwise_xor(here, reached, out=left[start:end])
        return right


def _levels(nodes: TreeNodes) -> tuple[list[Ints], Ints]:
    """The nodes of each level from the roots down, and for each where its rows come from.

    That is the place of the node above in the row of all left sides, with all right sides behind it. Leaves
    are numbered from left to right, so the node of a span of leaves is the one that begins with it and whose
    left side is longest.
    """
    keys = (nodes.trees * _SPAN + nodes.first) * _SPAN + nodes.last
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    trees = np.arange(len(nodes.leaves))
    starts, ends = np.zeros_like(trees), np.full_like(trees, _SPAN - 1)
    comes_from = np.zeros_like(trees)
    levels, sources, done = [], [], 0
    while len(trees):
        spans = trees * _SPAN + starts
        at = np.searchsorted(keys, spans * _SPAN + ends) - 1
        inner = (at >= 0) & (keys[at] // _SPAN == spans)
        level = order[at[inner]]
        levels.append(level)
        sources.append(comes_from[inner])
        places = np.arange(done, done + len(level))
        done += len(level)
        middles = nodes.last[level]
        trees, ends = np.tile(nodes.trees[level], 2), np.concatenate((middles, ends[inner]))
        starts = np.concatenate((starts[inner], middles))
        comes_from = np.concatenate((places, places + len(nodes.trees) + 1))
    return levels, np.concatenate(sources)


def _questions(nodes: TreeNodes, order: Ints) -> tuple[Ints, NDArray[np.float32], Ints]:
    """The different questions (feature and threshold), and which of them each node asks."""
    keys = nodes.features[order] << 32 | nodes.thresholds[order].view(np.uint32)
    _, places, asks = np.unique(keys, return_index=True, return_inverse=True)
    chosen = order[places]
    return nodes.features[chosen], nodes.thresholds[chosen][:, None], asks


def _plane_rows(nodes: TreeNodes, order: Ints, trees: int) -> tuple[Ints, Ints]:
    """Which nodes' right sides make up each plane of each tree, in one row, and where each begins.

    Going right changes the number of the first leaf that can still be reached. The bits that change, over all
    turns to the right, are the bits of the leaf's number. In Gray code neighbours differ by one bit.
    """
    first, last = nodes.first[order], nodes.last[order]
    changes = _gray(first) ^ _gray(last)
    every = [np.full(_PLANES * trees, len(order))]  # the empty row, so that no tree's plane has none
    groups = [np.arange(_PLANES * trees)]
    for plane in range(_PLANES):
        rows = np.flatnonzero((changes >> plane) & 1)
        every.append(rows)
        groups.append(plane * trees + nodes.trees[order[rows]])
    group = np.concatenate(groups)
    sort = np.argsort(group, kind="stable")
    return np.concatenate(every)[sort], np.searchsorted(group[sort], groups[0])


def _gray(number: Ints) -> Ints:
    return number ^ (number >> 1)
