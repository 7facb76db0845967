"""Correct a selection of blocks: headings follow their sections, code and siblings the blocks around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.page_statistics import BlockMask, FloatArray, PageStatistics, compute_prefix_sums

_POSSIBLE_CODE, _POSSIBLE_SIBLING, _POSSIBLE_HEADING = 0.1, 0.2, 0.1
"""Minimum probabilities of blocks that their surroundings select."""

_MAX_SIBLING_LINKS = 0.5
"""Share of characters in links. A line with more of them between two paragraphs is a teaser."""

_SIBLING_TYPES = frozenset({"article", "documentation", "listing", "collection", "service"})
"""Page types. On products and in forums the rule selects related goods and signatures."""

_MAX_HEADING_WORDS, _WRAPPER_WORDS = 40, 4
"""Words of a heading, and words beside it in an element that is its wrapper, such as "edit"."""

_MIN_SECTION_SHARE = 0.5
"""Share of the words below a heading. If at least this share is selected, the heading is selected too."""

_MAX_FORUM = 0.3
"""Probability. In forums, headings above selected blocks are those of signatures and of other threads."""

_MAX_LISTS = 0.3
"""Probability of the page types of lists, whose items may be headings alone."""

_MIN_ITEMS = 4
_CERTAIN = 0.8
"""Probability. A heading with at least this stays without its text."""

_MIN_PLAIN_SHARE, _CERTAIN_ARTICLE = 0.05, 0.95
"""Minimum share of the words in long plain blocks that an article keeps; minimum probability of an article."""


def complete_sections(page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]) -> BlockMask:
    """Select headings, code and siblings that belong to selected blocks."""
    chosen = keep_plain_text(page, chosen, p, types)
    chosen = select_siblings(page, select_code(page, chosen, p), p, types)
    chosen = complete_lists(page, chosen, p, types)
    return select_headings(page, chosen, p) if types["forum"] < _MAX_FORUM else chosen


def keep_plain_text(page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]) -> BlockMask:
    """Select the most probable long plain blocks of an article until a minimum share of them is selected."""
    if types["article"] < _CERTAIN_ARTICLE:
        return chosen
    missing = _MIN_PLAIN_SHARE * page.lengths[page.long].sum() - page.lengths[page.long & chosen].sum()
    completed = chosen.copy()
    others = np.flatnonzero(page.long & ~chosen) if missing > 0 else ()
    for number in sorted(others, key=lambda number: -p[number]):
        if missing <= 0:
            break
        completed[number] = True
        missing -= page.lengths[number]
    return completed


def select_code(page: PageStatistics, chosen: BlockMask, p: FloatArray) -> BlockMask:
    """Select code between selected blocks; many gold texts lack it, so it looks unlikely."""
    code = np.array(page.segments.preformatted, np.bool_)
    completed = chosen.copy()
    for start, end in _find_runs(code & ~chosen):
        if _is_between(chosen, start, end) and p[start:end].max() >= _POSSIBLE_CODE:
            completed[start:end] = True
    return completed


def select_siblings(page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]) -> BlockMask:
    """Select a block between two selected ones if one of these has the same path of tags and classes."""
    if max(types, key=lambda name: types[name]) not in _SIBLING_TYPES:
        return chosen
    groups = page.path_groups
    like = groups[1:] == groups[:-1]
    inner = slice(1, -1)
    completed = chosen.copy()
    completed[inner] |= (
        (chosen[:-2] & chosen[2:])
        & (like[:-1] | like[1:])
        & (p[inner] >= _POSSIBLE_SIBLING)
        & (page.link_share[inner] <= _MAX_SIBLING_LINKS)
    )
    return completed


_MIN_SELECTED_ITEMS, _POSSIBLE_ITEM = 0.8, 0.4
"""Minimum share of the items of a list that are selected, and minimum probability of the parts of the others."""


def complete_lists(page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]) -> BlockMask:
    """Select the remaining items if most items of a long list are selected, on pages of lists.

    A highlighted item has another class, so that it is not similar to the others.
    """
    if types["listing"] + types["collection"] < _LIST_PAGE:
        return chosen
    selected = compute_prefix_sums(chosen)
    inside = page.first < page.last
    has_selected = selected[page.last] > selected[page.first]
    tags = np.unique(np.array(page.segments.elements.tags), return_inverse=True)[1]
    groups = np.unique(page.parent * (tags.max(initial=0) + 1) + tags, return_inverse=True)[1]
    counts = np.bincount(groups, inside)
    shares = np.bincount(groups, inside & has_selected) / np.maximum(counts, 1)
    missing = inside & ~has_selected & ((counts >= _MIN_LISTED) & (shares >= _MIN_SELECTED_ITEMS))[groups]
    completed = chosen.copy()
    for number in np.flatnonzero(missing).tolist():
        item = slice(int(page.first[number]), int(page.last[number]))
        completed[item] |= p[item] >= _POSSIBLE_ITEM
    return completed


_LIST_PAGE, _MIN_LISTED = 0.4, 8
"""Minimum probability of a page of a list, and its minimum items."""
_MAX_ITEM_LENGTH, _MIN_ITEM, _MIN_DIFFERENT, _MIN_MONEY = 160, 0.02, 0.5, 0.5
"""Bounds for a part of all items: mean characters, minimum mean probability, and minimum shares of different texts and
of amounts of money, because prices repeat."""


def find_unselected_items(
    page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]
) -> BlockMask:
    """Return the names and prices of the items of a page of a list if none of its items is selected.

    The gold texts of many shops and job lists omit the items, so that they look unlikely.
    """
    nothing = np.zeros(page.n, np.bool_)
    listed = page.cards >= _MIN_LISTED
    if types["listing"] + types["collection"] < _LIST_PAGE or not listed.any() or (chosen & listed).any():
        return nothing
    paths = page.path_groups
    counts = np.bincount(paths, listed)

    def mean(values: NDArray[np.generic]) -> FloatArray:
        return np.asarray(np.bincount(paths, values * listed) / np.maximum(counts, 1))

    pairs = np.unique(np.stack([paths[listed], page.text_ids[listed]]), axis=1)
    distinct = np.bincount(pairs[0], minlength=len(counts))
    parts = (counts >= _MIN_LISTED) & (mean(page.characters) <= _MAX_ITEM_LENGTH) & (mean(p) >= _MIN_ITEM)
    parts &= (distinct >= _MIN_DIFFERENT * counts) | (mean(page.money > 0) >= _MIN_MONEY)
    # A highlighted item has another path, but its parts have the same names.
    names = {at: own_name(page, at) for at in np.flatnonzero(listed).tolist()}
    kept = {names[at] for at in np.flatnonzero(listed & parts[paths]).tolist()}
    found = np.array([names.get(at) in kept for at in range(page.n)])
    if not found.any():
        return nothing
    # Filters and menus are lists of another number of items.
    most = int(np.bincount(page.cards[found], page.characters[found]).argmax())
    return np.asarray(found & (page.cards == most))


def own_name(page: PageStatistics, block: int) -> str:
    """Return tag and class of the element that contains a block, or its path group if it has no class."""
    elements, owner = page.segments.elements, page.segments.owners[block]
    name = elements.names[owner].partition("#")[0]
    return f"{elements.tags[owner]}.{name}" if name else str(page.path_groups[block])


class SectionSpan(NamedTuple):
    """A heading and the blocks of its section."""

    level: int
    start: int
    end: int
    """Index after the heading's last block, where its section begins."""
    next_heading: int
    """Start of the next heading of any level."""
    section_end: int
    """Start of the next heading of the same or a higher level."""
    container_end: int
    """End of the innermost ancestor that contains text below the heading."""


def find_headings(page: PageStatistics) -> list[SectionSpan]:
    """Return the headings with text, in document order."""
    elements = np.flatnonzero((page.element_tag >= 1) & (page.element_tag <= 6) & (page.blocks > 0))
    starts, levels = page.first[elements].tolist(), page.element_tag[elements].tolist()
    # Lists: a number of an array takes several times as long to read.
    words, parents, lasts = compute_prefix_sums(page.lengths).tolist(), page.parent.tolist(), page.last.tolist()
    followers = [page.n] * 7
    """For each level, the start of the next heading of this or a higher level."""
    found: list[SectionSpan] = []
    for element, start, level in zip(elements[::-1].tolist(), starts[::-1], levels[::-1], strict=True):
        end = lasts[element]
        container = element
        while container >= 0 and words[lasts[container]] - words[end] < _WRAPPER_WORDS:
            container = parents[container]
        container_end = lasts[container] if container >= 0 else page.n
        found.append(SectionSpan(level, start, end, max(followers[6], end), max(followers[level], end), container_end))
        followers[level:] = [start] * (7 - level)
    return found[::-1]


def select_headings(page: PageStatistics, chosen: BlockMask, p: FloatArray) -> BlockMask:
    """Select headings of selected sections, except those of level 1: the title of the page is returned separately."""
    completed = chosen.copy()
    for heading in find_headings(page):
        at, section = (
            slice(heading.start, heading.end),
            slice(heading.end, min(heading.next_heading, heading.container_end)),
        )
        words = page.lengths[section]
        if (
            heading.level > 1
            and not chosen[at].any()
            and page.lengths[at].sum() <= _MAX_HEADING_WORDS
            and p[at].max() >= _POSSIBLE_HEADING
            and 0 < _MIN_SECTION_SHARE * words.sum() <= words[chosen[section]].sum()
        ):
            completed[at] = True
    return completed


def drop_empty_headings(
    page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]
) -> BlockMask:
    """Deselect headings whose text was not selected, and headings that are followed by the same heading.

    Names of list items stay, because an item may consist of its name.
    """
    has_items = types["listing"] + types["collection"] >= _MAX_LISTS
    remaining = chosen.copy()
    for heading in reversed(find_headings(page)):
        at = slice(heading.start, heading.end)
        if not chosen[at].any():
            continue
        following = remaining[heading.end :]
        below = heading.end + int(following.argmax()) if following.any() else page.n
        is_repeated = below < page.n and page.heading[below] and page.text_ids[below] == page.text_ids[heading.start]
        is_empty = heading.end < heading.section_end <= below and not has_items and heading.level > 1
        is_item = page.cards[heading.start] >= _MIN_ITEMS
        if is_repeated or (is_empty and not is_item and p[at].max() <= _CERTAIN):
            remaining[at] = False
    return remaining


def _find_runs(mask: BlockMask) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each run of true values."""
    borders = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False]))))
    yield from zip(borders[::2].tolist(), borders[1::2].tolist(), strict=True)


def _is_between(chosen: BlockMask, start: int, end: int) -> bool:
    return bool(chosen[start - 1 : start].any() and chosen[end : end + 1].any())
