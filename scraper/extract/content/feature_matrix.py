"""Build the matrix of all feature columns of a page, the input of the forest and the net.

The columns of the page as a whole are computed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import AREAS
from scraper.extract.content.context_features import compute_context_columns
from scraper.extract.content.hashed_features import SCORE_NAMES
from scraper.extract.content.page_statistics import Columns, FloatArray, PageStatistics
from scraper.extract.content.text_features import compute_text_columns
from scraper.extract.content.tree_features import compute_repetition_columns, compute_tree_columns

FeatureMatrix: TypeAlias = NDArray[np.float32]

SCORE_PREFIX = "score_"
"""Prefix of the columns of the linear model."""
_MAX_SCORE = 60.0


def compute_columns(page: PageStatistics) -> Columns:
    """Return all columns of the page by name. Later groups read values that earlier groups computed."""
    return (
        compute_text_columns(page)
        | compute_tree_columns(page)
        | compute_repetition_columns(page)
        | compute_context_columns(page)
        | _compute_page_columns(page)
    )


def compute_score_columns(scores: FloatArray) -> Columns:
    """Return the scores of the linear model, clipped to -60 to 60, as columns by name.

    `scores` has the shape (scores, blocks), as `compute_scores` returns it.
    """
    names = (SCORE_PREFIX + name for name in SCORE_NAMES)
    return dict(zip(names, np.clip(scores, -_MAX_SCORE, _MAX_SCORE), strict=True))


def stack_columns(columns: Columns, names: Sequence[str], blocks: int) -> FeatureMatrix:
    """Stack the named columns as the rows of a float32 matrix with the shape (columns, blocks)."""
    values = np.empty((len(names), blocks), np.float32)
    for row, name in enumerate(names):
        values[row] = columns[name]
    return values


URL_PREFIX = "url_"
"""Columns with this prefix are -1 if the URL is unknown."""

_URL_WORDS = (
    "forum thread topic product categor collection shop doc blog news wiki service tag search question "
    "review guide viewtopic api reference course list store article"
).split()
_HOST = re.compile(r"^[a-z]+://[^/]*")
_URL_YEAR = re.compile(r"/(?:19|20)\d\d/")
_NUMBERS = re.compile(r"\d+")
_OG_TYPES = {"": 0, "article": 1, "website": 2, "product": 3}


def _compute_page_columns(page: PageStatistics) -> Columns:
    """Return the columns that are equal for all blocks of a page."""
    values = _summarize_blocks(page) | _summarize_url(page.description.url)
    rows = np.repeat(np.fromiter(values.values(), np.float64, len(values))[:, None], page.n, axis=1)
    return dict(zip(values, rows, strict=True))


def _summarize_blocks(page: PageStatistics) -> dict[str, float]:
    def share(mask: NDArray[np.generic]) -> float:
        return float(page.characters[mask.astype(bool)].sum() / page.total)

    return {
        "page_blocks": float(np.log1p(page.n)),
        "page_characters": float(np.log1p(page.total)),
        "page_links": float(page.links.sum() / page.total),
        "page_paragraphs": float((page.tag == 0).sum() / (page.n + 1)),
        "page_long": float(np.log1p(page.long.sum())),
        "page_headings": float(page.heading.sum() / (page.n + 1)),
        "page_plain_share": share(page.plain),
        "page_table_share": share((page.areas >> AREAS.index("table")) & 1),
        "page_list_share": share((page.areas >> AREAS.index("list")) & 1),
        "page_pre_share": share(np.array(page.segments.preformatted)),
        "page_images": float(np.log1p(sum(page.segments.images))),
        "page_money": float(np.log1p(page.money.sum())),
        "page_times": float(np.log1p(sum(page.segments.times))),
        "page_og_type": float(_OG_TYPES.get(page.description.og_type, len(_OG_TYPES))),
    }


def _summarize_url(url: str) -> dict[str, float]:
    lowered = url.lower()
    path = _HOST.sub("", lowered)
    facts = {
        "depth": path.count("/"),
        "length": len(path),
        "dashes": path.count("-"),
        "numbers": len(_NUMBERS.findall(path)),
        "year": _URL_YEAR.search(path) is not None,
        "query": "?" in path,
        "root": len(path) < 2,
    } | {f"word_{word}": word in lowered for word in _URL_WORDS}
    return {URL_PREFIX + name: float(value) if url else -1.0 for name, value in facts.items()}
