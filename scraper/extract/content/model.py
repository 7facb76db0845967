"""The model at work: a page in, a probability for each of its blocks out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from scraper.extract.content import hashing
from scraper.extract.content.columns import Matrix, columns, matrix, score_columns
from scraper.extract.content.context import CONTEXT, context
from scraper.extract.content.decode import choose, expected_f1
from scraper.extract.content.forest import Forest
from scraper.extract.content.measures import Floats, Measures
from scraper.extract.content.page_type import PAGE_TYPES, page_vector
from scraper.extract.content.weights import Weights

__all__ = ["SURE", "Model", "Opinion", "is_clear", "shipped"]


SURE = 3.0
"""A sum as far from zero stands for .95 or .05: about such a block neither the later forests nor the second
trees are asked. With all asked about all no score is better by .0002."""

_CLEAR = 0.98
"""Expected F1 above which the first forest alone decides about a page, one in four. With .97 F1 of phrases
loses .004, with .90 that of wcxb .0004."""


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
        sums = self._leading.sums(values)
        p = _probability(sums)
        if not is_clear(p, page.lengths):
            p = self._closer(page, values, sums)
        types = weights.page_types.probabilities(page_vector(values, page.lengths))
        return Opinion(p, dict(zip(PAGE_TYPES, types.tolist(), strict=True)))

    def _closer(self, page: Measures, values: Matrix, sums: Matrix) -> Floats:
        """By the later forests where the first is in doubt, and by the second trees where all of them are."""
        doubtful = np.flatnonzero(np.abs(sums) < SURE)
        if self._others is not None and len(doubtful):
            told = self._others.sums(np.ascontiguousarray(values[:, doubtful]))
            sums[doubtful] = (sums[doubtful] + told) / len(self._weights.first)
        p = _probability(sums)
        doubtful = np.flatnonzero(np.abs(sums) < SURE)
        if len(doubtful):
            around = np.concatenate((context(page, p)[:, doubtful], values[self._kept[:, None], doubtful]))
            p[doubtful] = (p[doubtful] + _probability(self._second.sums(around))) / 2
        return p


def is_clear(p: Floats, lengths: Floats) -> bool:
    """Whether the first forest alone is sure enough of a page."""
    return expected_f1(choose(p, lengths), p, lengths) > _CLEAR


def _probability(logits: Matrix) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -30, 30))))


@cache
def shipped() -> Model:
    """The model that comes with the package."""
    with resources.files(__package__).joinpath("weights.npz").open("rb") as file:
        return Model(Weights.load(file))
