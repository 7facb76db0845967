"""The model at work: a page in, a probability for each of its blocks out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from scraper.extract.content import hashing
from scraper.extract.content.columns import Matrix, columns, matrix, score_columns
from scraper.extract.content.context import CONTEXT, context
from scraper.extract.content.forest import Forest
from scraper.extract.content.measures import Floats, Measures
from scraper.extract.content.page_type import PAGE_TYPES, page_vector
from scraper.extract.content.weights import Weights

__all__ = ["SURE", "Model", "Opinion", "shipped"]


SURE = 3.0
"""A sum as far from zero stands for .95 or .05: asking the other forests too changes no score by .0002."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the model thinks of a page."""

    p: Floats
    """How likely each block is content."""
    types: dict[str, float]
    """How likely each type of page is."""


class Model:
    """A trained model, ready."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._leading = Forest(weights.first[0])
        self._others = Forest(*weights.first[1:]) if len(weights.first) > 1 else None
        self._second = Forest(weights.second)
        places = {name: number for number, name in enumerate(weights.names)}
        kept = weights.context_names[len(CONTEXT) :]
        self._kept = np.array([places[name] for name in kept], np.int64)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it asks for."""
        return self._weights.names

    def judge(self, page: Measures) -> Opinion:
        """Judge a page of at least one block."""
        weights = self._weights
        named = columns(page)
        named |= score_columns(hashing.scores(page, hashing.hashed(page), weights.linear))
        values = matrix(named, weights.names, page.n)
        first = _probability(self._first_sums(values))
        around = np.concatenate((context(page, first), values[self._kept]))
        second = _probability(self._second.sums(around))
        types = weights.page_types.probabilities(page_vector(values, page.lengths))
        return Opinion((first + second) / 2, dict(zip(PAGE_TYPES, types.tolist(), strict=True)))

    def _first_sums(self, values: Matrix) -> Matrix:
        """The mean of the first forests; the later ones are asked where the first one is in doubt."""
        sums = self._leading.sums(values)
        doubtful = np.flatnonzero(np.abs(sums) < SURE)
        if self._others is not None and len(doubtful):
            values = np.ascontiguousarray(values[:, doubtful])
            sums[doubtful] = (sums[doubtful] + self._others.sums(values)) / len(self._weights.first)
        return sums


def _probability(logits: Matrix) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -30, 30))))


@cache
def shipped() -> Model:
    """The model that comes with the package."""
    with resources.files(__package__).joinpath("weights.npz").open("rb") as file:
        return Model(Weights.load(file))
