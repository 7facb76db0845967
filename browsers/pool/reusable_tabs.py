"""Tabs that wait for the next visit of the same site profile, or for the next page of the same batch.

Site profiles, measured on engine pages in the full tier: a visit in a new context takes 300 ms of CPU, one in
the tab of the previous visit 130. A new tab in the same context saves only a tenth.

Batches, measured on applications of 120 kB of script: a page in a new context takes 168 ms of CPU, one in a
new tab of a context that already has its process 119, a new tab with a process of its own 171. `Tab.renew`
removes what the previous page left. If that fails, the context is closed.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from browsers.model import Mode, Request
from browsers.navigation.page_patterns import PagePatterns
from browsers.navigation.tab import Tab

MAX_IDLE_TABS = 5
"""Of one browser, 40 MB each on engine pages: the engines of a search, and some to spare."""
IDLE_TTL_S = 60.0
"""A caller who has not come back by then is not in the middle of something."""
VISITS_PER_TAB = 50
"""Pages leave something behind in their process."""


@dataclass(frozen=True, slots=True)
class ProfileKey:
    """Whose tab it is. Nobody else is ever given it, nor the same caller under another name or language."""

    principal: str
    site_profile: str
    language: str

    @classmethod
    def of(cls, request: Request) -> ProfileKey | None:
        """The profile of a visit; None for one that shall leave nothing."""
        if request.site_profile is None:
            return None
        return cls(request.principal, request.site_profile, request.language)


@dataclass(frozen=True, slots=True)
class _IdleTab:
    tab: Tab
    since: float


class IdleTabs:
    """At most a handful, each for a while; the longest at rest goes first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._tabs: OrderedDict[ProfileKey, _IdleTab] = OrderedDict()
        self._clock = clock

    def __len__(self) -> int:
        return len(self._tabs)

    def take(self, profile: ProfileKey | None) -> Tab | None:
        """The tab of a profile, out of its rest; None when there is none that lives."""
        resting = self._tabs.pop(profile, None) if profile is not None else None
        return resting.tab if resting is not None and resting.tab.session.alive else None

    def put(self, profile: ProfileKey, tab: Tab) -> list[Tab]:
        """Let a tab rest; those that are to be closed for it."""
        leaving = self._removed(other for other in self._tabs if other == profile)
        self._tabs[profile] = _IdleTab(tab, self._clock())
        return leaving + self._removed(list(self._tabs)[: max(0, len(self._tabs) - MAX_IDLE_TABS)])

    def overdue(self) -> list[Tab]:
        """Those that have rested long enough, or died meanwhile."""
        before = self._clock() - IDLE_TTL_S
        return self._removed(
            profile
            for profile, resting in self._tabs.items()
            if resting.since <= before or not resting.tab.session.alive
        )

    def of(self, principal: str, site_profile: str) -> list[Tab]:
        """Those of a profile, in any language, taken out."""
        return self._removed(
            profile
            for profile in self._tabs
            if (profile.principal, profile.site_profile) == (principal, site_profile)
        )

    def all(self) -> list[Tab]:
        """Every one, taken out."""
        return self._removed(self._tabs)

    def _removed(self, profiles: Iterable[ProfileKey]) -> list[Tab]:
        return [self._tabs.pop(profile).tab for profile in list(profiles)]


BATCH_TTL_S = 3.0
"""The pages of a batch follow each other at once, or not at all."""
MAX_BATCH_TABS = 8
"""Of one browser, 30 MB each: as many as render slots."""
MAX_BATCHES = 100
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
class _WaitingTab:
    series: BatchKey
    tab: Tab
    since: float


class BatchTabs:
    """Those that wait for the next page of their series: not for long, and not many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: list[_WaitingTab] = []
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
        while len(self._habits) > MAX_BATCHES:
            self._habits.popitem(last=False)
        return habits

    def put(self, series: BatchKey, tab: Tab) -> list[Tab]:
        """Let a tab wait; those that are to be closed for it."""
        self._kept.append(_WaitingTab(series, tab, self._clock()))
        return self._removed(self._kept[: max(0, len(self._kept) - MAX_BATCH_TABS)])

    def overdue(self) -> list[Tab]:
        """Those that have waited long enough, or died meanwhile."""
        before = self._clock() - BATCH_TTL_S
        return self._removed(
            kept for kept in list(self._kept) if kept.since <= before or not kept.tab.session.alive
        )

    def all(self) -> list[Tab]:
        """Every one, taken out."""
        return self._removed(list(self._kept))

    def _removed(self, leaving: Iterable[_WaitingTab]) -> list[Tab]:
        gone = list(leaving)
        for kept in gone:
            self._kept.remove(kept)
        return [kept.tab for kept in gone]
