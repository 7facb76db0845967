"""Correct a selection of blocks: headings follow their sections; items of lists and data below headings are found."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import AREAS
from scraper.extract.content.page_statistics import BlockMask, FloatArray, PageStatistics, compute_prefix_sums
from scraper.words.matcher import WordPattern

_POSSIBLE_HEADING = 0.1
"""Minimum probability of a heading that its section selects."""

_MAX_HEADING_WORDS, _WRAPPER_WORDS = 40, 4
"""Words of a heading, and words beside it in an element that is its wrapper, such as "edit"."""

_MIN_SECTION_SHARE = 0.5
"""Share of the words below a heading. If at least this share is selected, the heading is selected too."""

_MAX_LISTS = 0.6
"""Probability of the page types of lists, whose items may be headings alone."""

_MIN_ITEMS = 4
_CERTAIN, _MAX_LINKS = 0.8, 40
"""Probability from which a heading stays without its text, and maximum words of the text in its element that stay."""

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
    found = listed & parts[paths]
    # A highlighted item has another path, but its parts have the same names.
    names = page.name_ids[page.owner]
    found |= listed & np.isin(names, names[found]) & np.array([*map(bool, page.segments.elements.names)])[page.owner]
    if not found.any():
        return nothing
    # Filters and menus are lists of another number of items.
    most = int(np.bincount(page.cards[found], page.characters[found]).argmax())
    return np.asarray(found & (page.cards == most))


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
    own_end: int
    """End of the innermost ancestor with more than the heading if it begins with it, else of the heading."""


def find_headings(page: PageStatistics) -> list[SectionSpan]:
    """Return the headings with text, in document order."""
    elements = np.flatnonzero((page.element_tag >= 1) & (page.element_tag <= 6) & (page.blocks > 0))
    starts, levels = page.first[elements].tolist(), page.element_tag[elements].tolist()
    # Lists: a number of an array takes several times as long to read.
    words, parents = compute_prefix_sums(page.lengths).tolist(), page.parent.tolist()
    firsts, lasts = page.first.tolist(), page.last.tolist()
    followers = [page.n] * 7
    """For each level, the start of the next heading of this or a higher level."""
    found: list[SectionSpan] = []
    for element, start, level in zip(elements[::-1].tolist(), starts[::-1], levels[::-1], strict=True):
        end = own_end = lasts[element]
        container = element
        while container >= 0 and lasts[container] == end:
            container = parents[container]
        if container >= 0 and firsts[container] == start:
            own_end = lasts[container]
        while container >= 0 and words[lasts[container]] - words[end] < _WRAPPER_WORDS:
            container = parents[container]
        container_end = lasts[container] if container >= 0 else page.n
        nexts = max(followers[6], end), max(followers[level], end)
        found.append(SectionSpan(level, start, end, *nexts, container_end, own_end))
        followers[level:] = [start] * (7 - level)
    return found[::-1]


def select_headings(page: PageStatistics, chosen: BlockMask, p: FloatArray) -> BlockMask:
    """Select headings of selected sections, except the title of the page, which is returned separately."""
    completed = chosen.copy()
    for heading in find_headings(page):
        at, section = (
            slice(heading.start, heading.end),
            slice(heading.end, min(heading.next_heading, heading.container_end)),
        )
        words = page.lengths[section]
        if (
            (heading.level > 1 or chosen[: heading.start].any())
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
        own = slice(heading.end, heading.own_end)
        is_alone = heading.end < heading.own_end <= heading.next_heading and not (is_item or remaining[own].any())
        if is_alone and not is_repeated and page.lengths[own].sum() <= _MAX_LINKS and not page.side_kinds[own].any():
            remaining[own] = True  # links to other parts, as below "See also"
        elif is_repeated or (is_empty and not is_item and p[at].max() <= _CERTAIN):
            remaining[at] = False
    return remaining


_FOOD = WordPattern(r"{headings.food}")
_DEVICE = WordPattern(r"{headings.device}")

_POSSIBLE = 0.1
"""Minimum mean probability of technical data. Shops also show short copies of them, which are not selected."""

_MAX_LABEL_WORDS, _MAX_SECTION_WORDS = 6, 400
_MIN_DATA = 3
_MAX_LINKED = 0.5
_LISTS = frozenset({"ul", "ol", "dl", "table"})
_FOOTER = 1 << AREAS.index("footer")
_MAX_OTHER = 0.5
"""Probability from which a page counts as documentation or forum. Nothing is added to those."""


def select_data(page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]) -> BlockMask:
    """Add the lists and tables below headings such as "Ingredients" or "Specifications" to the chosen blocks.

    The headings and the text between them are added too. The model rates each of these blocks, taken alone, as unlikely
    content. Pages of documentation and forums stay.
    """
    if max(types["documentation"], types["forum"]) >= _MAX_OTHER or not chosen.any():
        return chosen
    completed = chosen.copy()
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
        if span[1] - span[0] < _MIN_DATA or chosen[at].all() or not (is_food or p[at].mean() >= _POSSIBLE):
            continue
        completed[heading.start : heading.end] = True
        completed[at] = True
    return completed


def _find_list(page: PageStatistics, start: int, end: int) -> tuple[int, int] | None:
    """Return the blocks of a section up to its last list or table; None without one, or if long or mainly links."""
    elements = page.segments.elements
    within = np.flatnonzero((page.first >= start) & (page.last <= end) & (page.blocks > 0))
    ends = [int(page.last[number]) for number in within.tolist() if elements.tags[number] in _LISTS]
    if not ends:
        return None
    last = max(ends)
    linked = page.links[start:last].sum() > _MAX_LINKED * page.characters[start:last].sum()
    return None if linked or page.lengths[start:last].sum() > _MAX_SECTION_WORDS else (start, last)
