"""Decision trees in plain numpy, as bits: no training library at run time.

Each node's question is asked of all rows at once, and the answers are kept as bits, 64 rows a word. From the
roots down, a row's bit is handed to the left or to the right: two operations a node, whatever the number of
rows in a word. The number of the leaf that a row ends in then comes out as five planes of bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_LEAVES", "Forest", "Nodes"]

MAX_LEAVES = 32
_PLANES = 5
"""Bits of a leaf's number."""

_SPAN = 64
"""More than any place of a leaf, so that tree, start and end make one number."""

_WORD = 64
_ROWS_AT_ONCE = 64
"""With one word for all rows the steps between the words fall away; larger parts leave the processor's cache
and give their memory back to the system each time: on 700 rows 128 take a tenth longer, 256 a fifth."""

_CELLS_AT_ONCE = 1 << 17

Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]


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


class Forest:
    """The sum of all trees of some forests: what asks the same of a value is asked once."""

    def __init__(self, *forests: Nodes) -> None:
        nodes = _joined(forests)
        self._trees = len(nodes.leaves)
        levels, comes_from = _levels(nodes)
        order = np.concatenate(levels)
        self._borders = np.cumsum([0, *map(len, levels)]).tolist()
        self._comes_from = comes_from
        self._features, self._thresholds, self._asks = _questions(nodes, order)
        self._rows, self._starts = _plane_rows(nodes, order, self._trees)
        leaves = np.empty_like(nodes.leaves)
        leaves[:, _gray(np.arange(MAX_LEAVES))] = nodes.leaves
        self._leaves = leaves.ravel()
        self._first_leaf = (np.arange(self._trees) * MAX_LEAVES)[:, None]

    def sums(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """The sum over the trees for each column of a matrix (features x rows)."""
        count = matrix.shape[1]
        sums = np.empty(count, np.float32)
        for start in range(0, count, _ROWS_AT_ONCE):
            some = matrix[:, start : start + _ROWS_AT_ONCE]
            sums[start : start + some.shape[1]] = self._some(some)[: some.shape[1]]
        return sums

    def _some(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        count = max(matrix.shape[1], 2)  # a single row numpy would add up in another order
        planes = self._planes(self._handed_right(self._answers(matrix)))
        bits = np.unpackbits(planes.view(np.uint8), axis=1, count=count, bitorder="little")
        bits = bits.reshape(_PLANES, self._trees, count)
        leaf = bits[-1]
        for plane in bits[-2::-1]:
            leaf = (leaf + leaf) | plane  # a shift takes ten times as long
        return np.asarray(self._leaves.take(leaf + self._first_leaf, mode="clip").sum(0))

    def _answers(self, matrix: NDArray[np.float32]) -> Words:
        """For each question a bit for each row: whether its value goes to the right."""
        features, count = matrix.shape
        used = -(-count // 8)
        values = np.zeros((features, used * 8), np.float32)
        values[:, :count] = matrix
        answers = np.zeros((len(self._features), -(-count // _WORD) * _WORD // 8), np.uint8)
        step = _CELLS_AT_ONCE // (used * 8)
        for start in range(0, len(answers), step):
            end = start + step
            right = values.take(self._features[start:end], axis=0) > self._thresholds[start:end]
            answers[start:end, :used] = np.packbits(right, bitorder="little").reshape(-1, used)
        return answers.view(np.uint64)

    def _handed_right(self, answers: Words) -> Words:
        """For each node, level by level, the rows that it hands to the right; one empty row more."""
        asked = answers.take(self._asks, axis=0)
        nodes, words = asked.shape
        handed = np.zeros((nodes + 1, 2, words), np.uint64)
        sides = handed.reshape(-1, words)
        for level, (start, end) in enumerate(zip(self._borders, self._borders[1:], strict=False)):
            reached = sides.take(self._comes_from[start:end], axis=0) if level else ~np.uint64(0)
            right = handed[start:end, 1]
            np.bitwise_and(asked[start:end], reached, out=right)
            np.bitwise_xor(right, reached, out=handed[start:end, 0])
        return handed[:, 1]

    def _planes(self, right: Words) -> Words:
        """For each bit of a leaf's number and each tree, the rows where it is set."""
        by_word = np.ascontiguousarray(right.T).take(self._rows, axis=1)
        return np.ascontiguousarray(np.bitwise_xor.reduceat(by_word, self._starts, axis=1).T)


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


def _levels(nodes: Nodes) -> tuple[list[Ints], Ints]:
    """The nodes of each level from the roots down, and for each where its rows come from.

    That is twice the place of the node above, and one more for its right side. Leaves are numbered from left
    to right, so the node of a span of leaves is the one that begins with it and whose left side is longest.
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
        places = 2 * np.arange(done, done + len(level))
        done += len(level)
        middles = nodes.last[level]
        trees, ends = np.tile(nodes.trees[level], 2), np.concatenate((middles, ends[inner]))
        starts = np.concatenate((starts[inner], middles))
        comes_from = np.concatenate((places, places + 1))
    return levels, np.concatenate(sources)


def _questions(nodes: Nodes, order: Ints) -> tuple[Ints, NDArray[np.float32], Ints]:
    """The different questions (feature and threshold), and which of them each node asks."""
    keys = nodes.features[order] << 32 | nodes.thresholds[order].view(np.uint32)
    _, places, asks = np.unique(keys, return_index=True, return_inverse=True)
    chosen = order[places]
    return nodes.features[chosen], nodes.thresholds[chosen][:, None], asks


def _plane_rows(nodes: Nodes, order: Ints, trees: int) -> tuple[Ints, Ints]:
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
