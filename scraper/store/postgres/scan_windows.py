"""How far back a search looks: spans of pages' numbers, named to the index by the marks of their blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scraper.store.fulltext.ranking import WEIGHED
from scraper.store.postgres.lexemes import LEVELS, window_mark

SMALLEST = 1 << LEVELS[0]
"""Pages looked through at first where nothing is known of the words."""
SURE = 8
"""Fewer matches than this say only that there are few."""
MARGIN = 1.3
"""More is looked through than should do, lest one more step be needed for the last few."""
FARTHER = 4
"""The next step goes at most so many times as far as was looked."""
_PARTS = 4
"""Blocks are at most so small a part of a window: as much is read beyond what was wanted."""
_MARKS = 64
"""In one condition; of a hundred million pages and more not all blocks can be named."""


@dataclass(frozen=True, slots=True)
class ScanWindow:
    """Some numbers of pages: from `low` on, below `high`."""

    low: int
    high: int
    conditions: tuple[str, ...]
    """For the index: one `tsquery`, or none for everything."""


def back(high: int, pages: float) -> ScanWindow:
    """At least so many of the pages below `high`, or all there are; none of those from `high` on but the
    youngest block's."""
    part = max([level for level in LEVELS if _PARTS << level <= pages], default=LEVELS[0])
    low = max(0, int(high - pages) >> part << part)
    at = -(-high >> LEVELS[0]) << LEVELS[0]
    marks: list[str] = []
    while at > low:
        level = max(level for level in LEVELS if not at % (1 << level) and at - (1 << level) >= low)
        at -= 1 << level
        marks.append(f"'{window_mark(level, at >> level)}'")
        if len(marks) > _MARKS:
            return ScanWindow(0, high, ())
    return ScanWindow(low, high, (" | ".join(marks),))


@dataclass(frozen=True, slots=True)
class ScanShares:
    """On which part of the pages the words stand that every hit holds."""

    expected: float
    """All of them, if they had nothing to do with each other."""
    most: float
    """The rarest: more pages cannot match."""


def shares(of_each: Iterable[float]) -> ScanShares | None:
    """What the words' shares say of how many pages match; None without any."""
    known = list(of_each)
    return ScanShares(math.prod(known), min(known)) if known else None


def first_size(enough: int, known: ScanShares | None) -> float:
    """How many of the newest pages to look through at first: as many as should do.

    But not so many that more would match than are weighed, should the words always stand together.
    """
    if known is None:
        return SMALLEST
    return min(MARGIN * enough / known.expected, WEIGHED / known.most)


def next_size(enough: int, seen: int, looked: int, known: ScanShares | None) -> float:
    """How many more to look through: as many as should hold the rest, going by what was seen.

    Not much more at once: where the newest pages are mostly others', what was seen says little.
    """
    farthest = FARTHER * looked
    if seen >= SURE:
        return min(MARGIN * (enough - seen) * looked / seen, farthest)
    return max(farthest, WEIGHED / known.most) if known else farthest
