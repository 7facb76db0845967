"""Select lists and tables below headings such as "Ingredients" or "Specifications".

The model rates each of these blocks, taken alone, as unlikely content.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scraper.extract.content.class_name_features import AREAS
from scraper.extract.content.page_statistics import BlockMask, FloatArray, PageStatistics
from scraper.extract.content.section_rules import find_headings
from scraper.words.matcher import WordPattern

_FOOD = WordPattern(r"{headings.food}")
_DEVICE = WordPattern(r"{headings.device}")
"""Headings of the technical data of a product."""

_POSSIBLE = 0.1
"""Minimum mean probability of technical data. Shops also show short copies of them, which are not selected."""

_MAX_LABEL_WORDS, _MAX_SECTION_WORDS = 6, 400
_MIN_ITEMS = 3
_MAX_LINKED = 0.5
_LISTS = frozenset({"ul", "ol", "dl", "table"})
_FOOTER = 1 << AREAS.index("footer")
_MAX_OTHER = 0.5
"""Probability from which a page counts as documentation or forum. Nothing is added to those."""


def select_data(page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]) -> BlockMask:
    """Add the lists and tables of data sections to the chosen blocks, except on documentation and forum pages."""
    if max(types["documentation"], types["forum"]) >= _MAX_OTHER or not chosen.any():
        return chosen
    return _select_labeled_lists(page, chosen, p)


def _select_labeled_lists(page: PageStatistics, chosen: BlockMask, p: FloatArray) -> BlockMask:
    """Add the lists and tables below a heading such as "Ingredients", with the heading and the text between them."""
    completed = chosen
    for heading in find_headings(page):
        if page.lengths[heading.start : heading.end].sum() > _MAX_LABEL_WORDS:
            continue
        label = " ".join(page.texts[heading.start : heading.end]).strip(" :：")
        is_food = _FOOD.fullmatch(label) is not None
        if not is_food and not _DEVICE.fullmatch(label):
            continue
        span = _find_list(page, heading.end, heading.section_end)
        if span is None or page.areas[heading.start] & _FOOTER:
            continue
        at = slice(*span)
        if span[1] - span[0] < _MIN_ITEMS or chosen[at].all() or not (is_food or p[at].mean() >= _POSSIBLE):
            continue
        if completed is chosen:
            completed = chosen.copy()
        completed[heading.start : heading.end] = True
        completed[at] = True
    return completed


def _find_list(page: PageStatistics, start: int, end: int) -> tuple[int, int] | None:
    """Return the range from the first block of a section to the end of its last list or table.

    Return None without a list, and for a range that is too long or consists mainly of links.
    """
    elements = page.segments.elements
    within = np.flatnonzero((page.first >= start) & (page.last <= end) & (page.blocks > 0))
    ends = [int(page.last[number]) for number in within.tolist() if elements.tags[number] in _LISTS]
    if not ends:
        return None
    last = max(ends)
    linked = page.links[start:last].sum() > _MAX_LINKED * page.characters[start:last].sum()
    return None if linked or page.lengths[start:last].sum() > _MAX_SECTION_WORDS else (start, last)
