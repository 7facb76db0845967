"""Pages of one host that one caller asks for in one go: each is read in the process of the one before it.

Measured on applications of 120 kB of script: a page in a fresh context takes 168 ms of CPU, one in a new tab
of a context that has its process already 119; a new tab with a process of its own 171. What the page before
left is not there any more (`Tab.renew`), and where that cannot be told, the context is thrown away.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from browsers.model import Mode, Request
from browsers.navigation.page_patterns import PagePatterns
from browsers.tabs.tab import Tab

REST_S = 3.0
"""The pages of a batch follow each other at once, or not at all."""
MOST = 8
"""Of one browser, 30 MB each: as many as render slots."""
MOST_REMEMBERED = 100
"""Series whose pages' habits are known: a batch has few hosts that are asked for more than one page."""
PAGES_PER_PROCESS = 25
"""Pages leave something behind in their process: a megabyte each."""


@dataclass(frozen=True, slots=True)
class BatchKey:
    """What pages must have in common to be read in one process."""

    batch: str
    principal: str
    language: str
    origin: tuple[str, str]

    @classmethod
    def of(cls, request: Request) -> BatchKey | None:
        """The series of a visit; None for one that stands alone, or renders nothing."""
        if request.batch is None or request.site_profile is not None or request.mode is Mode.PEEK:
            return None
        parts = urlsplit(request.url)
        origin = (parts.scheme.lower(), parts.netloc.lower())
        return cls(request.batch, request.principal, request.language, origin)


@dataclass(frozen=True, slots=True)
class _Kept:
    series: BatchKey
    tab: Tab
    since: float


class BatchTabs:
    """Those that wait for the next page of their series: not for long, and not many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: list[_Kept] = []
        self._habits: OrderedDict[BatchKey, PagePatterns] = OrderedDict()
        self._clock = clock

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, series: BatchKey | None) -> Tab | None:
        """A tab of the series; None when there is none that lives."""
        for kept in self._kept:
            if kept.series == series and kept.tab.session.alive:
                self._kept.remove(kept)
                return kept.tab
        return None

    def habits(self, series: BatchKey | None) -> PagePatterns | None:
        """What is known of the pages of a series; of many series, what is known of the last."""
        if series is None:
            return None
        habits = self._habits.setdefault(series, PagePatterns())
        self._habits.move_to_end(series)
        while len(self._habits) > MOST_REMEMBERED:
            self._habits.popitem(last=False)
        return habits

    def put(self, series: BatchKey, tab: Tab) -> list[Tab]:
        """Let a tab wait; those that are to be closed for it."""
        self._kept.append(_Kept(series, tab, self._clock()))
        return self._removed(self._kept[: max(0, len(self._kept) - MOST)])

    def overdue(self) -> list[Tab]:
        """Those that have waited long enough, or died meanwhile."""
        before = self._clock() - REST_S
        return self._removed(
            kept for kept in list(self._kept) if kept.since <= before or not kept.tab.session.alive
        )

    def all(self) -> list[Tab]:
        """Every one, taken out."""
        return self._removed(list(self._kept))

    def _removed(self, leaving: Iterable[_Kept]) -> list[Tab]:
        gone = list(leaving)
        for kept in gone:
            self._kept.remove(kept)
        return [kept.tab for kept in gone]
