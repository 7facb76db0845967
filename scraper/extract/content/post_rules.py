"""What stands under an article or in a table goes together, whatever the single blocks look like."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import AREAS, COMMENTS, TAGS, TEASERS
from scraper.extract.content.page_statistics import Floats, PageStatistics
from scraper.extract.content.teasers import lead_away

Chosen = NDArray[np.bool_]

_BEYOND_DOUBT = 0.8
"""A block as likely as this stays, whatever the elements around it are called."""

_MIN_ARTICLE = 0.3
_MAX_FORUM = 0.3
"""Only articles are guarded: in a forum the comments are the content, in a shop the other goods may be."""

_COMMENTS_ARE_CONTENT = 0.9
_TEASERS_ARE_CONTENT = 0.3
"""Elements called so that hold more of the chosen words than this are content all the same."""

_FOOTER = 1 << AREAS.index("footer")
_OWN_FOOTERS = 1 << AREAS.index("main") | 1 << AREAS.index("article")
"""What these hold may have a footer of its own."""

_LIKELY = 0.3
"""Where no block outside of the footer is as likely as this, the footer may hold all there is."""

_MIN_CARDS = 4
_OF_ALL_CARDS, _OF_NO_CARD = 0.5, 0.25
"""What is chosen of so many cards is meant for all, and what of so few for none. F1 of wcxb: .8780, without
.8770; with .5 for both .8775, with .7 and .2 .8778, with the mean of the probabilities of a group .8777."""

_TABLE_KEPT = 1 / 3
"""A table of which so much is chosen is chosen whole: a cell left out would shift what a row says, and cells
of a letter or a mark look like little. F1 of wcxb is the same at .25, .33, .4 and .5."""

_NEAR = 3
_LEAST_AMID, _MIN_CELLS, _MAX_LINKED, _MAX_WRAPPERS = 0.1, 4, 0.3, 2
"""Cells of few letters look like nothing by themselves: a table between chosen blocks is kept at this mean
probability, when it has so many cells, no more of it in links, and no more elements around it alone."""

MIN_DOCUMENTATION = 0.5
"""From here on a page is documentation: its title is kept, and so is what it says twice. There, leaving out
repeated text costs .006 of F1, while it brings .014 on forums and .011 on products."""

_MAX_FROM_TITLE = 12
"""Blocks between the title and the first that was chosen."""

_MAX_TABLE_SHARE = 0.5
"""A larger table is the page's layout."""


def outside_of_footers(page: PageStatistics, p: Floats) -> Floats:
    """The probabilities, and none for what stands in the page's footer: long ones outweigh a short content.

    F1 of collections .701, without .693; of 1,358 pages 13 change, of which 3 lose .003 to .07.
    """
    inside = ((page.areas & _FOOTER) > 0) & ((page.areas & _OWN_FOOTERS) == 0)
    return np.where(inside, 0.0, p) if (p[~inside] >= _LIKELY).any() else p


def without_asides(page: PageStatistics, chosen: Chosen, p: Floats, types: Mapping[str, float]) -> Chosen:
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


def even_cards(page: PageStatistics, chosen: Chosen) -> Chosen:
    """With what is chosen of most cards chosen of all, and what is chosen of few of none: all prices or none.

    Alike are blocks with the same tags and classes around them. On listings this brings .014 of F1.
    """
    inside = page.cards >= _MIN_CARDS
    if not inside.any():
        return chosen
    count = np.bincount(page.path_groups, inside)
    share = np.bincount(page.path_groups, inside & chosen) / np.maximum(count, 1)
    inside &= (count >= _MIN_CARDS)[page.path_groups]
    most, few = share[page.path_groups] >= _OF_ALL_CARDS, share[page.path_groups] <= _OF_NO_CARD
    return (chosen | (inside & most)) & ~(inside & few)


def with_title(page: PageStatistics, chosen: Chosen, types: Mapping[str, float]) -> Chosen:
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


def complete_tables(page: PageStatistics, chosen: Chosen, p: Floats) -> tuple[Chosen, Chosen]:
    """With all cells of the tables that are mostly chosen or stand in the middle; which blocks these are."""
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
        if words[chosen[start:end]].sum() >= _TABLE_KEPT * words.sum() or (
            _is_amid(page, chosen, table) and p[start:end] @ words >= _LEAST_AMID * words.sum()
        ):
            cells[start:end] = True
    return chosen | cells, cells


def _is_amid(page: PageStatistics, chosen: Chosen, table: int) -> bool:
    """Whether a table of values stands between chosen blocks, in the midst of the element around it."""
    start, end = int(page.first[table]), int(page.last[table])
    beside = chosen[max(0, start - _NEAR) : start].any() and chosen[end : end + _NEAR].any()
    if not beside or end - start < _MIN_CELLS:
        return False
    if page.links[start:end].sum() > _MAX_LINKED * page.characters[start:end].sum():
        return False
    tags = page.segments.elements.tags
    behind = int(np.searchsorted(page.first, end))
    if "table" in tags[table + 1 : behind]:
        return False
    around = table
    for _ in range(_MAX_WRAPPERS):
        around = int(page.parent[around])
        if around < 0:
            return False
        if page.first[around] < start and page.last[around] > end:
            return True
    return False
