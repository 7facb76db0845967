"""Train the linear stage, the forest, and the net for pages on which the forest is not confident.

Forest and net use linear scores of pages that the linear stage was not trained on. Pages are divided into
folds by domain, and for each fold everything is trained on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.training import linear, neural_net, page_types, trees
from benchmarks.training.augmentation import Matrix, Table
from benchmarks.training.boosting import lightgbm
from benchmarks.training.neural_net import Settings
from benchmarks.training.table import FOLDS, KEEP, Row
from benchmarks.training.trees import Growth
from scraper.extract.content import hashed_features
from scraper.extract.content.block_classifier import PAGE_TYPES, ModelWeights, Prediction, is_confident, sigmoid
from scraper.extract.content.neural_net import NeuralNet, NeuralNetWeights

ALL = FOLDS
"""Fold of the model trained on every page."""

Vector: TypeAlias = NDArray[np.float64]
Log = Callable[[str], None]

_WEIGHT_QUANTILE = 0.999


@dataclass(slots=True)
class Trained:
    """Weights of each fold and of all pages, and the folds' predictions for unseen pages."""

    weights: list[ModelWeights]
    predictions: list[Prediction]
    """Predictions in the order of the pages, with known URLs."""
    without_url: list[Prediction]


def train(rows: Sequence[Row], log: Log, growth: Growth | None = None, settings: Settings | None = None) -> Trained:
    """Train the model of all pages, and one for each fold."""
    learners = [
        [n for n, row in enumerate(rows) if row.used_for_training and row.fold != fold] for fold in range(FOLDS)
    ]
    learners.append([n for n, row in enumerate(rows) if row.used_for_training])
    linears, scores = _linear_stage(rows, learners)
    log("linear stage done")
    data = _Data(rows, Table(rows, scores))
    forests = _forests(data, learners, growth or Growth(), log)
    nets = []
    for fold, some in enumerate(learners):
        nets.append(neural_net.fit(rows, data.table, data.weights, some, settings or Settings()))
        log(f"net, fold {fold}")
    seen, hidden = data.table.seen, data.table.without_url()
    type_models, type_predictions = page_types.train(rows, seen, hidden, data.table.slices)
    weights = [
        ModelWeights(linears[fold], data.table.names, trees.nodes_of(forests[fold]), nets[fold], type_models[fold])
        for fold in range(FOLDS + 1)
    ]
    named = [dict(zip(PAGE_TYPES, each.tolist(), strict=True)) for each in type_predictions]
    predictions = [
        [Prediction(p, kinds) for p, kinds in zip(_predict(data, forests, nets, values), named, strict=True)]
        for values in (seen, hidden)
    ]
    return Trained(weights, *predictions)


def _linear_stage(
    rows: Sequence[Row], learners: Sequence[Sequence[int]]
) -> tuple[list[NDArray[np.float32]], list[Vector]]:
    matrices = [linear.tokens(row) for row in rows]
    weights = [
        linear.fit(sparse.vstack([matrices[n] for n in some]).tocsr(), [rows[n] for n in some]) for some in learners
    ]
    scores = [np.asarray(hashed_features.compute_scores(row.measures, row.hashed, weights[row.fold])) for row in rows]
    return weights, scores


class _Data:
    """Labels and weights beside the table."""

    def __init__(self, rows: Sequence[Row], table: Table) -> None:
        self.rows = rows
        self.table = table
        self.labels = (np.concatenate([row.shares for row in rows]) >= KEEP).astype(np.float32)
        weights = np.concatenate([row.weights for row in rows])
        self.weights = np.minimum(weights, np.quantile(weights, _WEIGHT_QUANTILE))
        self.weights /= self.weights.mean()

    def places(self, pages: Sequence[int]) -> NDArray[np.int64]:
        """Return the table rows of some pages, without those of weight zero."""
        slices = self.table.slices
        lines = np.concatenate([np.arange(slices[n].start, slices[n].stop) for n in pages])
        return np.asarray(lines[self.weights[lines] > 0])


def _forests(data: _Data, learners: Sequence[Sequence[int]], growth: Growth, log: Log) -> list[lightgbm.Booster]:
    parameters = {"max_bin": 127, "verbose": -1}
    whole = lightgbm.Dataset(
        data.table.learned(), data.labels, weight=data.weights, params=parameters, free_raw_data=False
    ).construct()
    forests = []
    for fold, some in enumerate(learners):
        forests.append(trees.grow(whole.subset(data.places(some).tolist()), growth))
        log(f"trees, fold {fold}")
    return forests


def _predict(
    data: _Data, forests: Sequence[lightgbm.Booster], nets: Sequence[NeuralNetWeights], values: Matrix
) -> list[Vector]:
    """Return predictions for each page by the models that were not trained on its domain."""
    predictions_by_page = []
    for row, at in zip(data.rows, data.table.slices, strict=True):
        sums = forests[row.fold].predict(values[at], raw_score=True, num_threads=1)
        p = sigmoid(np.asarray(sums, np.float32))
        if not is_confident(p, row.measures.lengths):
            p = (p + sigmoid(NeuralNet(nets[row.fold]).compute_logits(row.measures, values[at].T))) / 2
        predictions_by_page.append(p)
    return predictions_by_page
