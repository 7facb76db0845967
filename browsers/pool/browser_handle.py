"""One running browser and its tabs: prepared ahead, reused after peeks, closed or kept after renders."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from browsers.cdp.session import CommandFailedError, Connection
from browsers.chromium.process import RunningChromium
from browsers.egress import EgressProxy
from browsers.errors import BrowserGoneError, BrowsersError
from browsers.identity.fingerprint import BrowserIdentity
from browsers.model import Request, Tier
from browsers.navigation.page_patterns import PagePatterns
from browsers.navigation.tab import Tab
from browsers.pool.reusable_tabs import (
    BATCH_TTL_S,
    PAGES_PER_PROCESS,
    VISITS_PER_TAB,
    BatchKey,
    BatchTabs,
    IdleTabs,
    ProfileKey,
)
from browsers.settings import BrowserSettings

PROBE_INTERVAL_S = 4.0
"""Six tabs of pages that flood and grow, two cores at a load of 18: the slowest of 266 answers took .53 s."""
MAX_MISSED_PROBES = 4
"""Stopped and gone on, as machines and containers are, it has missed one."""


class Heartbeat:
    """Asks a browser the simplest question every few seconds; anything that it says counts as an answer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._asked_at = float("-inf")
        self._heard = -1
        self._missed = 0

    @property
    def beats(self) -> bool:
        """Whether it said anything since it was asked, or has time left for that."""
        return self._missed == 0 or self._has_spoken

    @property
    def is_lost(self) -> bool:
        """Whether it was asked so often in vain that it can be taken for dead."""
        return self._missed >= MAX_MISSED_PROBES and not self._has_spoken

    def feel(self) -> None:
        """Ask again, where it is time: to be called now and then."""
        now = time.monotonic()
        if now - self._asked_at < PROBE_INTERVAL_S:
            return
        self._missed = 0 if self._has_spoken else self._missed + 1
        self._asked_at, self._heard = now, self._connection.heard
        self._connection.ask()

    @property
    def _has_spoken(self) -> bool:
        return self._connection.heard != self._heard


log = logging.getLogger(__name__)

MAX_FAILED_TABS = 3
"""A browser that fails to make so many tabs in a row is taken for broken, and ended."""


@dataclass(slots=True)
class TabLease:
    """A tab on loan, and what the visit says of it."""

    tab: Tab
    reusable: bool = False
    """Whether the visit ended as it should: a tab left in doubt is never used again."""
    kept: bool = False
    habits: PagePatterns | None = None
    """Of the pages of its series."""


class BrowserHandle:
    """One running browser and its tabs."""

    def __init__(
        self,
        chromium: RunningChromium,
        identity: BrowserIdentity,
        egress: EgressProxy,
        settings: BrowserSettings,
    ) -> None:
        self.chromium = chromium
        self.identity = identity
        self.pulse = Heartbeat(chromium.connection)
        self.lent = 0
        self.peeks = 0
        self.renders = 0
        self.tabs_opened = 0
        self.tabs_renewed = 0
        self.retired = False
        self.idle_since = time.monotonic()
        self._egress = egress
        self._settings = settings
        self._ready: list[Tab] = []
        self._resting = IdleTabs()
        self._series = BatchTabs()
        self._background: set[asyncio.Task[None]] = set()
        self._cleaning: set[asyncio.Task[None]] = set()
        self._drained = asyncio.Event()
        self._failed_tabs = 0
        self._opening = 0
        self._language = settings.language
        """Of the newest visit: the next one's too, most likely."""

    @property
    def alive(self) -> bool:
        """Whether the browser still answers and still takes visits."""
        return not self.retired and not self.chromium.connection.closed.is_set()

    @property
    def worn(self) -> bool:
        """Whether it has served long enough to be replaced."""
        age = time.monotonic() - self.chromium.started_at
        return (
            self.renders >= self._settings.renders_per_browser
            or self.peeks >= self._settings.peeks_per_browser
            or age >= self._settings.browser_age_s
        )

    @asynccontextmanager
    async def loan(self, request: Request) -> AsyncIterator[TabLease]:
        """A clean tab for one visit; afterwards it is kept or closed, whatever became of the visit.

        Raises:
            BrowserGone: the browser is dead, or was found broken and was ended.
        """
        self.lent += 1
        self._drained.clear()
        loan: TabLease | None = None
        profile, series = ProfileKey.of(request), self._series_of(request)
        try:
            kept = self._resting.take(profile) or await self._renewed(series)
            loan = TabLease(kept or await self._clean_tab(), habits=self._series.habits(series))
            await self._prepare(loan.tab, request)
            yield loan
            if loan.reusable and profile is not None:
                await self._let_rest(loan, profile)
            elif series is not None and (loan.tab.committed or loan.tab.renewals):
                self._keep_for(series, loan)
            elif loan.reusable and self._keeps(loan.tab):
                # Nobody waits for it with an answer in hand.
                task = self._in_background(self._clean(loan.tab))
                self._cleaning.add(task)
                task.add_done_callback(self._cleaning.discard)
                loan.kept = True
        finally:
            self._count(loan)

    async def _clean(self, tab: Tab) -> None:
        try:
            await tab.clean()
        except (BrowsersError, CommandFailedError, TimeoutError) as error:
            log.warning("tab not cleaned, so not used again: %s", str(error) or type(error).__name__)
            await tab.close()
            self.warm()
            return
        self._ready.append(tab)

    async def _let_rest(self, loan: TabLease, profile: ProfileKey) -> None:
        if not self.alive or loan.tab.rests >= VISITS_PER_TAB:
            return
        try:
            await loan.tab.rest()
        except (BrowsersError, CommandFailedError, TimeoutError) as error:
            log.warning("tab does not rest, so not used again: %s", str(error) or type(error).__name__)
            return
        loan.kept = True
        self._end(self._resting.put(profile, loan.tab))

    def _series_of(self, request: Request) -> BatchKey | None:
        """In the full tier no two tabs share a process."""
        return BatchKey.of(request) if self.chromium.tier is Tier.LIGHT else None

    async def _renewed(self, series: BatchKey | None) -> Tab | None:
        """A tab with the process of the series' last page; None when there is none, or any doubt about it."""
        tab = self._series.take(series)
        if tab is None:
            return None
        try:
            await tab.renew()
        except BaseException as error:
            self._in_background(tab.close())
            if not isinstance(error, BrowsersError | CommandFailedError | TimeoutError):
                raise
            log.info("context not used again: %s", str(error) or type(error).__name__)
            return None
        self.tabs_renewed += 1
        return tab

    def _keep_for(self, series: BatchKey, loan: TabLease) -> None:
        if not loan.reusable or not self.alive or loan.tab.renewals >= PAGES_PER_PROCESS:
            return
        loan.tab.halt()
        loan.kept = True
        self._end(self._series.put(series, loan.tab))
        asyncio.get_running_loop().call_later(BATCH_TTL_S + 0.01, self._end_series)

    def _end_series(self) -> None:
        self._end(self._series.overdue())
        self.warm()

    def end_overdue(self) -> None:
        """Close the tabs that nobody came back for."""
        self._end(self._resting.overdue())

    def forget(self, principal: str, site_profile: str) -> None:
        """Close the tabs at rest of a profile."""
        self._end(self._resting.of(principal, site_profile))

    def _end(self, tabs: Iterable[Tab]) -> None:
        for tab in tabs:
            self._in_background(tab.close())

    def _count(self, loan: TabLease | None) -> None:
        self.lent -= 1
        self.idle_since = time.monotonic()
        if not self.lent:
            self._drained.set()
        if loan is None:
            return
        if loan.tab.committed:
            self.renders += 1
        else:
            self.peeks += 1
            loan.tab.peeks += 1
        if not loan.kept:
            self._in_background(loan.tab.close())
            self.warm()

    def warm(self) -> None:
        """Make tabs ready ahead of need: opening one takes longer than a whole peek."""
        coming = len(self._ready) + len(self._cleaning) + self._opening
        if self.alive and coming < self._settings.warm_tabs:
            self._opening += 1
            self._in_background(self._open_ahead())

    async def drain(self, limit_s: float) -> None:
        """Take no more visits, and wait for those that run."""
        self.retired = True
        if self.lent:
            try:
                async with asyncio.timeout(limit_s):
                    await self._drained.wait()
            except TimeoutError:
                log.warning("browser retired with %s visits still running", self.lent)

    async def close(self) -> None:
        """Close every tab and the browser."""
        self.retired = True
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        tabs, self._ready = self._ready + self._resting.all() + self._series.all(), []
        await self.chromium.close()
        await asyncio.gather(*(tab.close() for tab in tabs), return_exceptions=True)

    def _keeps(self, tab: Tab) -> bool:
        # The peek that ends here is counted after this.
        return self.alive and not tab.committed and tab.peeks + 1 < self._settings.peeks_per_tab

    async def _clean_tab(self) -> Tab:
        while not self._ready and self._cleaning:
            await asyncio.wait(self._cleaning, return_when=asyncio.FIRST_COMPLETED)
        tab = self._ready_tab()
        if not self._ready and not self._cleaning:
            # At once: whoever comes while this visit runs would have to wait for one.
            self.warm()
        return tab or await self._open()

    def _ready_tab(self) -> Tab | None:
        """One whose renderer lives, as far as is known; None when there is none."""
        while self._ready:
            tab = self._ready.pop()
            if tab.session.alive:
                return tab
            self._in_background(tab.close())
        return None

    async def _open(self) -> Tab:
        self.tabs_opened += 1
        try:
            return await Tab.open(self.chromium.connection, self._egress)
        except (CommandFailedError, TimeoutError) as error:
            raise self._suspect(error) from error

    async def _prepare(self, tab: Tab, request: Request) -> None:
        self._language = request.language
        try:
            await tab.prepare(request, self.identity)
        except (CommandFailedError, TimeoutError) as error:
            raise self._suspect(error) from error
        self._failed_tabs = 0

    def _suspect(self, error: Exception) -> BrowserGoneError:
        """A tab that cannot be used: the second one in a row costs the browser its life."""
        self._failed_tabs += 1
        log.warning("tab not usable: %s", str(error) or type(error).__name__)
        if self._failed_tabs >= MAX_FAILED_TABS:
            self.chromium.kill()
        return BrowserGoneError("The browser did not open a tab.")

    async def _open_ahead(self) -> None:
        try:
            tab = await self._open()
            try:
                await tab.speak(self._language, self.identity)
            except BaseException:
                await tab.close()
                raise
            self._ready.append(tab)
        except (BrowsersError, CommandFailedError, TimeoutError):
            return
        finally:
            self._opening -= 1

    def _in_background(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
