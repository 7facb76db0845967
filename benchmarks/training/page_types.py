"""Train the page type model: a multinomial logistic regression over the means of a page's columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from benchmarks.training.table import FOLDS, Row
from scraper.extract.content.block_classifier import PAGE_TYPES, PageTypeClassifier, average_columns

Fitted = PageTypeClassifier
_PENALTY = 0.05
_ITERATIONS = 200
_MAX_DEVIATION = 6.0


def train(
    rows: Sequence[Row], seen: NDArray[np.float32], without_url: NDArray[np.float32], slices: Sequence[slice]
) -> tuple[list[PageTypeClassifier], list[NDArray[np.float64]]]:
    """Train one model for each fold and one for all pages; return them and the folds' predictions."""
    typed = [n for n, row in enumerate(rows) if row.main]
    vectors = [
        np.array([average_columns(values[slices[n]].T, rows[n].measures.lengths) for n in typed])
        for values in (seen, without_url)
    ]
    labels = np.array([PAGE_TYPES.index(rows[n].page_type) for n in typed])
    folds = np.array([rows[n].fold for n in typed])
    models = [_fit([each[folds != fold] for each in vectors], labels[folds != fold]) for fold in range(FOLDS + 1)]
    judged = [
        models[row.fold].predict(average_columns(seen[at].T, row.measures.lengths))
        for row, at in zip(rows, slices, strict=True)
    ]
    return models, judged


def _fit(vectors: Sequence[NDArray[np.float64]], labels: NDArray[np.int64]) -> PageTypeClassifier:
    """Fit a model on each page with and without its URL."""
    means, deviations = vectors[0].mean(0), vectors[0].std(0) + 1e-3
    standard = np.concatenate(
        [np.clip((each - means) / deviations, -_MAX_DEVIATION, _MAX_DEVIATION) for each in vectors]
    )
    wanted = np.eye(len(PAGE_TYPES))[np.concatenate([labels] * len(vectors))]
    width = standard.shape[1]

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        coefficients = point.reshape(len(PAGE_TYPES), width + 1)
        values = standard @ coefficients[:, :-1].T + coefficients[:, -1]
        values -= values.max(1, keepdims=True)
        powers = np.exp(values)
        p = powers / powers.sum(1, keepdims=True)
        pull = (p - wanted) / len(p)
        slope = np.concatenate((pull.T @ standard + _PENALTY * coefficients[:, :-1], pull.sum(0)[:, None]), 1)
        value = -float((wanted * np.log(p + 1e-12)).sum()) / len(p)
        return value + _PENALTY / 2 * float((coefficients[:, :-1] ** 2).sum()), slope.ravel()

    found = optimize.minimize(
        loss, np.zeros(len(PAGE_TYPES) * (width + 1)), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}
    )
    coefficients = found.x.reshape(len(PAGE_TYPES), width + 1).astype(np.float32)
    return PageTypeClassifier(
        coefficients[:, :-1].copy(), coefficients[:, -1].copy(), means.astype(np.float32), deviations.astype(np.float32)
    )
