"""What stands under an article or in a table goes together, whatever the single blocks look like."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.leads import lead_away
from scraper.extract.content.measures import Floats, Measures
from scraper.extract.content.names import COMMENTS, TAGS, TEASERS

__all__ = ["MIN_DOCUMENTATION", "complete_tables", "with_title", "without_asides"]

Chosen = NDArray[np.bool_]

_BEYOND_DOUBT = 0.8
"""A block as likely as this stays, whatever the elements around it are called."""

_MIN_ARTICLE = 0.3
_MAX_FORUM = 0.3
"""Only articles are guarded: in a forum the comments are the content, in a shop the other goods may be."""

_COMMENTS_ARE_CONTENT = 0.9
_TEASERS_ARE_CONTENT = 0.3
"""Elements called so that hold more of the chosen words than this are content all the same."""

_TABLE_KEPT = 0.5
"""A table of which so much is chosen is chosen whole: a cell left out would shift what a row says."""

MIN_DOCUMENTATION = 0.5
"""From here on a page is documentation: its title is kept, and so is what it says twice. There, leaving out
repeated text costs .006 of F1, while it brings .014 on forums and .011 on products."""

_MAX_FROM_TITLE = 12
"""Blocks between the title and the first that was chosen."""

_MAX_TABLE_SHARE = 0.5
"""A larger table is the page's layout."""


def without_asides(page: Measures, chosen: Chosen, p: Floats, types: Mapping[str, float]) -> Chosen:
    """An article without comments, teasers and lines that lead away, unless the page is made of them."""
    if types["article"] < max(_MIN_ARTICLE, types["forum"]):
        return chosen
    if types["forum"] >= _MAX_FORUM:
        return chosen & ~lead_away(page, chosen)
    for bit, limit in ((COMMENTS, _COMMENTS_ARE_CONTENT), (TEASERS, _TEASERS_ARE_CONTENT)):
        inside = (page.asides & bit) > 0
        total = page.lengths[chosen].sum()
        if 0 < page.lengths[chosen & inside].sum() <= limit * total:
            chosen = chosen & ~(inside & (p < _BEYOND_DOUBT))
    return chosen & ~lead_away(page, chosen)


def with_title(page: Measures, chosen: Chosen, types: Mapping[str, float]) -> Chosen:
    """With the title above a page of documentation; in the gold texts of articles it is left out."""
    places = np.flatnonzero(chosen)
    if types["documentation"] < MIN_DOCUMENTATION or not len(places):
        return chosen
    first = int(places[0])
    titles = np.flatnonzero(page.tag[: first + 1] == TAGS["h1"])
    if not len(titles) or first - int(titles[-1]) > _MAX_FROM_TITLE:
        return chosen
    titled = chosen.copy()
    titled[titles[-1]] = True
    return titled


def complete_tables(page: Measures, chosen: Chosen) -> tuple[Chosen, Chosen]:
    """With all cells of the tables that are mostly chosen, and which blocks these are."""
    elements = page.segments.elements
    cells = np.zeros(page.n, np.bool_)
    total = page.lengths.sum()
    behind = 0
    for table in (number for number, tag in enumerate(elements.tags) if tag == "table"):
        start, end = int(page.first[table]), int(page.last[table])
        if start < behind or start == end:
            continue  # inside of one that was looked at
        words = page.lengths[start:end]
        if words.sum() > _MAX_TABLE_SHARE * total:
            continue
        behind = end
        if words[chosen[start:end]].sum() >= _TABLE_KEPT * words.sum():
            cells[start:end] = True
    return chosen | cells, cells
