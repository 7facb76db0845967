"""Tabs that wait for the next visit of the same site profile, or for the next page of the same batch.

Site profiles, measured on engine pages in the full tier: a visit in a new context takes 300 ms of CPU, one in the tab
of the previous visit 130. A new tab in the same context saves only a tenth.

Batches, measured on applications of 120 kB of script: a page in a new context takes 168 ms of CPU, one in a new tab of
a context that already has its process 119, a new tab with a process of its own 171. `Tab.renew` removes what the
previous page left. If that fails, the context is closed.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from cachetools import LRUCache

from browsers.model import Mode, Request
from browsers.navigation.page_patterns import PagePatterns
from browsers.navigation.tab import Tab

MAX_IDLE_TABS = 5
"""Maximum of idle tabs per browser, 40 MB each on engine pages: the engines of a search and a few more."""
IDLE_TTL_S = 60.0
"""Seconds. A caller that has not returned by then is probably finished."""
VISITS_PER_TAB = 50
"""Maximum of visits in one tab, because pages leave memory behind in their process."""


@dataclass(frozen=True, slots=True)
class ProfileKey:
    """Owner of an idle tab. Only the same caller, profile and language get it again."""

    principal: str
    site_profile: str
    language: str

    @classmethod
    def of(cls, request: Request) -> ProfileKey | None:
        """Return the key of a visit, or None if it keeps nothing."""
        if request.site_profile is None:
            return None
        return cls(request.principal, request.site_profile, request.language)


@dataclass(frozen=True, slots=True)
class _IdleTab:
    tab: Tab
    since: float


class IdleTabs:
    """Idle tabs of site profiles. Each is kept for a limited time, and the oldest is evicted first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without tabs; `clock` returns seconds."""
        self._tabs: OrderedDict[ProfileKey, _IdleTab] = OrderedDict()
        self._clock = clock

    def __len__(self) -> int:
        """Return the number of idle tabs."""
        return len(self._tabs)

    def take(self, profile: ProfileKey | None) -> Tab | None:
        """Remove and return the tab of a profile, or None if there is none that still runs."""
        idle_tab = self._tabs.pop(profile, None) if profile is not None else None
        return idle_tab.tab if idle_tab is not None and idle_tab.tab.session.is_alive else None

    def put(self, profile: ProfileKey, tab: Tab) -> list[Tab]:
        """Add a tab and return the tabs to close for it."""
        leaving = self._removed(other for other in self._tabs if other == profile)
        self._tabs[profile] = _IdleTab(tab, self._clock())
        return leaving + self._removed(list(self._tabs)[: max(0, len(self._tabs) - MAX_IDLE_TABS)])

    def take_expired(self) -> list[Tab]:
        """Remove and return the tabs that have expired or crashed."""
        before = self._clock() - IDLE_TTL_S
        return self._removed(
            profile
            for profile, idle_tab in self._tabs.items()
            if idle_tab.since <= before or not idle_tab.tab.session.is_alive
        )

    def of(self, principal: str, site_profile: str) -> list[Tab]:
        """Remove and return the tabs of a profile in all languages."""
        return self._removed(
            profile for profile in self._tabs if (profile.principal, profile.site_profile) == (principal, site_profile)
        )

    def all(self) -> list[Tab]:
        """Every one, taken out."""
        return self._removed(self._tabs)

    def _removed(self, profiles: Iterable[ProfileKey]) -> list[Tab]:
        return [self._tabs.pop(profile).tab for profile in list(profiles)]


BATCH_TTL_S = 3.0
"""Seconds. The next page of a batch comes at once or not at all."""
MAX_BATCH_TABS = 8
"""Maximum of waiting batch tabs per browser, 30 MB each: as many as render slots."""
MAX_BATCHES = 100
"""Maximum of batches with page patterns. A batch has few hosts with more than one page."""
PAGES_PER_PROCESS = 25
"""Maximum of pages in one process. Each page leaves a megabyte behind."""


@dataclass(frozen=True, slots=True)
class BatchKey:
    """Values that pages must share to be read in one process."""

    batch: str
    principal: str
    language: str
    origin: tuple[str, str]

    @classmethod
    def of(cls, request: Request) -> BatchKey | None:
        """Return the key of a visit, or None if it has no batch or renders nothing."""
        if request.batch is None or request.site_profile is not None or request.mode is Mode.PEEK:
            return None
        parts = urlsplit(request.url)
        origin = (parts.scheme.lower(), parts.netloc.lower())
        return cls(request.batch, request.principal, request.language, origin)


@dataclass(frozen=True, slots=True)
class _WaitingTab:
    batch_key: BatchKey
    tab: Tab
    since: float


class BatchTabs:
    """Tabs that wait briefly for the next page of their batch."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without tabs; `clock` returns seconds."""
        self._kept: list[_WaitingTab] = []
        self._patterns: LRUCache[BatchKey, PagePatterns] = LRUCache(MAX_BATCHES)
        self._clock = clock

    def __len__(self) -> int:
        """Return the number of waiting tabs."""
        return len(self._kept)

    def take(self, batch_key: BatchKey | None) -> Tab | None:
        """Remove and return a running tab of the batch, or None."""
        for cached in self._kept:
            if cached.batch_key == batch_key and cached.tab.session.is_alive:
                self._kept.remove(cached)
                return cached.tab
        return None

    def patterns(self, batch_key: BatchKey | None) -> PagePatterns | None:
        """Return the page patterns of a batch. Only those of the latest batches are kept."""
        if batch_key is None:
            return None
        return self._patterns.setdefault(batch_key, PagePatterns())

    def put(self, batch_key: BatchKey, tab: Tab) -> list[Tab]:
        """Add a tab and return the tabs to close for it."""
        self._kept.append(_WaitingTab(batch_key, tab, self._clock()))
        return self._removed(self._kept[: max(0, len(self._kept) - MAX_BATCH_TABS)])

    def take_expired(self) -> list[Tab]:
        """Remove and return the tabs that have expired or crashed."""
        before = self._clock() - BATCH_TTL_S
        return self._removed(
            cached for cached in list(self._kept) if cached.since <= before or not cached.tab.session.is_alive
        )

    def all(self) -> list[Tab]:
        """Every one, taken out."""
        return self._removed(list(self._kept))

    def _removed(self, leaving: Iterable[_WaitingTab]) -> list[Tab]:
        gone = list(leaving)
        for cached in gone:
            self._kept.remove(cached)
        return [cached.tab for cached in gone]
