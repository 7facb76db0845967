"""Calibrate the probabilities of blocks by their siblings and by the page type, before blocks are selected."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scraper.extract.content.page_statistics import FloatArray, PageStatistics

_MAX_ARTICLE, _MAX_FORUM = 0.5, 0.3
"""Probabilities of page types. On articles and forums, blocks of one path are of several kinds: paragraphs of the text
and of the author's box, posts and signatures."""

_PATH_SHARE = 0.5
"""Share of the mean of the path in a new probability. F1 on wcxb is the same at .7, where phrases are .002 lower."""

_MIN_SERVICE = 0.6
"""Probability. F1 of services on wcxb is the same at .4, where headings of widgets are selected on other pages."""

_SERVICE_LOGIT = 0.6
"""Logit added on pages of services. Their sections look like teasers, but gold texts have most of them. F1 of services
on wcxb is .006 higher at .6 and at .8."""

_LEAST = 1e-6
"""Least distance of a probability from 0 and 1, so that its logit is finite."""


def calibrate(page: PageStatistics, p: FloatArray, types: Mapping[str, float]) -> FloatArray:
    """Return adjusted probabilities of the blocks of a page, except on articles and forums."""
    if types["forum"] >= _MAX_FORUM:
        return p
    adjusted = _raise_service_pages(p, types)
    return adjusted if types["article"] >= _MAX_ARTICLE else _average_paths(page, adjusted)


def _average_paths(page: PageStatistics, p: FloatArray) -> FloatArray:
    """Move each probability towards the mean of the blocks whose ancestors have the same tags and classes.

    Longer blocks count more. Items of a list or parts of cards are then more often selected together.
    """
    weights = page.lengths + 1
    means = np.bincount(page.path_groups, p * weights) / np.maximum(np.bincount(page.path_groups, weights), 1)
    return (1 - _PATH_SHARE) * p + _PATH_SHARE * means[page.path_groups]


def _raise_service_pages(p: FloatArray, types: Mapping[str, float]) -> FloatArray:
    """Raise the probabilities on a page of a service, in proportion to the probability of this page type."""
    if types["service"] <= _MIN_SERVICE:
        return p
    clipped = np.clip(p, _LEAST, 1 - _LEAST)
    odds = clipped / (1 - clipped) * np.exp(_SERVICE_LOGIT * types["service"])
    return np.asarray(odds / (1 + odds))
