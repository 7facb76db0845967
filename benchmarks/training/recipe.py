"""The recipe: linear scores, then trees, then trees over what the first trees think of the surroundings.

Every stage learns from what the stage before says of pages it did not learn from: pages are parted into folds
by domain, and for each fold the stages are trained on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.training import linear, trees, types
from benchmarks.training.boosting import lightgbm
from benchmarks.training.table import FOLDS, KEEP, Row
from scraper.extract.content import hashing
from scraper.extract.content.columns import SCORE_PREFIX
from scraper.extract.content.context import CONTEXT, context
from scraper.extract.content.hashing import SCORES
from scraper.extract.content.model import SURE, Opinion, is_clear
from scraper.extract.content.page_columns import URL_PREFIX
from scraper.extract.content.page_type import PAGE_TYPES
from scraper.extract.content.weights import Weights

__all__ = ["ALL", "Trained", "train"]

ALL = FOLDS
"""The fold of the model that learned from every page."""

Matrix = NDArray[np.float32]
Vector: TypeAlias = NDArray[np.float64]
Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the forests of the first stage."""

    rounds: int
    parameters: dict[str, float | int | str | bool]
    soft: bool = False
    """It learns the matched share of a block instead of yes and no."""


FIRST = (
    Kind(400, {"learning_rate": 0.08, "min_data_in_leaf": 60, "extra_trees": True, "seed": 14}),
    Kind(300, {"learning_rate": 0.06, "min_data_in_leaf": 120, "seed": 12}),
    Kind(300, {"learning_rate": 0.06, "min_data_in_leaf": 120, "seed": 15}, soft=True),
)
SECOND = Kind(
    160,
    {"learning_rate": 0.06, "min_data_in_leaf": 200, "lambda_l2": 20.0, "extra_trees": True, "seed": 3},
)
_KEPT_COLUMNS = 80
"""So many of the first trees' columns, by gain, are shown to the second."""

_HIDDEN_URLS = 0.5
_FORGOTTEN_NAMES = 0.2
"""On so many of the pages to learn from, the address is hidden, or the names of classes say nothing: a page
without them keeps its score."""

_SEED = 1
_WEIGHT_QUANTILE = 0.999
_NAMES_OF_CLASSES = ("own", "around", "least", "above")


@dataclass(slots=True)
class Trained:
    """The weights of each fold and of all, and what the folds say of pages they did not see."""

    weights: list[Weights]
    opinions: list[Opinion]
    """In the order of the pages; their addresses were known."""
    without_url: list[Opinion]


class _Table:
    """All pages one below the other: as they are, without addresses, and as they are learned from."""

    def __init__(self, rows: Sequence[Row], scores: Sequence[NDArray[np.float64]]) -> None:
        self.names = (*rows[0].names, *(SCORE_PREFIX + name for name in SCORES))
        ends = np.cumsum([row.matrix.shape[1] for row in rows])
        self.slices = [
            slice(end - row.matrix.shape[1], end) for row, end in zip(rows, ends.tolist(), strict=True)
        ]
        self.seen = np.empty((int(ends[-1]), len(self.names)), np.float32)
        for row, some, at in zip(rows, scores, self.slices, strict=True):
            self.seen[at, : len(row.names)] = row.matrix.T
            self.seen[at, len(row.names) :] = np.clip(some, -60, 60).T
        self._urls = [n for n, name in enumerate(self.names) if name.startswith(URL_PREFIX)]
        chance = np.random.default_rng(_SEED)
        self.hidden = chance.random(len(rows)) < _HIDDEN_URLS
        self.forgotten = chance.random(len(rows)) < _FORGOTTEN_NAMES

    def without_url(self) -> Matrix:
        values = self.seen.copy()
        values[:, self._urls] = -1
        return values

    def learned(self) -> Matrix:
        values = self.seen.copy()
        for number, at in enumerate(self.slices):
            if self.hidden[number]:
                values[at, self._urls] = -1
            if self.forgotten[number]:
                self._forget_names(values[at])
        return values

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


def train(rows: Sequence[Row], log: Log, first: Sequence[Kind] = FIRST, second: Kind = SECOND) -> Trained:
    """Train the model, and one for each fold."""
    learners = [
        [n for n, row in enumerate(rows) if row.teaches and row.fold != fold] for fold in range(FOLDS)
    ]
    learners.append([n for n, row in enumerate(rows) if row.teaches])
    judged = [[n for n, row in enumerate(rows) if row.fold == fold] for fold in range(FOLDS)]
    linears, scores = _linear_stage(rows, learners, judged)
    log("linear stage done")
    table = _Table(rows, scores)
    data = _Data(rows, table)
    forests, told, told_without = _first_stage(data, learners, judged, first, log)
    kept = _most_gained(forests[ALL])
    seconds, q, q_without = _second_stage(data, (told, told_without), kept, learners, judged, second, log)
    page_types, judged_types = types.train(rows, table.seen, table.without_url(), table.slices)
    weights = [
        _weights(linears[fold], table.names, forests[fold], seconds[fold], kept, page_types[fold])
        for fold in range(FOLDS + 1)
    ]
    named = [dict(zip(PAGE_TYPES, each.tolist(), strict=True)) for each in judged_types]
    return Trained(weights, _opinions(rows, told, q, named), _opinions(rows, told_without, q_without, named))


def _opinions(
    rows: Sequence[Row],
    told: Sequence[Sequence[Vector]],
    second: Sequence[Sequence[Vector]],
    types: Sequence[dict[str, float]],
) -> list[Opinion]:
    return [
        Opinion(_decided(row, logits, closer), kinds)
        for row, logits, (closer,), kinds in zip(rows, told, second, types, strict=True)
    ]


def _decided(row: Row, logits: Sequence[Vector], closer: Vector) -> Vector:
    """As the model at work asks on and on where it is in doubt."""
    leading = _probability(logits[0])
    if is_clear(leading, row.measures.lengths):
        return leading
    sums = _combined(logits)
    p = _probability(sums)
    return np.where(np.abs(sums) < SURE, (p + _probability(closer)) / 2, p)


def _linear_stage(
    rows: Sequence[Row], learners: Sequence[Sequence[int]], judged: Sequence[Sequence[int]]
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float64]]]:
    matrices = [linear.tokens(row) for row in rows]
    weights = [
        linear.fit(sparse.vstack([matrices[n] for n in some]).tocsr(), [rows[n] for n in some])
        for some in learners
    ]
    scores: list[NDArray[np.float64]] = [np.empty(0)] * len(rows)
    for fold, some in enumerate(judged):
        for n in some:
            scores[n] = _scores(rows[n], weights[fold])
    return weights, scores


def _scores(row: Row, weights: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.asarray(hashing.scores(row.measures, row.hashed, weights))


class _Data:
    """Labels and weights beside the table, and LightGBM's own form of it."""

    def __init__(self, rows: Sequence[Row], table: _Table) -> None:
        self.rows = rows
        self.table = table
        self.shares = np.clip(np.concatenate([row.shares for row in rows]), 0, 1)
        self.labels = (self.shares >= KEEP).astype(np.float32)
        weights = np.concatenate([row.weights for row in rows])
        self.weights = np.minimum(weights, np.quantile(weights, _WEIGHT_QUANTILE))
        self.weights /= self.weights.mean()

    def places(self, pages: Sequence[int]) -> NDArray[np.int64]:
        """The lines of some pages in the table, those that weigh nothing left out."""
        slices = self.table.slices
        lines = np.concatenate([np.arange(slices[n].start, slices[n].stop) for n in pages])
        return np.asarray(lines[self.weights[lines] > 0])

    def dataset(self, values: Matrix, *, soft: bool) -> lightgbm.Dataset:
        """For LightGBM, with bins of its own."""
        label = self.shares if soft else self.labels
        data = lightgbm.Dataset(
            values, label, weight=self.weights, params={"max_bin": 127, "verbose": -1}, free_raw_data=False
        )
        return data.construct()


def _first_stage(
    data: _Data,
    learners: Sequence[Sequence[int]],
    judged: Sequence[Sequence[int]],
    kinds: Sequence[Kind],
    log: Log,
) -> tuple[list[list[lightgbm.Booster]], list[list[Vector]], list[list[Vector]]]:
    learned, hidden = data.table.learned(), data.table.without_url()
    forests: list[list[lightgbm.Booster]] = [[] for _ in learners]
    for kind in kinds:
        whole = data.dataset(learned, soft=kind.soft)
        for fold, some in enumerate(learners):
            forests[fold].append(_grow(whole, data, some, kind))
            log(f"first trees, fold {fold}: {kind.parameters}")
    told = _out_of_fold(data, forests, judged, data.table.seen)
    return forests, told, _out_of_fold(data, forests, judged, hidden)


def _grow(whole: lightgbm.Dataset, data: _Data, pages: Sequence[int], kind: Kind) -> lightgbm.Booster:
    objective = {"objective": "cross_entropy"} if kind.soft else {}
    return trees.grow(
        whole.subset(data.places(pages).tolist()), kind.rounds, {**kind.parameters, **objective}
    )


def _out_of_fold(
    data: _Data,
    forests: Sequence[Sequence[lightgbm.Booster]],
    judged: Sequence[Sequence[int]],
    values: Matrix,
) -> list[list[Vector]]:
    """For each page what each forest says of its blocks, as logits."""
    told: list[list[Vector]] = [[] for _ in data.rows]
    for fold, some in enumerate(judged):
        for n in some:
            told[n] = [
                np.asarray(forest.predict(values[data.table.slices[n]], raw_score=True, num_threads=1))
                for forest in forests[fold]
            ]
    return told


def _combined(logits: Sequence[Vector]) -> Vector:
    """As the model at work combines them."""
    return np.where(np.abs(logits[0]) < SURE, np.mean(logits, axis=0), logits[0])


def _probability(logits: Vector) -> Vector:
    return np.asarray(1 / (1 + np.exp(-logits)))


def _most_gained(forests: Sequence[lightgbm.Booster]) -> list[int]:
    gains = np.sum([forest.feature_importance("gain") for forest in forests], axis=0)
    order = np.argsort(-gains, kind="stable")
    return sorted(int(n) for n in order[:_KEPT_COLUMNS])


def _second_stage(
    data: _Data,
    told: tuple[list[list[Vector]], list[list[Vector]]],
    kept: Sequence[int],
    learners: Sequence[Sequence[int]],
    judged: Sequence[Sequence[int]],
    kind: Kind,
    log: Log,
) -> tuple[list[lightgbm.Booster], list[list[Vector]], list[list[Vector]]]:
    table, rows = data.table, data.rows
    views = [
        np.concatenate(
            [
                context(row.measures, _probability(_combined(logits))).T
                for row, logits in zip(rows, each, strict=True)
            ]
        )
        for each in told
    ]
    seen = np.concatenate((views[0], table.seen[:, kept]), axis=1)
    hidden = np.concatenate((views[1], table.without_url()[:, kept]), axis=1)
    learned = seen.copy()
    for n, at in enumerate(table.slices):
        if table.hidden[n]:
            learned[at] = hidden[at]
    whole = data.dataset(learned, soft=kind.soft)
    forests = []
    for fold, some in enumerate(learners):
        forests.append(_grow(whole, data, some, kind))
        log(f"second trees, fold {fold}")
    each = [[forest] for forest in forests]
    return forests, _out_of_fold(data, each, judged, seen), _out_of_fold(data, each, judged, hidden)


def _weights(
    linear_weights: NDArray[np.float32],
    names: Sequence[str],
    first: Sequence[lightgbm.Booster],
    second: lightgbm.Booster,
    kept: Sequence[int],
    page_types: types.Fitted,
) -> Weights:
    columns = range(len(names))
    return Weights(
        linear=linear_weights,
        names=tuple(names),
        first=tuple(trees.nodes_of(forest, columns) for forest in first),
        context_names=(*CONTEXT, *(names[n] for n in kept)),
        second=trees.nodes_of(second, range(len(CONTEXT) + len(kept))),
        page_types=page_types,
    )
