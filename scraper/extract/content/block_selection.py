"""Select content blocks by the expected F1 of the selection, then correct the selection by rules."""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from scraper.extract.content import units
from scraper.extract.content.block_classifier import calibrate, select_by_expected_f1
from scraper.extract.content.class_name_features import TAGS
from scraper.extract.content.page_statistics import BlockMask, FloatArray, IntArray, PageStatistics, compute_prefix_sums
from scraper.extract.content.section_rules import drop_empty_headings, find_headings, select_data, select_headings
from scraper.text.terms import split_words
from scraper.words.matcher import WordPattern

_MIN_REPEATED = 40
"""Characters. Shorter texts, such as labels and prices, may occur twice."""

_MIN_COPIED, _MIN_COPIED_BLOCKS = 80, 2


def select_blocks(page: PageStatistics, probabilities: FloatArray, types: Mapping[str, float]) -> BlockMask:
    """Return a mask of the content blocks of a page, from the probabilities of its blocks and of each page type."""
    rows = page.rows = units.find_rows(page)
    page.units = units.find_units(page)
    parts = [*rows, *page.units]
    p = units.pool(page, calibrate(page, probabilities, types), parts)
    chosen = equalize_cards(page, select_by_expected_f1(p, page.lengths))
    chosen = drop_side_content(page, chosen, p, types) & ~units.find_advertisements(page)
    chosen, cells = complete_tables(page, chosen, p)
    chosen = select_data(page, chosen, p, types)
    if types["forum"] < _MAX_FORUM:  # headings there are those of signatures and of other threads
        chosen = select_headings(page, chosen, p)
    chosen = units.fill(page, chosen, p, types)
    is_documentation = types["documentation"] >= _MIN_DOCUMENTATION
    if not is_documentation:  # references repeat the same sentences for many items
        repeatable = cells | find_listed(page, types)
        remaining = drop_duplicate_elements(chosen, page.text_ids, page.characters, page.first, page.last)
        least = _MIN_COPIED_PROSE if sum(types[one] for one in _PROSE_TYPES) >= _PROSE else 1
        remaining = drop_duplicate_blocks(remaining, page.text_ids, page.characters, repeatable, least=least)
        chosen = remaining | (chosen & repeatable)
    if types["forum"] < _MAX_FORUM:  # repeated texts of posts are quotations
        chosen = _add_headline(page, units.close(chosen, p, parts, rows))
    return drop_empty_headings(page, chosen, p, types)


def drop_duplicate_elements(
    chosen: BlockMask, text_ids: IntArray, characters: FloatArray, first: IntArray, last: IntArray
) -> BlockMask:
    """Deselect elements whose selected texts, at least two, equal those of an earlier element.

    Pages hold the same part once for wide and once for narrow screens; sliders repeat their first cards at the end.
    `first` and `last` are the block ranges of each element, parents before children.
    """
    blocks = np.flatnonzero(chosen)
    again = np.zeros(len(chosen), np.bool_)
    again[blocks] = np.bincount(text_ids[blocks])[text_ids[blocks]] > 1
    singles, sizes, counts = map(compute_prefix_sums, (chosen & ~again, chosen * characters, chosen))
    may_repeat = (singles[last] == singles[first]) & (counts[last] - counts[first] >= _MIN_COPIED_BLOCKS)
    may_repeat &= sizes[last] - sizes[first] >= _MIN_COPIED
    remaining = chosen.copy()
    ends: dict[tuple[int, ...], int] = {}
    dropped_until = 0
    for number in np.flatnonzero(may_repeat).tolist():
        start, end = int(first[number]), int(last[number])
        if start < dropped_until:
            continue
        texts = tuple(text_ids[start:end][chosen[start:end]].tolist())
        if ends.setdefault(texts, end) <= start:
            remaining[start:end] = False
            dropped_until = end
    return remaining


def drop_duplicate_blocks(
    chosen: BlockMask, text_ids: IntArray, characters: FloatArray, cells: BlockMask, *, least: int = 1
) -> BlockMask:
    """Deselect blocks of more than `_MIN_REPEATED` characters that repeat a selected block, except `cells`.

    Fewer than `least` repeated blocks in a row stay: two sections may have the same steps or answer.
    """
    remaining = chosen.copy()
    blocks = np.flatnonzero(chosen)
    repeated = np.ones(len(blocks), np.bool_)
    repeated[np.unique(text_ids[blocks], return_index=True)[1]] = False
    edges = np.flatnonzero(np.diff(repeated, prepend=False, append=False)).tolist() if least > 1 else []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        repeated[start:end] = end - start >= least
    remaining[blocks[repeated & (characters[blocks] > _MIN_REPEATED) & ~cells[blocks]]] = False
    return remaining


def find_listed(page: PageStatistics, types: Mapping[str, float]) -> BlockMask:
    """Return the blocks of long lists and tables, which may repeat a text such as a price; none on forum pages."""
    is_item = np.isin(page.element_tag, (TAGS["li"], TAGS["tr"]))
    is_item &= np.bincount(page.up, is_item)[page.up] >= _MIN_LISTED
    listed = (page.cards >= _MIN_LISTED) | (page.find_nearest(is_item)[page.owner] >= 0)
    return listed & (types["forum"] < _MAX_FORUM)


_BEYOND_DOUBT = 0.8
"""Probability. Blocks with at least this stay, regardless of the class names of their ancestors."""

_MIN_ARTICLE, _MAX_FORUM = 0.3, 0.3
"""Probabilities of page types. Only articles lose side content: in forums it is the content, in shops products."""

_SIDE_IS_CONTENT = 0.5
"""Share of the selected words. Comments and teasers with a larger share are content."""

_MIN_CARDS = 4
_MIN_LISTED = 8
"""Cards of a list whose items may repeat a text, such as the title of a job. Shorter lists are often sliders."""
_IN_ALL_CARDS = 0.35
"""Share of similar blocks in cards that are selected. With at least this all are selected, otherwise none."""

_MIN_TABLE_SHARE = 1 / 3
"""Share of words. A table with this share selected is selected completely: a missing cell would shift a row, and cells
with one letter or mark look unlikely. F1 on wcxb is the same at .25, .33, .4 and .5."""

_PROSE, _PROSE_TYPES, _MIN_COPIED_PROSE = 0.5, ("article", "service", "documentation"), 8
"""Probability of prose, and the number of repeated blocks in a row that are a copy of the text there."""

_MIN_DOCUMENTATION = 0.5
"""Probability. With at least this, a page is documentation, whose repeated text is kept. Dropping repeated
text costs .006 of F1 there, but it gains .014 on forums and .011 on products."""

_MAX_TABLE_SHARE = 0.5
"""Share of the page's words. A larger table is a layout table."""


def drop_side_content(page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float]) -> BlockMask:
    """On article pages, deselect links to other articles, and comments and teasers unless they have most words."""
    if types["article"] < max(_MIN_ARTICLE, types["forum"]):
        return chosen
    beside = chosen & (page.side_kinds > 0)
    if page.lengths[beside].sum() <= _SIDE_IS_CONTENT * page.lengths[chosen].sum():
        chosen = chosen & ~(beside & (p < _BEYOND_DOUBT))
    return chosen & ~find_teasers(page, chosen)


def equalize_cards(page: PageStatistics, chosen: BlockMask) -> BlockMask:
    """Select similar blocks in all cards or in none, for example all prices.

    Blocks are similar if their ancestors have the same tags and classes. This gains .014 of F1 on listings.
    """
    inside = page.cards >= _MIN_CARDS
    if not inside.any():
        return chosen
    count = np.bincount(page.path_groups, inside)
    share = np.bincount(page.path_groups, inside & chosen) / np.maximum(count, 1)
    inside &= (count >= _MIN_CARDS)[page.path_groups]
    equal = np.where(inside, share[page.path_groups] >= _IN_ALL_CARDS, chosen)
    return equal if equal.any() else chosen


_MAX_FROM_HEADLINE = 12
"""Blocks between a headline and the content."""
_MIN_HEADLINE, _MIN_REPEATED_SHARE = 4, 0.4
"""Minimum different words of a headline that is no name of a site, and share of them in a title that repeats it."""


def _add_headline(page: PageStatistics, chosen: BlockMask) -> BlockMask:
    """Select the level 1 heading above the content if the title in the head says something else."""
    first = int(chosen.argmax())
    heading = next((one for one in reversed(find_headings(page)) if one.level == 1 and one.start <= first), None)
    if heading is None or first - heading.start > _MAX_FROM_HEADLINE:
        return chosen
    at = slice(heading.start, heading.end)
    words = set(chain.from_iterable(page.words[at]))
    title = split_words(f"{page.description.title} {page.description.og_title}", by_character=True)
    is_title = not title or len(words.intersection(title)) >= _MIN_REPEATED_SHARE * len(words)
    if chosen.any() and not chosen[at].any() and len(words) >= _MIN_HEADLINE and not is_title:
        chosen[at] = True  # if a part is chosen, the rest may be controls
    return chosen


def complete_tables(page: PageStatistics, chosen: BlockMask, p: FloatArray) -> tuple[BlockMask, BlockMask]:
    """Select whole tables that are partly selected or amid content; return the new mask and these cells."""
    elements = page.segments.elements
    cells = np.zeros(page.n, np.bool_)
    total = page.lengths.sum()
    examined_until = 0
    for table in (number for number, tag in enumerate(elements.tags) if tag == "table"):
        start, end = int(page.first[table]), int(page.last[table])
        if start < examined_until or start == end:
            continue
        words = page.lengths[start:end]
        if words.sum() > _MAX_TABLE_SHARE * total:
            continue
        examined_until = end
        if words[chosen[start:end]].sum() >= _MIN_TABLE_SHARE * words.sum():
            cells[start:end] = True
    return chosen | cells, cells


_TEASER_START = WordPattern(r"\W*(?:{headings.teaser}|{headings.teaser_label}\s*[:|])")
_MAX_TEASER_WORDS = 25
_MIN_LINK_SHARE = 0.3


def find_teasers(page: PageStatistics, chosen: BlockMask) -> BlockMask:
    """Return the selected short blocks that start with words such as "read also" and contain links."""
    teasers = chosen & (page.lengths <= _MAX_TEASER_WORDS) & (page.link_share >= _MIN_LINK_SHARE)
    for number in np.flatnonzero(teasers).tolist():
        teasers[number] = _TEASER_START.match(page.texts[number]) is not None
    return teasers
