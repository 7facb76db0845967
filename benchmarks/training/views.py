"""All pages as one table: as they are, without their addresses, and as they are learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.training.table import Row
from scraper.extract.content.feature_matrix import SCORE_PREFIX, URL_PREFIX
from scraper.extract.content.hashed_features import SCORE_NAMES

Matrix: TypeAlias = NDArray[np.float32]

_HIDDEN_URLS = 0.5
_FORGOTTEN_NAMES = 0.2
"""On so many of the pages to learn from, the address is hidden, or the names of classes say nothing: a page
without them keeps its score."""

_SEED = 1
_NAMES_OF_CLASSES = ("own", "around", "least", "above")


class Table:
    """The blocks of all pages one below the other."""

    def __init__(self, rows: Sequence[Row], scores: Sequence[NDArray[np.float64]]) -> None:
        self.names = (*rows[0].names, *(SCORE_PREFIX + name for name in SCORE_NAMES))
        ends = np.cumsum([row.matrix.shape[1] for row in rows])
        self.slices = [
            slice(end - row.matrix.shape[1], end) for row, end in zip(rows, ends.tolist(), strict=True)
        ]
        self.seen = np.empty((int(ends[-1]), len(self.names)), np.float32)
        for row, some, at in zip(rows, scores, self.slices, strict=True):
            self.seen[at, : len(row.names)] = row.matrix.T
            self.seen[at, len(row.names) :] = np.clip(some, -60, 60).T
        self._urls = [n for n, name in enumerate(self.names) if name.startswith(URL_PREFIX)]

    def without_url(self) -> Matrix:
        """The table of pages whose addresses nobody knows."""
        values = self.seen.copy()
        values[:, self._urls] = -1
        return values

    def learned(self) -> Matrix:
        """The table to learn from: some pages have lost their address, some the names of their classes."""
        chance = np.random.default_rng(_SEED)
        hidden, forgotten = (
            chance.random(len(self.slices)) < share for share in (_HIDDEN_URLS, _FORGOTTEN_NAMES)
        )
        values = self.seen.copy()
        for number, at in enumerate(self.slices):
            self._alter(values[at], hidden=bool(hidden[number]), forgotten=bool(forgotten[number]))
        return values

    def page(self, number: int, chance: np.random.Generator) -> Matrix:
        """One page to learn from, each time with other losses."""
        values = self.seen[self.slices[number]].copy()
        hidden, forgotten = chance.random(2) < (_HIDDEN_URLS, _FORGOTTEN_NAMES)
        self._alter(values, hidden=bool(hidden), forgotten=bool(forgotten))
        return values

    def _alter(self, values: Matrix, *, hidden: bool, forgotten: bool) -> None:
        if hidden:
            values[:, self._urls] = -1
        if forgotten:
            self._forget_names(values)

    def _forget_names(self, values: Matrix) -> None:
        """As if the page's class names said nothing."""
        place = self.names.index
        for name in _NAMES_OF_CLASSES:
            values[:, place(SCORE_PREFIX + name)] = 0
        values[:, place(SCORE_PREFIX + "all")] = (
            values[:, place(SCORE_PREFIX + "text")] + values[:, place(SCORE_PREFIX + "heading")]
        )
        for kind in ("content", "side", "comments", "teasers"):
            values[:, place(f"{kind}_around")] = 0
            values[:, place(f"{kind}_distance")] = 30
