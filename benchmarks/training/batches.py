"""Build training batches for the net from whole pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from benchmarks.training.augmentation import Matrix, Table
from benchmarks.training.table import KEEP, Row
from scraper.extract.content.neural_net import NEIGHBOR_STEPS, NORM_EPSILON, Neighborhood, build_neighborhood
from scraper.extract.content.page_statistics import IntArray

PAGES = 64
"""Maximum pages in a batch; the last number belongs to the padding."""

FILLED = 0.9
"""Share of a batch that whole pages fill."""

_QUANTILES = (0.002, 0.998)
_MAX_DEVIATION = 5.0


class Batch(NamedTuple):
    """Blocks of several pages; the padding is a separate page without cost."""

    columns: Array
    tags: Array
    starts: Array
    ends: Array
    paths: Array
    weights: Array
    pages: Array
    lengths: Array
    content: Array
    costs: Array


_PADDING = {"paths": -1, "pages": PAGES - 1}
"""Padding values; a path of -1 is the last one."""


@dataclass(frozen=True, slots=True)
class Usual:
    """Usual range, mean and deviation of each column."""

    low: Matrix
    high: Matrix
    means: Matrix
    deviations: Matrix

    @classmethod
    def of(cls, values: Matrix, places: Sequence[slice]) -> Usual:
        """Compute them from some pages of a table."""
        some = np.concatenate([values[at] for at in places])
        low, high = np.quantile(some, _QUANTILES, axis=0)
        clipped = np.clip(some, low, high)
        means, deviations = clipped.mean(0, np.float64), clipped.std(0, dtype=np.float64) + NORM_EPSILON
        low = np.maximum(low, means - _MAX_DEVIATION * deviations)
        high = np.minimum(high, means + _MAX_DEVIATION * deviations)
        return cls(*(each.astype(np.float32) for each in (low, high, means, deviations)))

    def standard(self, values: Matrix) -> Matrix:
        """Return the values in deviations from the mean, after clipping."""
        return (np.clip(values, self.low, self.high) - self.means) / self.deviations


class Batches:
    """Pages of a table as batches of `size` blocks."""

    def __init__(self, rows: Sequence[Row], table: Table, usual: Usual, costs: Matrix, size: int) -> None:
        self._rows = rows
        self._table = table
        self._usual = usual
        self._costs = costs
        self._size = size

    def once(self, pages: Sequence[int], rng: np.random.Generator) -> Iterator[Batch]:
        """Yield all pages once in batches, in a random order."""
        some: list[int] = []
        blocks = 0
        for n in [pages[position] for position in rng.permutation(len(pages))]:
            more = self._rows[n].measures.n
            if some and (blocks + more >= self._size or len(some) == PAGES - 1):
                yield self.of(some, rng)
                some, blocks = [], 0
            some.append(n)
            blocks += more
        if some:
            yield self.of(some, rng)

    def of(self, pages: Sequence[int], rng: np.random.Generator) -> Batch:
        """Build one batch; some pages randomly lose their URL and their class names."""
        parts, before, paths = [], 0, 0
        for position, n in enumerate(pages):
            row = self._rows[n]
            page, around = row.measures, build_neighborhood(row.measures)
            starts, ends = _spans(around)
            parts.append(
                (
                    self._usual.standard(self._table.page(n, rng)),
                    page.tag,
                    starts + before,
                    ends + before,
                    around.paths + paths,
                    around.weights,
                    np.full(page.n, position),
                    page.lengths + 1,
                    row.shares >= KEEP,
                    self._costs[self._table.slices[n]],
                )
            )
            before += page.n
            paths += int(around.paths.max()) + 1
        whole = [np.concatenate(each) for each in zip(*parts, strict=True)]
        padding = [_PADDING.get(name, 0) for name in Batch._fields]
        return Batch(*(_pad(each, self._size, other) for each, other in zip(whole, padding, strict=True)))


def _spans(around: Neighborhood) -> tuple[IntArray, IntArray]:
    """Return the start and end of each block's spans (blocks x spans); a neighbor is a span of one block."""
    n = len(around.weights)
    index = np.arange(n)
    starts = [index + step for step in NEIGHBOR_STEPS] + [span.starts[span.block_spans] for span in around.spans]
    ends = [index + step + 1 for step in NEIGHBOR_STEPS] + [span.ends[span.block_spans] for span in around.spans]
    return np.clip(np.stack(starts, axis=1), 0, n), np.clip(np.stack(ends, axis=1), 0, n)


def _pad(values: NDArray[np.generic], size: int, padding: int) -> Array:
    kind = np.int32 if values.dtype.kind == "i" else np.float32
    filled = np.full((size, *values.shape[1:]), padding, kind)
    filled[: len(values)] = values
    return jnp.asarray(filled)
