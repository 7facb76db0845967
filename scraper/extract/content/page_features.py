"""Columns of the whole page and of its address: the same for each of its blocks."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import AREAS
from scraper.extract.content.page_statistics import PageStatistics

URL_PREFIX = "url_"
"""Columns with this prefix are -1 where the address is unknown."""

_WORDS = (
    "forum thread topic product categor collection shop doc blog news wiki service tag search question "
    "review guide viewtopic api reference course list store article"
).split()
_HOST = re.compile(r"^[a-z]+://[^/]*")
_YEAR = re.compile(r"/(?:19|20)\d\d/")
_NUMBERS = re.compile(r"\d+")
_OG_TYPES = {"": 0, "article": 1, "website": 2, "product": 3}


def page_columns(page: PageStatistics) -> dict[str, NDArray[np.generic]]:
    """What the page is like."""
    values = _contents(page) | _address(page.about.url)
    rows = np.repeat(np.fromiter(values.values(), np.float64, len(values))[:, None], page.n, axis=1)
    return dict(zip(values, rows, strict=True))


def _contents(page: PageStatistics) -> dict[str, float]:
    characters, total, n = page.characters, page.total, page.n

    def share(mask: NDArray[np.generic]) -> float:
        return float(characters[mask.astype(bool)].sum() / total)

    return {
        "page_blocks": float(np.log1p(n)),
        "page_characters": float(np.log1p(total)),
        "page_links": float(page.links.sum() / total),
        "page_paragraphs": float((page.tag == 0).sum() / (n + 1)),
        "page_long": float(np.log1p(page.long.sum())),
        "page_headings": float(page.heading.sum() / (n + 1)),
        "page_plain_share": share(page.plain),
        "page_table_share": share((page.areas >> AREAS.index("table")) & 1),
        "page_list_share": share((page.areas >> AREAS.index("list")) & 1),
        "page_pre_share": share(np.array(page.segments.preformatted)),
        "page_images": float(np.log1p(sum(page.segments.images))),
        "page_money": float(np.log1p(page.money.sum())),
        "page_times": float(np.log1p(sum(page.segments.times))),
        "page_og_type": float(_OG_TYPES.get(page.about.og_type, len(_OG_TYPES))),
    }


def _address(url: str) -> dict[str, float]:
    lowered = url.lower()
    path = _HOST.sub("", lowered)
    facts = {
        "depth": path.count("/"),
        "length": len(path),
        "dashes": path.count("-"),
        "numbers": len(_NUMBERS.findall(path)),
        "year": _YEAR.search(path) is not None,
        "query": "?" in path,
        "root": len(path) < 2,
    } | {f"word_{word}": word in lowered for word in _WORDS}
    return {URL_PREFIX + name: float(value) if url else -1.0 for name, value in facts.items()}
