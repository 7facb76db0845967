"""All columns of a page, a row of the matrix for each: what trees and net look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.hashed_features import SCORES
from scraper.extract.content.order_features import order_columns
from scraper.extract.content.page_features import page_columns
from scraper.extract.content.page_statistics import Floats, PageStatistics
from scraper.extract.content.repetition_features import repeat_columns
from scraper.extract.content.text_features import own_columns
from scraper.extract.content.tree_features import place_columns

Matrix: TypeAlias = NDArray[np.float32]
Named: TypeAlias = dict[str, NDArray[np.generic]]

SCORE_PREFIX = "score_"
_MAX_SCORE = 60.0


def columns(page: PageStatistics) -> Named:
    """All columns of the page itself, by name. Later groups ask for what earlier ones have counted."""
    return (
        own_columns(page)
        | place_columns(page)
        | repeat_columns(page)
        | order_columns(page)
        | page_columns(page)
    )


def score_columns(scores: Floats) -> Named:
    """What the linear model says, by name."""
    return {
        SCORE_PREFIX + name: np.clip(row, -_MAX_SCORE, _MAX_SCORE)
        for name, row in zip(SCORES, scores, strict=True)
    }


def matrix(named: Named, names: Sequence[str], blocks: int) -> Matrix:
    """The rows of the named columns."""
    values = np.empty((len(names), blocks), np.float32)
    for row, name in enumerate(names):
        values[row] = named[name]
    return values
