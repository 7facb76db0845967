"""Fit the weights of the shell score of `scraper.extract.verdict.verdict`.

Run `python -m benchmarks.train_verdict --corpora DIR`.

Logistic regression with Newton's method on saved pages with scripts and on copies without their content. Folds
are by host, so that no site is in both training and test set. Prints both error rates out of fold for several
limits, and the weights in the format of the code.
"""

from __future__ import annotations

import zlib
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.verdict.pages import LabeledPage, saved_pages, snapshot_of
from scraper.extract.verdict.verdict import FEATURES, LONG_WORDS, PageSignals
from scraper.extract.verdict.verdict import measure as measure_page
from scraper.html.dom.parsing import text_of
from scraper.html.page import main_content, page_tree

FOLDS = 4
_STEPS = 40
_RIDGE = 1e-4
_LIMITS = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5)

Floats = NDArray[np.float64]


async def measure(options: Options) -> Figures:
    """Fit and print the errors out of fold, then fit on all pages."""
    if options.corpora is None:
        raise FileNotFoundError("Name the folder of the corpora: --corpora DIR.")
    rows, labels, folds, too_long = [], [], [], [0, 0]
    for page in saved_pages(options.corpora, every=10 if options.quick else 1):
        values, long = _values(page)
        if long:
            too_long[page.expected == "thin"] += 1
        elif values is not None:
            rows.append(values)
            labels.append(page.expected == "thin")
            folds.append(zlib.crc32((urlsplit(page.url).hostname or "").encode()) % FOLDS)
    x, y, fold = np.array(rows), np.array(labels, dtype=float), np.array(folds)
    scores = np.zeros(len(y))
    for one in range(FOLDS):
        scores[fold == one] = x[fold == one] @ _fit(x[fold != one], y[fold != one])
    _print_mistakes(scores, y, too_long)
    weights = _fit(x, y)
    print_table("Weights", ("measure", "weight"), zip(FEATURES, map(_rounded, weights), strict=True))
    return {f"weight.{name}": _rounded(value) for name, value in zip(FEATURES, weights, strict=True)}


def _values(page: LabeledPage) -> tuple[tuple[float, ...] | None, bool]:
    """Return the features of a page, and True if it is too long for the score."""
    built = page_tree.build_page_tree(snapshot_of(page))
    signals = PageSignals(built)
    if not signals.scripted:
        return None, False
    if signals.words >= LONG_WORDS:
        return None, True
    main_content.remove_boilerplate(built.body)
    return measure_page(built.head, built.body, text_of(built.body)), False


def _fit(x: Floats, y: Floats) -> Floats:
    weights = np.zeros(x.shape[1])
    ridge = _RIDGE * len(y) * np.eye(x.shape[1])
    ridge[0, 0] = 0.0
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-x @ weights))
        curve = (x * (likely * (1 - likely))[:, None]).T @ x + ridge
        weights = weights - np.linalg.solve(curve, x.T @ (likely - y) + ridge @ weights)
    return weights


def _print_mistakes(scores: Floats, y: Floats, too_long: list[int]) -> None:
    whole, gone = (y == 0).sum() + too_long[0], (y == 1).sum() + too_long[1]
    rows = [
        (
            f"score > {limit:g}",
            float((scores[y == 0] > limit).sum() / whole),
            float(1 - (scores[y == 1] > limit).sum() / gone),
        )
        for limit in _LIMITS
    ]
    print_table(
        f"Out of fold: {whole} scripted pages with their content, {gone} copies without it",
        ("classified as a shell", "unnecessary renders", "missed renders"),
        rows,
    )


def _rounded(value: float) -> float:
    return round(float(value), 3)


if __name__ == "__main__":
    run(__doc__ or "", measure)
