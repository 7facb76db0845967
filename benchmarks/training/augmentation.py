"""Build one table of all pages: unchanged, without URLs, and with random losses for training."""

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
"""Share of training pages without a URL, and of those without class names. The model then keeps its score on
pages that have neither."""

_SEED = 1
_NAMES_OF_CLASSES = ("own", "around", "least", "above")


class Table:
    """Blocks of all pages in one table."""

    def __init__(self, rows: Sequence[Row], scores: Sequence[NDArray[np.float64]]) -> None:
        self.names = (*rows[0].names, *(SCORE_PREFIX + name for name in SCORE_NAMES))
        ends = np.cumsum([row.matrix.shape[1] for row in rows])
        self.slices = [slice(end - row.matrix.shape[1], end) for row, end in zip(rows, ends.tolist(), strict=True)]
        self.seen = np.empty((int(ends[-1]), len(self.names)), np.float32)
        for row, some, at in zip(rows, scores, self.slices, strict=True):
            self.seen[at, : len(row.names)] = row.matrix.T
            self.seen[at, len(row.names) :] = np.clip(some, -60, 60).T
        self._urls = [n for n, name in enumerate(self.names) if name.startswith(URL_PREFIX)]

    def without_url(self) -> Matrix:
        """Return the table with all URLs unknown."""
        values = self.seen.copy()
        values[:, self._urls] = -1
        return values

    def learned(self) -> Matrix:
        """Return the training table: some pages lose their URL, some their class names."""
        rng = np.random.default_rng(_SEED)
        hidden, forgotten = (rng.random(len(self.slices)) < share for share in (_HIDDEN_URLS, _FORGOTTEN_NAMES))
        values = self.seen.copy()
        for number, at in enumerate(self.slices):
            self._alter(values[at], hidden=bool(hidden[number]), forgotten=bool(forgotten[number]))
        return values

    def page(self, number: int, rng: np.random.Generator) -> Matrix:
        """Return one page for training, with new random losses on each call."""
        values = self.seen[self.slices[number]].copy()
        hidden, forgotten = rng.random(2) < (_HIDDEN_URLS, _FORGOTTEN_NAMES)
        self._alter(values, hidden=bool(hidden), forgotten=bool(forgotten))
        return values

    def _alter(self, values: Matrix, *, hidden: bool, forgotten: bool) -> None:
        if hidden:
            values[:, self._urls] = -1
        if forgotten:
            self._forget_names(values)

    def _forget_names(self, values: Matrix) -> None:
        """Set the columns to the values of a page without meaningful class names."""
        place = self.names.index
        for name in _NAMES_OF_CLASSES:
            values[:, place(SCORE_PREFIX + name)] = 0
        values[:, place(SCORE_PREFIX + "all")] = (
            values[:, place(SCORE_PREFIX + "text")] + values[:, place(SCORE_PREFIX + "heading")]
        )
        for kind in ("content", "side", "comments", "teasers"):
            values[:, place(f"{kind}_around")] = 0
            values[:, place(f"{kind}_distance")] = 30
