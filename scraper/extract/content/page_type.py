"""What kind of page it is, by a logistic regression over the means of its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.feature_matrix import Matrix
from scraper.extract.content.page_statistics import Floats

PAGE_TYPES = ("article", "collection", "documentation", "forum", "listing", "product", "service")
_MAX_DEVIATION = 6.0


def page_vector(matrix: Matrix, lengths: Floats) -> Floats:
    """A page in the mean, over its words and over its blocks."""
    weights = lengths + 1
    return np.concatenate((matrix @ weights / weights.sum(), matrix.mean(axis=1)))


@dataclass(frozen=True, slots=True)
class PageTypeClassifier:
    """Coefficients by type, and what a usual page is like."""

    coefficients: NDArray[np.float32]
    intercepts: NDArray[np.float32]
    means: NDArray[np.float32]
    deviations: NDArray[np.float32]

    def probabilities(self, vector: Floats) -> Floats:
        """Of each of `PAGE_TYPES`."""
        standard = np.clip((vector - self.means) / self.deviations, -_MAX_DEVIATION, _MAX_DEVIATION)
        values = self.coefficients @ standard + self.intercepts
        powers = np.exp(values - values.max())
        return np.asarray(powers / powers.sum(), np.float64)
