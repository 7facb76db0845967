"""Columns of what the first trees think of the blocks around a block: what the second trees look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.measures import Floats, Measures, running
from scraper.extract.content.order_columns import shifted

__all__ = ["CONTEXT", "context"]

_NEIGHBOURS = (1, 2, 3, 4, -1, -2, -3, -4)
_RADII = (2, 5, 10, 25)
_LEVELS = 6
_TINY = 1e-4


_NAMES = (
    *("p", "logit"),
    *(f"p{steps:+}" for steps in _NEIGHBOURS),
    *(f"window{radius}_{side}" for radius in _RADII for side in ("both", "before", "after")),
    *(f"level{level}_{what}" for level in range(_LEVELS) for what in ("mean", "share")),
    *("path_mean", "path_count"),
    *("page_share", "page_words", "page_kept", "page_doubt"),
    *("from_first", "to_last", "sum_before"),
    *("in_best", "best_value", "best_distance"),
    *("before_same_parent", "after_same_parent"),
    *("equal_before", "last_heading", "section"),
)
CONTEXT = tuple(f"context_{name}" for name in _NAMES)
"""The names of the context's columns."""


def context(page: Measures, p: Floats) -> NDArray[np.float32]:
    """A row for each of `CONTEXT`, given the probability of each block."""
    weights = page.lengths + 1
    mass = weights * p
    sums, totals = running(mass), running(weights)
    rows = [
        p,
        np.log((p + _TINY) / (1 - p + _TINY)),
        *shifted(p, _NEIGHBOURS, -0.1),
        *_windows(page, sums, totals, mass, weights),
        *_levels(page, sums, totals, mass, weights),
        *_paths(page, mass, weights),
        *_whole(page, p, sums, totals),
        *_best(page, sums, totals),
        *_siblings(page, p),
        _equal_before(page, p),
        *_sections(page, p, sums, totals),
    ]
    values = np.empty((len(rows), page.n), np.float32)
    for place, row in enumerate(rows):
        values[place] = row
    return values


def _windows(page: Measures, sums: Floats, totals: Floats, mass: Floats, weights: Floats) -> list[Floats]:
    index = page.index
    rows = []
    for radius in _RADII:
        start, end = np.maximum(index - radius, 0), np.minimum(index + radius + 1, page.n)
        rows += [
            (sums[end] - sums[start] - mass) / (totals[end] - totals[start] - weights + 0.5),
            (sums[index] - sums[start]) / (totals[index] - totals[start] + 0.5),
            (sums[end] - sums[index + 1]) / (totals[end] - totals[index + 1] + 0.5),
        ]
    return rows


def _levels(page: Measures, sums: Floats, totals: Floats, mass: Floats, weights: Floats) -> list[Floats]:
    rows = []
    for at in page.around[:_LEVELS]:
        start, end = page.first[at], page.last[at]
        inside = sums[end] - sums[start]
        rows += [
            (inside - mass) / (totals[end] - totals[start] - weights + 0.5),
            inside / (sums[-1] + 0.5),
        ]
    return rows


def _paths(page: Measures, mass: Floats, weights: Floats) -> list[Floats]:
    groups = page.path_groups
    means = (np.bincount(groups, mass)[groups] - mass) / (
        np.bincount(groups, weights)[groups] - weights + 0.5
    )
    return [means, np.log1p(np.bincount(groups))[groups]]


def _whole(page: Measures, p: Floats, sums: Floats, totals: Floats) -> list[Floats | float]:
    kept = p > 0.5
    places = np.flatnonzero(kept)
    first, last = (places[0], places[-1]) if len(places) else (0, page.n - 1)
    return [
        float(sums[-1] / totals[-1]),
        float(np.log1p(sums[-1])),
        float(kept.mean()),
        float(np.abs(p - kept).mean()),
        (page.index - first).astype(np.float64),
        (last - page.index).astype(np.float64),
        sums[1:] / (sums[-1] + 0.5),
    ]


def _best(page: Measures, sums: Floats, totals: Floats) -> list[Floats | float]:
    """The element whose whole text would score best."""
    expected = 2 * (sums[page.last] - sums[page.first])
    values = expected / (totals[page.last] - totals[page.first] + sums[-1] + 1e-6)
    best = int(values.argmax())
    start, end = int(page.first[best]), int(page.last[best])
    inside = (page.index >= start) & (page.index < end)
    distance = np.maximum(start - page.index, 0) + np.maximum(page.index - end + 1, 0)
    return [inside.astype(np.float64), float(values[best]), distance.astype(np.float64)]


def _siblings(page: Measures, p: Floats) -> list[Floats]:
    same = page.above[1:] == page.above[:-1]
    before, after = np.full(page.n, -1.0), np.full(page.n, -1.0)
    before[1:] = np.where(same, p[:-1], -1)
    after[:-1] = np.where(same, p[1:], -1)
    return [before, after]


def _equal_before(page: Measures, p: Floats) -> Floats:
    """The greatest probability of an equal text before; -1 where there is none."""
    best = np.full(page.n, -1.0)
    repeated = np.flatnonzero(np.bincount(page.text_ids)[page.text_ids] > 1)
    seen: dict[int, float] = {}
    before: list[float] = []
    for text, probability in zip(page.text_ids[repeated].tolist(), p[repeated].tolist(), strict=True):
        so_far = seen.get(text, -1.0)
        before.append(so_far)
        seen[text] = max(so_far, probability)
    best[repeated] = before
    return best


def _sections(page: Measures, p: Floats, sums: Floats, totals: Floats) -> list[Floats]:
    """The heading before a block; for a heading, the text under it."""
    index = page.index
    at = np.where(page.heading, index, -1)
    last = np.concatenate(([-1], np.maximum.accumulate(at)[:-1]))
    following = np.minimum.accumulate(np.where(page.heading, index, page.n)[::-1])[::-1]
    end = np.concatenate((following[1:], [page.n]))
    start = np.minimum(index + 1, end)
    section = (sums[end] - sums[start]) / (totals[end] - totals[start] + 0.5)
    return [np.where(last >= 0, p[last], -1.0), np.where(page.heading, section, -1.0)]
