"""Fit the weights of `scraper.extract.verdict.shell_score`.

Run `python -m benchmarks.train_verdict --corpora DIR`.

Logistic regression by Newton's steps on saved pages with scripts and on the same made hollow; folds are by
host, so that no site stands on both sides. Prints the two kinds of mistakes out of fold for several limits,
and the weights as they stand in the code.
"""

from __future__ import annotations

import zlib
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.verdict.pages import Labelled, saved, snapshot_of
from scraper.extract.dom.xpath import text_of
from scraper.extract.page import page_tree
from scraper.extract.verdict import shell_score, verdict
from scraper.extract.verdict.verdict import LONG_WORDS, PageSignals

FOLDS = 4
_STEPS = 40
_RIDGE = 1e-4
_LIMITS = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5)

Floats = NDArray[np.float64]


async def measure(options: Options) -> Figures:
    """Fit out of fold, print what that comes to, and fit on everything."""
    if options.corpora is None:
        raise FileNotFoundError("--corpora DIR is needed.")
    rows, labels, folds, beyond = [], [], [], [0, 0]
    for page in saved(options.corpora, every=10 if options.quick else 1):
        values, long = _values(page)
        if long:
            beyond[page.expected == "thin"] += 1
        elif values is not None:
            rows.append(values)
            labels.append(page.expected == "thin")
            folds.append(zlib.crc32((urlsplit(page.url).hostname or "").encode()) % FOLDS)
    x, y, fold = np.array(rows), np.array(labels, dtype=float), np.array(folds)
    scores = np.zeros(len(y))
    for one in range(FOLDS):
        scores[fold == one] = x[fold == one] @ _fitted(x[fold != one], y[fold != one])
    _print_mistakes(scores, y, beyond)
    weights = _fitted(x, y)
    print_table("Weights", ("measure", "weight"), zip(shell_score.FEATURES, map(_rounded, weights), strict=True))
    return {f"weight.{name}": _rounded(value) for name, value in zip(shell_score.FEATURES, weights, strict=True)}


def _values(page: Labelled) -> tuple[tuple[float, ...] | None, bool]:
    """Return the features of a page, and True if it is too long for the score."""
    built = page_tree.build_page_tree(snapshot_of(page))
    survey = PageSignals(built)
    if not survey.scripted:
        return None, False
    if survey.words >= LONG_WORDS:
        return None, True
    verdict.remove_page_furniture(built.body)
    return shell_score.measure(built.head, built.body, text_of(built.body)), False


def _fitted(x: Floats, y: Floats) -> Floats:
    weights = np.zeros(x.shape[1])
    ridge = _RIDGE * len(y) * np.eye(x.shape[1])
    ridge[0, 0] = 0.0
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-x @ weights))
        curve = (x * (likely * (1 - likely))[:, None]).T @ x + ridge
        weights = weights - np.linalg.solve(curve, x.T @ (likely - y) + ridge @ weights)
    return weights


def _print_mistakes(scores: Floats, y: Floats, beyond: list[int]) -> None:
    whole, gone = (y == 0).sum() + beyond[0], (y == 1).sum() + beyond[1]
    rows = [
        (
            f"score > {limit:g}",
            float((scores[y == 0] > limit).sum() / whole),
            float(1 - (scores[y == 1] > limit).sum() / gone),
        )
        for limit in _LIMITS
    ]
    print_table(
        f"Out of fold: {whole} pages with scripts that hold their content, {gone} made hollow",
        ("taken as hollow", "rendered for nothing", "stopped too early"),
        rows,
    )


def _rounded(value: float) -> float:
    return round(float(value), 3)


if __name__ == "__main__":
    run(__doc__ or "", measure)
