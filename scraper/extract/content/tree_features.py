"""Columns of a block's place in the tree: what stands around it, and how much text that holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.class_name_features import AREAS, KINDS
from scraper.extract.content.page_statistics import Floats, Ints, PageStatistics, running

Columns = dict[str, NDArray[np.generic]]

_FAR = 30
_LEVELS = 5
_CLOSE_LEVELS = 3
_MAX_WRAPPERS = 3
_MAX_LANDMARKS = 30
_CANDIDATE_WORDS = 8
_CANDIDATE_LINKS = 0.5
_CANDIDATE_CHARACTERS = 1_500
_CANDIDATE_WEIGHTS = (0.3, 1.0, 0.6, 0.3)
"""What a passage gives to its element, the parent, and so on: the score that readability.js made known."""
_CORE_SHARES = (0.6, 0.9)


def place_columns(page: PageStatistics) -> Columns:
    """Where a block stands."""
    return _areas(page) | _kinds(page) | _position(page) | _levels(page) | _candidates(page)


def _areas(page: PageStatistics) -> Columns:
    own = page.by_name([naming.areas for naming in page.namings])
    page.areas = page.gathered(own, np.bitwise_or, 0)[page.owner]
    inside = page.within(page.running_characters)
    columns: Columns = {f"in_{area}": (page.areas >> number) & 1 for number, area in enumerate(AREAS)}
    for area in ("main", "article"):
        landmarks = np.flatnonzero((own >> AREAS.index(area)) & 1)
        share = inside[landmarks].max() / page.total if len(landmarks) else 0.0
        columns[f"page_{area}s"] = np.full(page.n, min(len(landmarks), _MAX_LANDMARKS))
        columns[f"page_{area}_share"] = np.full(page.n, share)
    return columns


def _kinds(page: PageStatistics) -> Columns:
    own = page.by_name([naming.kinds for naming in page.namings])
    own[0] = 0  # the body's names tell of the whole page
    has = ((own[:, None] >> np.arange(len(KINDS))) & 1).astype(bool)
    around = page.gathered(has.astype(np.int64), np.add, 0)
    nearest = page.nearest(has)
    depth = page.depth[:, None]
    distance = np.where(nearest >= 0, depth - page.depth[nearest], depth + _FAR)
    asides = page.by_name([naming.asides for naming in page.namings])
    asides[0] = 0
    page.asides = page.gathered(asides, np.bitwise_or, 0)[page.owner]
    columns: Columns = {}
    for number, kind in enumerate(KINDS):
        columns[f"{kind}_around"] = around[page.owner, number]
        columns[f"{kind}_distance"] = distance[page.owner, number]
    return columns


def _position(page: PageStatistics) -> Columns:
    depth = page.depth[page.owner]
    return {
        "depth": depth,
        "depth_relative": depth / (depth.mean() + 1),
        "sibling": np.array(page.segments.elements.places)[page.owner],
    }


def ancestors(page: PageStatistics, levels: int) -> list[Ints]:
    """For each block, the elements around it that hold more than the one before, wrappers skipped."""
    found = [page.nearest((page.blocks >= 2) | (page.parent < 0))[page.owner]]
    for _ in range(levels - 1):
        found.append(_wider(page, found[-1]))
    return found


def _wider(page: PageStatistics, at: Ints) -> Ints:
    above = page.up[at]
    for _ in range(_MAX_WRAPPERS):
        wrapper = (page.blocks[above] == page.blocks[at]) & (page.parent[above] >= 0)
        above = np.where(wrapper, page.up[above], above)
    return above


def _levels(page: PageStatistics) -> Columns:
    within = page.within
    characters, links = within(page.running_characters), within(page.running_links)
    long, sentences = within(page.running_long), within(running(page.sentences))
    headings, images = within(running(page.heading)), within(running(np.array(page.segments.images)))
    blocks = page.blocks + 1.0
    children = np.array(page.segments.elements.children)
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
        "children": children,
        "headings": headings / blocks,
        "images": images / blocks,
    }
    page.element_characters, page.element_links, page.element_long = characters, links, long
    page.around = ancestors(page, _LEVELS + 1)
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
    scores = _candidate_scores(page)
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
        core = _core(page, share)
        columns[f"in_core{share}"] = _inside(page, core)
        columns[f"core_share{share}"] = np.full(n, page.blocks[core] / (n + 1))
    return columns


def _candidate_scores(page: PageStatistics) -> Floats:
    good = (page.lengths >= _CANDIDATE_WORDS) & (page.link_share < _CANDIDATE_LINKS)
    worth = np.where(good, np.minimum(page.characters, _CANDIDATE_CHARACTERS) / 100 + page.commas, 0)
    scores = np.zeros(len(page.parent))
    at = page.owner
    for weight in _CANDIDATE_WEIGHTS:
        scores += np.bincount(at, worth * weight, len(scores))
        at = page.up[at]
    return np.asarray(scores * (1 - page.element_links / (page.element_characters + 1)))


def _core(page: PageStatistics, share: float) -> int:
    """The smallest element that holds a share of the long plain blocks."""
    total = page.element_long[0]
    holders = np.flatnonzero(page.element_long >= share * total)
    if not total or not len(holders):
        return 0
    return int(holders[page.blocks[holders].argmin()])


def _inside(page: PageStatistics, element: int) -> NDArray[np.bool_]:
    return np.asarray((page.index >= page.first[element]) & (page.index < page.last[element]))
