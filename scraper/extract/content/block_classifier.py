"""The model at work: a page in, a probability for each of its blocks out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from scraper.extract.content import hashed_features
from scraper.extract.content.block_selection import choose, expected_f1
from scraper.extract.content.feature_matrix import Matrix, columns, matrix, score_columns
from scraper.extract.content.forest import DecisionForest
from scraper.extract.content.neural_net import NeuralNet
from scraper.extract.content.page_statistics import Floats, PageStatistics
from scraper.extract.content.page_type import PAGE_TYPES, page_vector
from scraper.extract.content.weights import ModelWeights

_CLEAR = 0.85
"""Expected F1 above which the trees alone decide about a page, as on five of six."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model thinks of a page."""

    p: Floats
    """How likely each block is content."""
    types: dict[str, float]
    """How likely each type of page is."""


class BlockClassifier:
    """A trained model, ready."""

    def __init__(self, weights: ModelWeights) -> None:
        self._weights = weights
        self._forest = DecisionForest(weights.forest)
        self._net = NeuralNet(weights.net)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it asks for."""
        return self._weights.names

    def judge(self, page: PageStatistics) -> Prediction:
        """Judge a page of at least one block."""
        weights = self._weights
        named = columns(page)
        named |= score_columns(hashed_features.scores(page, hashed_features.hashed(page), weights.linear))
        values = matrix(named, weights.names, page.n)
        p = probability(self._forest.sums(values))
        if not is_clear(p, page.lengths):
            p = (p + probability(self._net.sums(page, values))) / 2
        types = weights.page_types.probabilities(page_vector(values, page.lengths))
        return Prediction(p, dict(zip(PAGE_TYPES, types.tolist(), strict=True)))


def is_clear(p: Floats, lengths: Floats) -> bool:
    """Whether the trees are sure enough of a page."""
    return expected_f1(choose(p, lengths), p, lengths) > _CLEAR


def probability(sums: Matrix) -> Floats:
    """What a sum, of the trees or of the net, stands for."""
    return np.asarray(1 / (1 + np.exp(-np.clip(sums.astype(np.float64), -30, 30))))


@cache
def shipped() -> BlockClassifier:
    """The model that comes with the package."""
    with resources.files(__package__).joinpath("weights.npz").open("rb") as file:
        return BlockClassifier(ModelWeights.load(file))
