"""Columns of what stands before and after a block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.page_statistics import Floats, PageStatistics
from scraper.extract.content.section_labels import topic_columns

Columns = dict[str, NDArray[np.generic]]

_MAX_INDEX = 500
_FAR = 99
_NEAR_TITLE = (-200, 400)
_PLAIN_WORDS = 20
_PLAIN_LINKS = 0.35
_NEIGHBOURS = (1, 2, 3, -1, -2, -3)
_CLOSE_NEIGHBOURS = (1, 2, -1, -2)
_RADII = (4, 10, 25)


def order_columns(page: PageStatistics) -> Columns:
    """What a block's neighbours in the order of reading are like."""
    return _place(page) | _headings(page) | _plain(page) | _neighbours(page) | topic_columns(page)


def _place(page: PageStatistics) -> Columns:
    return {
        "place": page.index / (page.n + 1),
        "text_before": page.running_characters[:-1] / page.total,
        "index": np.minimum(page.index, _MAX_INDEX),
        "index_from_end": np.minimum(page.n - page.index, _MAX_INDEX),
    }


def _headings(page: PageStatistics) -> Columns:
    index = page.index
    last = np.maximum.accumulate(np.where(page.heading, index, -1))
    titles = np.flatnonzero(page.tag == 1)
    closest = int(page.title_cover.argmax())
    title = int(titles[page.title_cover[titles].argmax()]) if len(titles) else closest
    return {
        "since_heading": np.where(last >= 0, index - last, _FAR),
        "heading_level": np.where(last >= 0, page.tag[last], 0),
        "from_title": np.clip(index - title, *_NEAR_TITLE),
        "from_closest": np.clip(index - closest, *_NEAR_TITLE),
        "page_titles": np.full(page.n, len(titles)),
    }


def _plain(page: PageStatistics) -> Columns:
    """Distances to running text."""
    plain = (page.lengths >= _PLAIN_WORDS) & (page.link_share < _PLAIN_LINKS)
    page.plain = plain
    index, n = page.index, page.n
    before = np.maximum.accumulate(np.where(plain, index, -10 * _FAR))
    after = np.minimum.accumulate(np.where(plain, index, n + 10 * _FAR)[::-1])[::-1]
    long = page.running_long
    return {
        "since_plain": np.minimum(index - before, _FAR),
        "until_plain": np.minimum(after - index, _FAR),
        "long_before": long[:-1] / (long[-1] + 1),
    }


def shifted(values: NDArray[np.generic], steps: Sequence[int], fill: float) -> list[Floats]:
    """The value of the block so many steps before (after, when negative), for each of the steps."""
    count, reach = len(values), max(map(abs, steps))
    padded = np.full(count + 2 * reach, fill)
    padded[reach : reach + count] = values
    return [padded[reach - step : reach - step + count] for step in steps]


def windows(page: PageStatistics, radius: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The borders of the blocks around each block."""
    return np.maximum(page.index - radius, 0), np.minimum(page.index + radius + 1, page.n)


def _neighbours(page: PageStatistics) -> Columns:
    words = np.log1p(page.lengths)
    columns: Columns = {}
    for name, values, steps, fill in (
        ("words", words, _NEIGHBOURS, 0),
        ("link_share", page.link_share, _NEIGHBOURS, 1),
        ("tag", page.tag, _CLOSE_NEIGHBOURS, -1),
        ("sentences", page.sentences, _CLOSE_NEIGHBOURS, -1),
    ):
        for step, row in zip(steps, shifted(values, steps, fill), strict=True):
            columns[f"{name}{step:+}"] = row
    same = np.concatenate(([False], page.above[1:] == page.above[:-1], [False]))
    depth = page.depth[page.owner]
    change = np.concatenate(([0], np.abs(np.diff(depth)), [0]))
    columns |= {
        "same_parent_before": same[:-1],
        "same_parent_after": same[1:],
        "depth_step_before": change[:-1],
        "depth_step_after": change[1:],
    }
    characters, links, long = page.running_characters, page.running_links, page.running_long
    for radius in _RADII:
        start, end = windows(page, radius)
        around = characters[end] - characters[start]
        columns[f"window{radius}_characters"] = np.log1p(around)
        columns[f"window{radius}_links"] = (links[end] - links[start]) / (around + 1)
        columns[f"window{radius}_long"] = long[end] - long[start]
    return columns
