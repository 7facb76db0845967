"""Keep together what stands or falls together: a term with its values, a quotation with its source.

A unit is formed from the structure of the page before any block is judged. Its blocks share one probability. What
stands between two selected siblings is selected too, unless its names say what it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from scraper.extract.content import class_name_features
from scraper.extract.content.class_name_features import ADVERTISEMENT, COMMENTS, CONTENT, NOTE, SIDE, TAGS, TEASERS
from scraper.extract.content.page_statistics import BlockMask, FloatArray, PageStatistics, compute_prefix_sums
from scraper.html.dom.parsing import HEADINGS

Unit = tuple[int, int]
"""First block, and the one after the last."""

_WHOLE = (TAGS["figure"], TAGS["blockquote"], TAGS["details"])
_MAX_BLOCKS, _MAX_WORDS, _MAX_FACTS = 16, 250, 80
"""Larger quotations, collapsed parts and notes are judged block by block. A box of facts may be longer."""

_MAX_ROW, _MAX_ROW_WORDS, _MAX_LABEL = 4, 40, 6
"""Bounds of a row: blocks, words, and words of its label."""
_POSSIBLE = 0.3
"""Probability from which a unit that is selected in part is selected. F1 differs by .0003 from .1 to .4."""
_MIN_HALF = 3
"""Words of each half of a sentence."""

_MAX_GAP, _MAX_GAP_WORDS, _MAX_LEVELS, _MAX_LINKED = 16, 200, 2, 0.3
"""Bounds of what is selected between siblings: blocks, words, levels below the common parent, characters in links."""
_MAX_REPEATS = 5
"""Times that a page may say what stands between siblings. What it says more often is a part of its design."""
_MAX_LEAD, _MAX_LINKED_LINE, _MIN_AROUND = 40, 0.5, 20
"""Blocks between the title and the content, share of links in a line of a figure, and selected words around a part."""
_BESIDE = sum(1 << class_name_features.AREAS.index(name) for name in ("nav", "aside", "form", "footer", "dialog"))
_ARTICLE, _FIGURE = (1 << class_name_features.AREAS.index(name) for name in ("article", "figure"))
_MAX_LISTS = 0.4
_MAX_FORUM, _MAX_ARTICLE = 0.3, 0.5
"""Probabilities of page types whose gaps are signatures, other goods, and what texts of references omit."""
_APART = frozenset({"nav", "aside", "footer", "form", "header", "dialog", "button"})
_MAX_ADVERTISEMENT = 40
"""Words. A larger part with such a name is judged by its text."""


def find_units(page: PageStatistics) -> list[Unit]:
    """Return the units with several blocks, inner ones before those around them."""
    in_terms = (page.element_tag == TAGS["dl"])[page.up]
    is_term = in_terms & np.isin(page.element_tag, (TAGS["dt"], TAGS["dd"]))
    is_whole = np.isin(page.element_tag, _WHOLE)
    is_whole |= np.isin(page.element_tag, (TAGS["div"], TAGS["aside"])) & _are_notes(page)
    is_whole |= ((page.element_tag == TAGS["div"]) & in_terms) | (page.element_tag == TAGS["dl"])
    lengths = compute_prefix_sums(page.lengths)
    is_whole |= (page.element_tag == TAGS["tr"]) & (page.sum_inside(lengths) <= _MAX_ROW_WORDS)
    ranges = zip(page.first[is_whole].tolist(), page.last[is_whole].tolist(), strict=True)
    units = [*_group_terms(page, np.flatnonzero(is_term).tolist()), *ranges]
    sound = [
        (start, end)
        for start, end in units
        if 1 < end - start <= _MAX_BLOCKS and lengths[end] - lengths[start] <= _MAX_WORDS
    ]
    return sorted(sound, key=lambda unit: unit[1] - unit[0])


def _are_notes(page: PageStatistics) -> BlockMask:
    return np.asarray(page.expand_names([features.named_as & NOTE for features in page.name_features]) > 0)


def _are_side_notes(page: PageStatistics) -> BlockMask:
    """Return a mask of the elements `aside` in an article or with the name of a note, which belong to the text."""
    are_asides: BlockMask = (page.element_tag == TAGS["aside"]) & (page.blocks > 0)
    places = np.flatnonzero(are_asides)
    are_asides[places] = (page.areas[page.first[places]] & _ARTICLE > 0) | _are_notes(page)[places]
    return are_asides


def find_rows(page: PageStatistics) -> list[Unit]:
    """Return rows of a short label and what it stands for: neighbors of one kind with few blocks and few links."""
    lengths = page.sum_inside(compute_prefix_sums(page.lengths))
    kinds = np.unique(page.up * (page.name_ids.max() + 1) + page.name_ids, return_inverse=True)[1]
    is_row = (page.blocks > 1) & (page.blocks <= _MAX_ROW) & (lengths <= _MAX_ROW_WORDS)
    is_row &= page.lengths[np.minimum(page.first, page.n - 1)] <= _MAX_LABEL
    is_row &= page.sum_inside(page.link_sums) <= _MAX_LINKED * page.sum_inside(page.character_sums)
    repeats = compute_prefix_sums(np.bincount(page.text_ids)[page.text_ids] > 1)
    is_row &= page.sum_inside(repeats) == 0
    is_row &= (np.bincount(kinds, is_row) > 1)[kinds]
    return list(zip(page.first[is_row].tolist(), page.last[is_row].tolist(), strict=True))


def close(chosen: BlockMask, p: FloatArray, units: Iterable[Unit], rows: Sequence[Unit]) -> BlockMask:
    """Select the other blocks of units, and unselected rows between two selected ones.

    Units that are unlikely content are deselected instead.
    """
    closed = chosen.copy()
    for start, end in units:
        if closed[start:end].any() and not closed[start:end].all():
            closed[start:end] = p[start:end].max() >= _POSSIBLE
    for before, row, behind in zip(rows, rows[1:], rows[2:], strict=False):
        if before[1] == row[0] and row[1] == behind[0] and closed[before[0]] and closed[behind[0]]:
            closed[slice(*row)] = True
    return closed


def count_torn(page: PageStatistics, chosen: BlockMask, types: Mapping[str, float]) -> int:
    """Count what is selected in part: units, short rows, and sentences that two blocks share; 0 for forums."""
    if types["forum"] >= _MAX_FORUM:
        return 0
    sums = compute_prefix_sums(chosen)
    missing = compute_prefix_sums(~chosen & (page.link_share < _MAX_LINKED_LINE))  # links alone may be controls
    starts, ends = np.array(list({*page.units, *page.rows}), np.int64).reshape(-1, 2).T
    torn = np.count_nonzero((sums[ends] > sums[starts]) & (missing[ends] > missing[starts]))
    borders = np.flatnonzero((chosen[1:] != chosen[:-1]) & (page.owner[1:] == page.owner[:-1]))
    for number in borders.tolist():
        before, behind = page.texts[number : number + 2]
        is_half = before[-1:].isalpha() and behind[:1].islower()
        torn += is_half and min(page.lengths[number : number + 2]) >= _MIN_HALF
    return int(torn)


def _group_terms(page: PageStatistics, numbers: Iterable[int]) -> Iterator[Unit]:
    """Yield each group of terms and values, from the elements `dt` and `dd`; several terms may have the same value."""
    tags, parents = page.segments.elements.tags, page.segments.elements.parents
    groups: dict[int, Unit] = {}
    for number in numbers:
        start, end, parent = int(page.first[number]), int(page.last[number]), parents[number]
        if parent in groups and (tags[number] == "dd" or tags[number - 1] == "dt"):
            start = groups[parent][0]
        elif parent in groups:
            yield groups[parent]
        groups[parent] = start, end
    yield from groups.values()


def find_advertisements(page: PageStatistics) -> BlockMask:
    """Return the blocks of short parts that are named as advertisements or as links for sharing."""
    found = np.zeros(page.n, np.bool_)
    are_parts = page.expand_names([features.named_as & ADVERTISEMENT for features in page.name_features]) > 0
    are_parts &= page.sum_inside(compute_prefix_sums(page.lengths)) <= _MAX_ADVERTISEMENT
    for start, end in zip(page.first[are_parts].tolist(), page.last[are_parts].tolist(), strict=True):
        found[start:end] = True
    return found


def pool(page: PageStatistics, p: FloatArray, units: list[Unit]) -> FloatArray:
    """Return the probabilities with one value for all blocks of a unit: their mean, weighted by length."""
    pooled = p.copy()
    weights = page.lengths + 1
    for start, end in units:
        pooled[start:end] = np.average(pooled[start:end], weights=weights[start:end])
    return pooled


def fill(
    page: PageStatistics, chosen: BlockMask, p: FloatArray, types: Mapping[str, float], *, figures: bool = False
) -> BlockMask:
    """Select what stands between two selected siblings, except on pages of forums and lists.

    Parts with figures are selected only with `figures`: texts of references omit captions.
    """
    filled = chosen.copy()
    levels = _MAX_LEVELS if figures or types["article"] < _MAX_ARTICLE else 1
    has_goods = types["listing"] + types["collection"] >= _MAX_LISTS
    if figures:
        for number in _find_parts(page, chosen, (TAGS["dl"],) if has_goods else (TAGS["dl"], TAGS["figure"])):
            at = slice(page.first[number], page.last[number])
            filled[at] = page.element_tag[number] != TAGS["figure"] or ~_find_controls(page, at)
    if types["forum"] >= _MAX_FORUM:
        return filled
    is_item = page.tag == TAGS["li"]
    places = np.flatnonzero(filled & (is_item | (not has_goods)))
    repeats = np.bincount(page.text_ids)[page.text_ids]
    depths = page.sum_ancestors(page.blocks != page.blocks[page.up])  # wrappers of the same blocks are one level
    for start, end in zip((places[:-1] + 1).tolist(), places[1:].tolist(), strict=True):
        if (
            0 < end - start <= _MAX_GAP
            and repeats[start:end].min() <= _MAX_REPEATS
            and page.lengths[start:end].sum() <= _MAX_GAP_WORDS
            and (
                page.links[start:end].sum() <= _MAX_LINKED * page.characters[start:end].sum()
                or (figures and p[start:end].min() >= _POSSIBLE and not page.areas[start] & _FIGURE)
            )
            and _are_siblings(page, start - 1, end, depths, levels)
            and not _is_apart(page, start, end, figures=figures)
        ):
            filled[start:end] = True
    return filled


def _find_parts(page: PageStatistics, chosen: BlockMask, tags: Sequence[int]) -> Iterator[int]:
    """Yield the elements with these tags in an element with selected text, or between the title and the content."""
    side_notes = _are_side_notes(page)
    named = np.isin(page.element_tag, tags) | side_notes
    if not named.any():
        return
    first = int(chosen.argmax())
    titles = np.flatnonzero(page.tag[:first] == 1)
    title = int(titles[-1]) if len(titles) and first - titles[-1] <= _MAX_LEAD else first
    words = compute_prefix_sums(page.lengths * chosen)
    linked = page.sum_inside(page.link_sums) > _MAX_LINKED * page.sum_inside(page.character_sums)
    are_figures = page.element_tag == TAGS["figure"]
    seen: set[tuple[int, ...]] = set()  # the same figure for screens of another width
    for number in np.flatnonzero(named & (page.blocks > 1 - are_figures) & (are_figures | ~linked)).tolist():
        start, end, around = int(page.first[number]), int(page.last[number]), number
        while around > 0 and page.blocks[around] == end - start:
            around = page.parent[around]
        is_amid = words[page.last[around]] - words[page.first[around]] >= _MIN_AROUND or title < start < end <= first
        is_beside = page.areas[start] & _BESIDE and not side_notes[number]
        if not is_amid or is_beside or page.side_kinds[start] & (COMMENTS | TEASERS):
            continue
        texts = tuple(page.text_ids[start:end].tolist())
        is_short = end - start <= (_MAX_FACTS if side_notes[number] else _MAX_BLOCKS)
        if is_short and texts not in seen and not _is_apart(page, start, end, is_part=True):
            seen.add(texts)
            yield number


def _find_controls(page: PageStatistics, at: slice) -> BlockMask:
    """Return the lines of a figure that only link, as to a larger image, but not its caption, or a part of a link."""
    linked = page.link_share[at] >= _MAX_LINKED_LINE
    for number in np.flatnonzero(linked).tolist():
        owner = page.segments.elements.nodes[page.segments.owners[at.start + number]]
        linked[number] = owner.tag != "figcaption" and next(owner.iterancestors("figcaption", "a"), None) is None
    return linked


def _are_siblings(page: PageStatistics, before: int, behind: int, depths: FloatArray, levels: int) -> bool:
    """Return True if the elements of two blocks have a common parent at most `levels` above each, by these depths."""
    owners = int(page.owner[before]), int(page.owner[behind])
    around = owners[0]
    while around >= 0 and page.last[around] <= behind:
        around = int(page.parent[around])
    if around < 0 or page.segments.elements.tags[around] in HEADINGS:
        return False
    if owners[0] != around and page.last[owners[0]] > before + 1:
        return False  # the rest of a heading may be controls
    return all(depths[owner] - depths[around] <= levels for owner in owners)


def _is_apart(page: PageStatistics, start: int, end: int, *, figures: bool = False, is_part: bool = False) -> bool:
    """Return True if an element of these blocks is named as navigation, an advertisement or another side part.

    A figure or list (`is_part`) may hold buttons, and names such as `author` and `meta`.
    """
    elements = page.segments.elements
    kinds, tags = (COMMENTS | TEASERS, _APART - {"button", "aside"}) if is_part else (SIDE | COMMENTS | TEASERS, _APART)
    low, high = np.searchsorted(page.first, (start, end)).tolist()
    for number in range(low, high):
        if page.last[number] > end or page.first[number] == page.last[number]:
            continue
        features = page.name_features[int(page.name_ids[number])]
        if elements.tags[number] == "figure" and not (figures or is_part):
            return True
        if features.named_as & NOTE or elements.tags[elements.parents[number]] == "blockquote":
            continue  # the source of a quotation may be a footer
        if elements.tags[number] in tags or features.named_as & ADVERTISEMENT:
            return True
        if features.kinds & kinds and not features.kinds & CONTENT:
            return True
    return False
