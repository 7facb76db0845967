"""Tabs that wait for the next visit of the same site profile, or for the next page of the same batch.

Site profiles, measured on engine pages in the full tier: a visit in a new context takes 300 ms of CPU, one in the tab
of the previous visit 130. A new tab in the same context saves only a tenth.

Batches, measured on applications of 120 kB of script: a page in a new context takes 168 ms of CPU, one in a new tab of
a context that already has its process 119, a new tab with a process of its own 171. `Tab.renew` removes what the
previous page left. If that fails, the context is closed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from browsers.model import Mode, Request
from browsers.navigation.tab import Tab

MAX_IDLE_TABS = 5
"""Maximum of idle profile tabs per browser, 40 MB each on engine pages: the engines of a search and a few more."""
IDLE_TTL_S = 60.0
"""Seconds for which a profile tab is kept. A caller that has not returned by then is probably finished."""
VISITS_PER_TAB = 50
"""Maximum of visits in one tab, because pages leave memory behind in their process."""

MAX_BATCH_TABS = 8
"""Maximum of idle batch tabs per browser, 30 MB each: as many as render slots."""
BATCH_TTL_S = 3.0
"""Seconds for which a batch tab is kept. The next page of a batch comes at once or not at all."""
PAGES_PER_PROCESS = 25
"""Maximum of pages in one process. Each page leaves a megabyte behind."""


@dataclass(frozen=True, slots=True)
class ProfileKey:
    """Owner of an idle tab. Only the same caller, profile and language get it again."""

    principal: str
    site_profile: str
    language: str

    @classmethod
    def of(cls, request: Request) -> ProfileKey | None:
        """Return the key of a visit, or None if it has no profile."""
        if request.site_profile is None:
            return None
        return cls(request.principal, request.site_profile, request.language)


@dataclass(frozen=True, slots=True)
class BatchKey:
    """Properties that pages must share to be read in one process."""

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


Key = TypeVar("Key", ProfileKey, BatchKey)


@dataclass(frozen=True, slots=True)
class _IdleTab(Generic[Key]):
    key: Key
    tab: Tab
    since: float


class IdleTabs(Generic[Key]):
    """Idle tabs by key, for a limited time. The oldest is evicted first."""

    def __init__(
        self, limit: int, ttl_s: float, *, one_per_key: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep at most `limit` tabs for `ttl_s` seconds each, with `one_per_key` only the latest of each key."""
        self._tabs: list[_IdleTab[Key]] = []
        self._limit = limit
        self._ttl_s = ttl_s
        self._one_per_key = one_per_key
        self._clock = clock

    def __len__(self) -> int:
        """Return the number of idle tabs."""
        return len(self._tabs)

    def take(self, key: Key | None) -> Tab | None:
        """Remove and return the oldest tab of a key that still runs, or None."""
        for idle in self._tabs:
            if idle.key == key and idle.tab.session.is_alive:
                self._tabs.remove(idle)
                return idle.tab
        return None

    def put(self, key: Key, tab: Tab) -> list[Tab]:
        """Add a tab, and return the tabs that it replaces or evicts, which the caller must close."""
        replaced = self.take_all(lambda idle: self._one_per_key and idle.key == key)
        self._tabs.append(_IdleTab(key, tab, self._clock()))
        excess = self._tabs[: -self._limit]
        return replaced + self.take_all(lambda idle: idle in excess)

    def take_expired(self) -> list[Tab]:
        """Remove and return the tabs that have expired or crashed."""
        before = self._clock() - self._ttl_s
        return self.take_all(lambda idle: idle.since <= before or not idle.tab.session.is_alive)

    def take_all(self, matches: Callable[[_IdleTab[Key]], bool] = lambda _: True) -> list[Tab]:
        """Remove and return all tabs that match."""
        matching = [idle for idle in self._tabs if matches(idle)]
        self._tabs = [idle for idle in self._tabs if idle not in matching]
        return [idle.tab for idle in matching]
