"""Tabs that stand still between two visits of one profile, so that the second finds its page warm.

Measured on engine pages in the full tier: a visit in a fresh context takes 300 ms of CPU, one in the tab of
the visit before it 130; keeping the context and opening a new tab in it saves a tenth.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from browsers.model import Request
from browsers.tabs.tab import Tab

MOST = 5
"""Of one browser, 40 MB each on engine pages: the engines of a search, and some to spare."""
REST_S = 60.0
"""A caller who has not come back by then is not in the middle of something."""
VISITS_PER_TAB = 50
"""Pages leave something behind in their process."""


@dataclass(frozen=True, slots=True)
class TabProfile:
    """Whose tab it is. Nobody else is ever given it, nor the same caller under another name or language."""

    principal: str
    site_profile: str
    language: str

    @classmethod
    def of(cls, request: Request) -> TabProfile | None:
        """The profile of a visit; None for one that shall leave nothing."""
        if request.site_profile is None:
            return None
        return cls(request.principal, request.site_profile, request.language)


@dataclass(frozen=True, slots=True)
class _Resting:
    tab: Tab
    since: float


class IdleTabs:
    """At most a handful, each for a while; the longest at rest goes first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._tabs: OrderedDict[TabProfile, _Resting] = OrderedDict()
        self._clock = clock

    def __len__(self) -> int:
        return len(self._tabs)

    def take(self, profile: TabProfile | None) -> Tab | None:
        """The tab of a profile, out of its rest; None when there is none that lives."""
        resting = self._tabs.pop(profile, None) if profile is not None else None
        return resting.tab if resting is not None and resting.tab.session.alive else None

    def put(self, profile: TabProfile, tab: Tab) -> list[Tab]:
        """Let a tab rest; those that are to be closed for it."""
        leaving = self._removed(other for other in self._tabs if other == profile)
        self._tabs[profile] = _Resting(tab, self._clock())
        return leaving + self._removed(list(self._tabs)[: max(0, len(self._tabs) - MOST)])

    def overdue(self) -> list[Tab]:
        """Those that have rested long enough, or died meanwhile."""
        before = self._clock() - REST_S
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

    def _removed(self, profiles: Iterable[TabProfile]) -> list[Tab]:
        return [self._tabs.pop(profile).tab for profile in list(profiles)]
