"""Columns of what comes again: paths of tags and classes, cards, equal texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.page_statistics import Floats, Ints, PageStatistics, running

Columns = dict[str, NDArray[np.generic]]

_STEP = np.uint64(0x100000001B3)
_MIN_CARDS = 3
_FEW = 1e-9


def repeat_columns(page: PageStatistics) -> Columns:
    """How often a block's like stands on the page."""
    return _paths(page) | _cards(page) | _equal_texts(page)


def _paths(page: PageStatistics) -> Columns:
    parts = np.array([(naming.path_part, naming.tag_part) for naming in page.namings], np.uint64)
    named, bare = np.ascontiguousarray(page.paths(parts[page.name_ids]).T)
    columns: Columns = {}
    for name, paths in (("path", named), ("bare_path", bare)):
        groups = np.unique(paths[page.owner], return_inverse=True)[1]
        if name == "path":
            page.path_groups = groups
        count = np.bincount(groups)
        characters, links = np.bincount(groups, page.characters), np.bincount(groups, page.links)
        columns[f"{name}_count"] = np.log1p(count)[groups]
        columns[f"{name}_share"] = (characters / page.total)[groups]
        columns[f"{name}_links"] = (links / (characters + 1))[groups]
        columns[f"{name}_mean"] = (np.bincount(groups, page.lengths) / count)[groups]
    groups = np.unique(named[page.above], return_inverse=True)[1]
    count = np.bincount(groups)
    columns["parent_path_count"] = np.log1p(count)[groups]
    columns["parent_path_mean"] = (np.bincount(groups, page.lengths) / count)[groups]
    columns["page_path_most"] = np.full(page.n, np.exp(columns["path_count"].max()) / (page.n + 1))
    columns["page_parent_path_most"] = np.full(page.n, count.max() / (page.n + 1))
    return columns


def _cards(page: PageStatistics) -> Columns:
    """The nearest element around a block that stands among at least two of its like."""
    parts = page.by_name([naming.path_part for naming in page.namings]).astype(np.uint64)
    group = np.unique(page.parent.astype(np.uint64) * _STEP + parts, return_inverse=True)[1]
    count = np.bincount(group)
    blocks = np.bincount(group, page.blocks)
    is_card = (count[group] >= _MIN_CARDS) & (blocks[group] >= 2 * count[group])
    card = page.nearest(is_card)[page.owner]
    inside = card >= 0
    at = np.maximum(card, 0)
    like = group[at]

    def mean(values: NDArray[np.generic]) -> Floats:
        """Of the cards of a block's group, for each card."""
        sums = np.bincount(group, page.within(running(values)))
        return np.asarray(np.where(inside, (sums / (count + _FEW))[like], -1.0))

    characters = mean(page.characters)
    page.cards = cards = np.where(inside, count[like], 0)
    return {
        "cards": np.log1p(cards),
        "card_blocks": mean(np.ones(page.n)),
        "card_characters": np.log1p(np.maximum(characters, 0)),
        "card_links": np.where(inside, mean(page.links) / (np.abs(characters) + 1), -1.0),
        "card_images": mean(np.array(page.segments.images)),
        "card_money": mean(page.money > 0),
        "card_headings": mean(page.heading),
        "card_long": mean(page.long),
        "card_place": np.where(inside, page.index - page.first[at], -1),
        "card_number": np.where(inside, _rank(page, group)[at], -1),
        "cards_share": characters * cards / page.total,
        "page_cards_share": np.full(page.n, (np.where(inside, page.characters, 0).sum()) / page.total),
    }


def _rank(page: PageStatistics, group: Ints) -> Ints:
    """How many of its group stand before an element."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    return rank


def _equal_texts(page: PageStatistics) -> Columns:
    numbers: dict[str, int] = {}
    ids = np.array([numbers.setdefault(text.lower(), len(numbers)) for text in page.texts])
    page.text_ids = ids
    return {"equal": np.bincount(ids)[ids], "equal_before": _rank(page, ids)}
