"""Keep together what stands or falls together: a term with its values, a quotation with its source.

A unit is formed from the structure of the page before any block is judged. Its blocks share one probability, and are
selected or left out as a whole. What stands between two selected siblings is selected too, unless its names say what
it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from scraper.extract.content.class_name_features import COMMENTS, CONTENT, SIDE, TEASERS
from scraper.extract.content.page_statistics import BlockMask, FloatArray, PageStatistics, compute_prefix_sums
from scraper.html.dom.tags import HEADINGS

Unit = tuple[int, int]
"""First block, and the one after the last."""

_WHOLE = frozenset({"figure", "blockquote", "details"})
_NOTE = re.compile(r"(?:^|[\s_-])(?:note|tip|warning|caution|important|admonition|callout|infobox)s?(?:[\s_-]|$)")
_MAX_BLOCKS, _MAX_WORDS = 16, 250
"""Larger quotations, collapsed parts and notes are judged block by block."""

_MAX_GAP, _MAX_GAP_WORDS, _MAX_LEVELS, _MAX_LINKED = 16, 200, 1, 0.3
"""Bounds of what is selected between siblings: blocks, words, levels below the common parent, characters in links."""
_MAX_LISTS = 0.4
_MAX_FORUM = 0.3
"""Probabilities of page types whose gaps are signatures and other goods."""
_APART = frozenset({"nav", "aside", "footer", "form", "header", "dialog", "button"})
_ADVERTISEMENT = re.compile(
    r"(?:^|[\s_-])(?:ads?|adverts?|advertis\w*|ad-?(?:slot|unit|box|container|wrapper)|sponsor\w*|promot\w*"
    r"|share|sharing|social)(?:[\s_-]|$)"
)
_MAX_ADVERTISEMENT = 40
"""Words. A larger part with such a name is judged by its text."""


def find_units(page: PageStatistics) -> list[Unit]:
    """Return the units with several blocks, inner ones before those around them."""
    elements = page.segments.elements
    first, last = page.first.tolist(), page.last.tolist()
    is_note = cache(lambda names: _NOTE.search(names.lower()) is not None)
    units: list[Unit] = []
    groups: dict[int, Unit] = {}
    """The open group of terms and values of each list of terms."""
    for number, tag in enumerate(elements.tags):
        start, end = first[number], last[number]
        parent = elements.parents[number]
        if tag in ("dt", "dd") and elements.tags[parent] == "dl":
            if parent in groups and (tag == "dd" or elements.tags[number - 1] == "dt"):
                start = groups[parent][0]  # several terms may have the same value
            elif parent in groups:
                units.append(groups[parent])
            groups[parent] = start, end
        elif tag in _WHOLE or (tag == "div" and (elements.tags[parent] == "dl" or is_note(elements.names[number]))):
            units.append((start, end))
    units += groups.values()
    lengths = compute_prefix_sums(page.lengths)
    sound = [
        (start, end)
        for start, end in units
        if 1 < end - start <= _MAX_BLOCKS and lengths[end] - lengths[start] <= _MAX_WORDS
    ]
    return sorted(sound, key=lambda unit: unit[1] - unit[0])


def find_advertisements(page: PageStatistics) -> BlockMask:
    """Return the blocks of short parts that are named as advertisements or as links for sharing."""
    found = np.zeros(page.n, np.bool_)
    names = page.segments.elements.names
    matches = cache(lambda name: _ADVERTISEMENT.search(name.lower()) is not None)
    is_short = page.sum_inside(compute_prefix_sums(page.lengths)) <= _MAX_ADVERTISEMENT
    for number in np.flatnonzero((page.blocks > 0) & is_short).tolist():
        if names[number] and matches(names[number]):
            found[page.first[number] : page.last[number]] = True
    return found


def pool(page: PageStatistics, p: FloatArray, units: list[Unit]) -> FloatArray:
    """Return the probabilities with one value for all blocks of a unit: their mean, weighted by length."""
    pooled = p.copy()
    weights = page.lengths + 1
    for start, end in units:
        pooled[start:end] = np.average(pooled[start:end], weights=weights[start:end])
    return pooled


def close(page: PageStatistics, chosen: BlockMask, units: list[Unit]) -> BlockMask:
    """Select all blocks of a unit if at least half of its words are selected, else none."""
    closed = chosen.copy()
    weights = page.lengths + 1
    for start, end in units:
        at = slice(start, end)
        closed[at] = 2 * weights[at][closed[at]].sum() >= weights[at].sum()
    return closed


def fill(page: PageStatistics, chosen: BlockMask, types: Mapping[str, float], *, figures: bool = False) -> BlockMask:
    """Select what stands between two selected siblings, except on pages of forums and lists.

    Parts with figures are selected only with `figures`: texts of references omit captions.
    """
    if types["forum"] >= _MAX_FORUM or types["listing"] + types["collection"] >= _MAX_LISTS:
        return chosen
    filled = chosen.copy()
    for start, end in _find_gaps(chosen):
        if (
            end - start <= _MAX_GAP
            and page.lengths[start:end].sum() <= _MAX_GAP_WORDS
            and page.links[start:end].sum() <= _MAX_LINKED * page.characters[start:end].sum()
            and _are_siblings(page, start - 1, end)
            and not _is_apart(page, start, end, figures=figures)
        ):
            filled[start:end] = True
    return filled


def _find_gaps(chosen: BlockMask) -> Iterator[Unit]:
    """Yield the runs of blocks between two selected ones."""
    places = np.flatnonzero(chosen)
    for before, behind in zip(places[:-1].tolist(), places[1:].tolist(), strict=True):
        if behind > before + 1:
            yield before + 1, behind


def _are_siblings(page: PageStatistics, before: int, behind: int) -> bool:
    """Return True if the elements of two blocks have a common parent at most `_MAX_LEVELS` above each."""
    owners = int(page.owner[before]), int(page.owner[behind])
    around = owners[0]
    while around >= 0 and page.last[around] <= behind:
        around = int(page.parent[around])
    if around < 0 or page.segments.elements.tags[around] in HEADINGS:
        return False
    if owners[0] != around and page.last[owners[0]] > before + 1:
        return False  # the rest of a heading may be controls
    return all(page.depth[owner] - page.depth[around] <= _MAX_LEVELS for owner in owners)


def _is_apart(page: PageStatistics, start: int, end: int, *, figures: bool) -> bool:
    """Return True if an element of these blocks is named as navigation, an advertisement or another side part."""
    elements = page.segments.elements
    low, high = np.searchsorted(page.first, (start, end)).tolist()
    for number in range(low, high):
        if page.last[number] > end or page.first[number] == page.last[number]:
            continue
        kinds = page.name_features[int(page.name_ids[number])].kinds
        if elements.tags[number] == "figure" and not figures:
            return True
        if elements.tags[number] in _APART or (kinds & (SIDE | COMMENTS | TEASERS) and not kinds & CONTENT):
            return True
        if _ADVERTISEMENT.search(elements.names[number].lower()):
            return True
    return False
