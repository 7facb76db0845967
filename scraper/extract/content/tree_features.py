"""Compute feature columns from the element tree around each block and from repeated structures.

The functions also store values on `page` that later columns, the neural net and `block_selection` read.
"""

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import AREAS, KINDS
from scraper.extract.content.page_statistics import Columns, FloatArray, IntArray, PageStatistics, compute_prefix_sums

_FAR = 30
_LEVELS, _CLOSE_LEVELS = 5, 3
_MAX_WRAPPERS = 3
_MAX_LANDMARKS = 30
_CANDIDATE_WORDS = 8
_CANDIDATE_LINKS = 0.5
_CANDIDATE_CHARACTERS = 1_500
_CANDIDATE_WEIGHTS = (0.3, 1.0, 0.6, 0.3)
"""Share of its score that a passage gives to its element, the parent, and so on, similar to readability.js."""
_CORE_SHARES = (0.6, 0.9)


def compute_tree_columns(page: PageStatistics) -> Columns:
    """Return the columns of each block's ancestors and position."""
    depth = page.depth[page.owner]
    position: Columns = {
        "depth": depth,
        "depth_relative": depth / (depth.mean() + 1),
        "sibling": np.array(page.segments.elements.positions)[page.owner],
    }
    return _areas(page) | _kinds(page) | position | _levels(page) | _candidates(page)


def _areas(page: PageStatistics) -> Columns:
    own = page.expand_names([names.areas for names in page.name_features])
    page.areas = page.combine_ancestors(own, np.bitwise_or, 0)[page.owner]
    inside = page.sum_inside(page.character_sums)
    columns: Columns = {f"in_{area}": (page.areas >> number) & 1 for number, area in enumerate(AREAS)}
    for area in ("main", "article"):
        landmarks = np.flatnonzero((own >> AREAS.index(area)) & 1)
        share = inside[landmarks].max() / page.total if len(landmarks) else 0.0
        columns[f"page_{area}s"] = np.full(page.n, min(len(landmarks), _MAX_LANDMARKS))
        columns[f"page_{area}_share"] = np.full(page.n, share)
    return columns


def _kinds(page: PageStatistics) -> Columns:
    own = page.expand_names([names.kinds for names in page.name_features])
    own[0] = 0  # the names of the body describe the whole page
    has = ((own[:, None] >> np.arange(len(KINDS))) & 1).astype(bool)
    around = page.combine_ancestors(has.astype(np.int64), np.add, 0)
    nearest = page.find_nearest(has)
    depth = page.depth[:, None]
    distance = np.where(nearest >= 0, depth - page.depth[nearest], depth + _FAR)
    side_kinds = page.expand_names([names.side_kinds for names in page.name_features])
    side_kinds[0] = 0
    page.side_kinds = page.combine_ancestors(side_kinds, np.bitwise_or, 0)[page.owner]
    columns: Columns = {}
    for number, kind in enumerate(KINDS):
        columns[f"{kind}_around"] = around[page.owner, number]
        columns[f"{kind}_distance"] = distance[page.owner, number]
    return columns


def _find_ancestors(page: PageStatistics, levels: int) -> list[IntArray]:
    """Return for each level the next ancestor of each block with more blocks, after at most three with as many."""
    found = [page.find_nearest((page.blocks >= 2) | (page.parent < 0))[page.owner]]
    for _ in range(levels - 1):
        above = page.up[found[-1]]
        for _ in range(_MAX_WRAPPERS):
            is_wrapper = (page.blocks[above] == page.blocks[found[-1]]) & (page.parent[above] >= 0)
            above = np.where(is_wrapper, page.up[above], above)
        found.append(above)
    return found


def _levels(page: PageStatistics) -> Columns:
    characters, links, long = map(page.sum_inside, (page.character_sums, page.link_sums, page.long_sums))
    sentences, headings, images = (
        page.sum_inside(compute_prefix_sums(values))
        for values in (page.sentences, page.heading, np.array(page.segments.images))
    )
    blocks = page.blocks + 1.0
    each = {
        "characters": np.log1p(characters),
        "link_share": links / (characters + 1),
        "share": characters / page.total,
        "blocks": np.log1p(page.blocks),
        "long": long / blocks,
        "mean": characters / blocks,
    }
    close = {
        "sentences": sentences / blocks,
        "tag": page.element_tag,
        "children": np.array(page.segments.elements.children),
        "headings": headings / blocks,
        "images": images / blocks,
    }
    page.element_characters, page.element_links, page.element_long = characters, links, long
    page.around = _find_ancestors(page, _LEVELS + 1)
    names = (*each, *close)
    values = np.array([*each.values(), *close.values()], np.float64)
    columns: Columns = {}
    for number, at in enumerate(page.around[:_LEVELS], 1):
        rows = values[: len(names) if number <= _CLOSE_LEVELS else len(each)].take(at, axis=1)
        for name, row in zip(names, rows, strict=False):
            columns[f"level{number}_{name}"] = row
        if number <= _CLOSE_LEVELS:
            columns[f"level{number}_place"] = (page.index - page.first[at]) / blocks[at]
    return columns


def _candidates(page: PageStatistics) -> Columns:
    good = (page.lengths >= _CANDIDATE_WORDS) & (page.link_share < _CANDIDATE_LINKS)
    worth = np.where(good, np.minimum(page.characters, _CANDIDATE_CHARACTERS) / 100 + page.commas, 0)
    scores = np.zeros(len(page.parent))
    at = page.owner
    for weight in _CANDIDATE_WEIGHTS:
        scores += np.bincount(at, worth * weight, len(scores))
        at = page.up[at]
    scores = np.asarray(scores * (1 - page.element_links / (page.element_characters + 1)))
    best = int(scores.argmax())
    index, n = page.index, page.n
    start, end = page.first[best], page.last[best]
    columns: Columns = {
        "best_distance": np.where(index < start, index - start, np.where(index >= end, index - end + 1, 0)),
        "best_share": np.full(n, page.element_characters[best] / page.total),
        "parent_score": np.log1p(scores[page.above]),
        "parent_score_relative": scores[page.above] / (scores[best] + 1e-6),
    }
    for number in range(3):
        columns[f"in_best{number}"] = _inside(page, best)
        best = int(page.up[best])
    for share in _CORE_SHARES:
        # The smallest element that contains a share of the long blocks with few links; the body without any.
        holders = np.flatnonzero(page.element_long >= share * page.element_long[0])
        core = int(holders[page.blocks[holders].argmin()]) if page.element_long[0] and len(holders) else 0
        columns[f"in_core{share}"] = _inside(page, core)
        columns[f"core_share{share}"] = np.full(n, page.blocks[core] / (n + 1))
    return columns


def _inside(page: PageStatistics, element: int) -> NDArray[np.bool_]:
    return np.asarray((page.index >= page.first[element]) & (page.index < page.last[element]))


_STEP = np.uint64(0x100000001B3)
_MIN_CARDS = 3
_FEW = 1e-9


def compute_repetition_columns(page: PageStatistics) -> Columns:
    """Return the columns of repeated structures: equal paths, cards and equal texts."""
    numbers: dict[str, int] = {}
    ids = page.text_ids = np.array([numbers.setdefault(text.lower(), len(numbers)) for text in page.texts])
    return _paths(page) | _cards(page) | {"equal": np.bincount(ids)[ids], "equal_before": _rank(ids)}


def _paths(page: PageStatistics) -> Columns:
    parts = np.array([(names.path_part, names.tag_part) for names in page.name_features], np.uint64)
    named, bare = np.ascontiguousarray(page.hash_paths(parts[page.name_ids]).T)
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
    """Return the columns of the nearest of three or more siblings with equal names, and two blocks each on average."""
    parts = page.expand_names([names.path_part for names in page.name_features]).astype(np.uint64)
    group = np.unique(page.parent.astype(np.uint64) * _STEP + parts, return_inverse=True)[1]
    count = np.bincount(group)
    blocks = np.bincount(group, page.blocks)
    is_card = (count[group] >= _MIN_CARDS) & (blocks[group] >= 2 * count[group])
    card = page.find_nearest(is_card)[page.owner]
    inside = card >= 0
    at = np.maximum(card, 0)
    like = group[at]

    def mean(values: NDArray[np.generic]) -> FloatArray:
        """Return the mean over the cards of each block's group; -1 for blocks outside of cards."""
        sums = np.bincount(group, page.sum_inside(compute_prefix_sums(values)))
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
        "card_number": np.where(inside, _rank(group)[at], -1),
        "cards_share": characters * cards / page.total,
        "page_cards_share": np.full(page.n, (np.where(inside, page.characters, 0).sum()) / page.total),
    }


def _rank(group: IntArray) -> IntArray:
    """Return the number of elements of the same group before each element."""
    order = np.argsort(group, kind="stable")
    count = np.bincount(group)
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    return rank
