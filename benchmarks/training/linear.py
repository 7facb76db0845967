"""Train the linear stage: logistic regression over hashed features, by L-BFGS, without random numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from benchmarks.training.table import KEEP, Row
from scraper.extract.content.hashed_features import BUCKETS

_PENALTY = 3e-4
_ITERATIONS = 40

Vector = NDArray[np.float64]


def tokens(row: Row) -> sparse.csr_matrix:
    """Return the buckets of each block of a page as a matrix of ones."""
    page, hashed = row.measures, row.hashed
    blocks, elements, namings = page.n, len(page.parent), len(page.name_features)
    owned = _incidence(page.index, page.owner, (blocks, elements))
    named = _incidence(np.arange(elements), page.name_ids, (elements, namings))
    own = _incidence(hashed.own.rows, hashed.own.buckets, (namings, BUCKETS))
    around = _incidence(hashed.around.rows, hashed.around.buckets, (namings, BUCKETS))
    text = _incidence(hashed.text.rows, hashed.text.buckets, (blocks, BUCKETS))
    heading = _incidence(hashed.heading.rows, hashed.heading.buckets, (blocks, BUCKETS))
    under = np.flatnonzero(hashed.last_heading >= 0)
    before = _incidence(under, hashed.last_heading[under], (blocks, blocks))
    above = owned @ _ancestors(page.parent) @ named
    return sparse.csr_matrix(owned @ named @ own + above @ around + text + before @ heading)


def _ancestors(parent: NDArray[np.int64]) -> sparse.csr_matrix:
    """Return the matrix of elements by ancestors."""
    rows, columns = [], []
    at, above = np.arange(len(parent)), parent.copy()
    while (above >= 0).any():
        at, above = at[above >= 0], above[above >= 0]
        rows.append(at)
        columns.append(above)
        above = parent[above]
    if not rows:
        return sparse.csr_matrix((len(parent), len(parent)), dtype=np.float32)
    return _incidence(np.concatenate(rows), np.concatenate(columns), (len(parent), len(parent)))


def _incidence(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> sparse.csr_matrix:
    ones = np.ones(len(rows), np.float32)
    return sparse.csr_matrix((ones, (rows, columns)), shape=shape)


def fit(matrix: sparse.csr_matrix, rows: Sequence[Row]) -> NDArray[np.float32]:
    """Return the weight of each bucket."""
    signs = np.concatenate([np.where(row.shares >= KEEP, 1.0, -1.0) for row in rows])
    weights = np.sqrt(np.concatenate([row.weights for row in rows]))
    weights /= weights.sum()
    turned = matrix.T.tocsr()

    def loss(point: Vector) -> tuple[float, Vector]:
        margins = signs * (matrix @ point[:-1] + point[-1])
        value = float(weights @ np.logaddexp(0, -margins)) + _PENALTY / 2 * float(point @ point)
        pull = -weights * signs / (1 + np.exp(np.clip(margins, -500, 500)))
        return value, np.append(turned @ pull, pull.sum()) + _PENALTY * point

    found = optimize.minimize(
        loss, np.zeros(BUCKETS + 1), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}
    )
    return np.asarray(found.x[:-1], np.float32)
