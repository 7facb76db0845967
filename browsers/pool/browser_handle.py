"""One running browser and its tabs: prepared ahead, reused after peeks, closed or kept after renders.

Kept tabs wait for the next visit of the same site profile, or for the next page of the same batch.

Site profiles, measured on engine pages in the full tier: a visit in a new context takes 300 ms of CPU, one in the tab
of the previous visit 130. A new tab in the same context saves only a tenth.

Batches, measured on applications of 120 kB of script: a page in a new context takes 168 ms of CPU, one in a new tab of
a context that already has its process 119, a new tab with a process of its own 171. `Tab.renew` removes what the
previous page left. If that fails, the context is closed.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from cachetools import LRUCache

from browsers.cdp.session import CommandFailedError, Connection
from browsers.chromium.process import RunningChromium
from browsers.egress.proxy_server import EgressProxy
from browsers.errors import BrowserGoneError, BrowsersError
from browsers.identity.fingerprint import BrowserIdentity
from browsers.model import Mode, Request, Tier
from browsers.navigation.readiness_rules import PagePatterns
from browsers.navigation.tab import Tab
from browsers.settings import BrowserSettings

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


ProfileKey = tuple[str, str, str]
"""Principal, profile and language of an idle tab. Only a visit with the same ones gets it again."""
BatchKey = tuple[str, str, str, str, str]
"""Batch, principal, language, scheme and host: what pages must share to be read in one process."""


def profile_key(request: Request) -> ProfileKey | None:
    """Return the key of a visit, or None if it has no profile."""
    return (request.principal, request.site_profile, request.language) if request.site_profile is not None else None


def batch_key(request: Request) -> BatchKey | None:
    """Return the key of a visit, or None if it has no batch or renders nothing."""
    if request.batch is None or request.site_profile is not None or request.mode is Mode.PEEK:
        return None
    parts = urlsplit(request.url)
    return request.batch, request.principal, request.language, parts.scheme.lower(), parts.netloc.lower()


class _IdleTab(NamedTuple):
    key: tuple[str, ...]
    tab: Tab
    since: float


class IdleTabs:
    """Idle tabs by key, for a limited time. The oldest is evicted first."""

    def __init__(
        self, limit: int, ttl_s: float, *, one_per_key: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep at most `limit` tabs for `ttl_s` seconds each, with `one_per_key` only the latest of each key."""
        self._tabs: list[_IdleTab] = []
        self._limit = limit
        self._ttl_s = ttl_s
        self._one_per_key = one_per_key
        self._clock = clock

    def __len__(self) -> int:
        """Return the number of idle tabs."""
        return len(self._tabs)

    def take(self, key: tuple[str, ...] | None) -> Tab | None:
        """Remove and return the oldest tab of a key that still runs, or None."""
        for idle in self._tabs:
            if idle.key == key and idle.tab.session.is_alive:
                self._tabs.remove(idle)
                return idle.tab
        return None

    def put(self, key: tuple[str, ...], tab: Tab) -> list[Tab]:
        """Add a tab, and return the tabs that it replaces or evicts, which the caller must close."""
        replaced = self.take_all(lambda idle: self._one_per_key and idle.key == key)
        self._tabs.append(_IdleTab(key, tab, self._clock()))
        excess = self._tabs[: -self._limit]
        return replaced + self.take_all(lambda idle: idle in excess)

    def take_expired(self) -> list[Tab]:
        """Remove and return the tabs that have expired or crashed."""
        before = self._clock() - self._ttl_s
        return self.take_all(lambda idle: idle.since <= before or not idle.tab.session.is_alive)

    def take_all(self, matches: Callable[[_IdleTab], bool] = lambda _: True) -> list[Tab]:
        """Remove and return all tabs that match."""
        matching = [idle for idle in self._tabs if matches(idle)]
        self._tabs = [idle for idle in self._tabs if idle not in matching]
        return [idle.tab for idle in matching]


PROBE_INTERVAL_S = 4.0
"""Seconds between probes. Six tabs that flood and grow, two cores at load 18: the slowest of 266 answers took .53 s."""
MAX_MISSED_PROBES = 4
"""Number of missed probes after which a browser counts as dead. A suspend and resume of the machine misses one."""


@dataclass
class Heartbeat:
    """Probe a browser every few seconds. Any message from it counts as an answer."""

    connection: Connection
    _probed_at: float = float("-inf")
    _messages_at_probe: int = -1
    _missed: int = 0

    @property
    def is_responsive(self) -> bool:
        """True if a message arrived since the last probe, or there is still time for one."""
        return self._missed == 0 or self._has_answered

    @property
    def is_lost(self) -> bool:
        """True if so many probes failed that the browser counts as dead."""
        return self._missed >= MAX_MISSED_PROBES and not self._has_answered

    def probe(self) -> None:
        """Send another probe if one is due. Call this regularly."""
        now = time.monotonic()
        if now - self._probed_at < PROBE_INTERVAL_S:
            return
        self._missed = 0 if self._has_answered else self._missed + 1
        self._probed_at, self._messages_at_probe = now, self.connection.message_count
        self.connection.browser.post("Browser.getVersion")

    @property
    def _has_answered(self) -> bool:
        return self.connection.message_count != self._messages_at_probe


log = logging.getLogger(__name__)

_MAX_BATCHES = 100
"""Maximum of batches with page patterns. A batch has few hosts with more than one page."""
_TAB_ERRORS = (BrowsersError, CommandFailedError, TimeoutError)
_MAX_FAILED_TABS = 3
"""A browser that fails to open this many tabs in a row is killed."""


@dataclass(slots=True)
class TabLease:
    """A tab leased to a visit, and the outcome of the visit."""

    tab: Tab
    patterns: PagePatterns | None = None
    is_reusable: bool = False
    """True if the visit ended cleanly. Any other tab is never reused."""
    stays_open: bool = False


class BrowserHandle:
    """One running browser and its tabs."""

    def __init__(
        self, chromium: RunningChromium, identity: BrowserIdentity, egress: EgressProxy, settings: BrowserSettings
    ) -> None:
        """Take ownership of a running browser."""
        self.chromium = chromium
        self.identity = identity
        self.heartbeat = Heartbeat(chromium.connection)
        self.lent = 0
        self.sessions = 0
        self.peeks = 0
        self.renders = 0
        self.tabs_opened = 0
        self.tabs_renewed = 0
        self.retired = False
        self.memory_bytes: int | None = None
        self.sampled_at_visits = -math.inf
        """Number of visits at the last sample of the memory."""
        self.idle_since = time.monotonic()
        self._egress = egress
        self._settings = settings
        self.ready_tabs: list[Tab] = []
        self._profile_tabs = IdleTabs(MAX_IDLE_TABS, IDLE_TTL_S, one_per_key=True)
        self._batch_tabs = IdleTabs(MAX_BATCH_TABS, BATCH_TTL_S)
        self._patterns: LRUCache[BatchKey, PagePatterns] = LRUCache(_MAX_BATCHES)
        self._background: set[asyncio.Task[None]] = set()
        self._cleaning: set[asyncio.Task[None]] = set()
        self._drained = asyncio.Event()
        self._failed_tabs = 0
        self._opening = 0
        self._language = settings.language
        """Language of the latest visit, which is most likely that of the next."""

    @property
    def is_alive(self) -> bool:
        """True if the browser runs and accepts visits."""
        return not self.retired and not self.chromium.connection.closed.is_set()

    @property
    def needs_replacement(self) -> bool:
        """True if it has reached a limit of age, visits or shared memory and should be replaced."""
        age = time.monotonic() - self.chromium.started_at
        return (
            self.chromium.renderer_guard.is_shared_memory_high
            or self.renders >= self._settings.renders_per_browser
            or self.peeks >= self._settings.peeks_per_browser
            or age >= self._settings.browser_age_s
        )

    @asynccontextmanager
    async def lease(self, request: Request) -> AsyncIterator[TabLease]:
        """Lease a clean tab; keep it afterwards if it is reusable. Raises BrowserGoneError if the browser crashed."""
        self.lent += 1
        self._drained.clear()
        self.chromium.renderer_guard.watch(1)
        lease: TabLease | None = None
        profile = profile_key(request)
        # In the full tier no two tabs share a process.
        batch = batch_key(request) if self.chromium.tier is Tier.LIGHT else None
        try:
            tab = self._profile_tabs.take(profile) or await self._renew_batch_tab(batch) or await self._take_clean_tab()
            patterns = None if batch is None else self._patterns.setdefault(batch, PagePatterns())
            lease = TabLease(tab, patterns)
            self._language = request.language
            try:
                await tab.prepare(request, self.identity)
            except (CommandFailedError, TimeoutError) as error:
                raise self._on_unusable_tab(error) from error
            self._failed_tabs = 0
            yield lease
            if not lease.is_reusable or not self.is_alive:
                return
            if profile is not None:
                await self._keep_for_profile(lease, profile)
            elif batch is not None and (tab.committed or tab.renewals):
                self._keep_for_batch(lease, batch)
            # The peek that ends here is counted later.
            elif not tab.committed and tab.peeks + 1 < self._settings.peeks_per_tab:
                # In the background, because the caller already has its result.
                task = self._in_background(self._clean(tab))
                self._cleaning.add(task)
                task.add_done_callback(self._cleaning.discard)
                lease.stays_open = True
        finally:
            self.chromium.renderer_guard.watch(-1)
            self._end_lease(lease)

    @contextmanager
    def hold_for_session(self) -> Iterator[None]:
        """Count a session, so that the browser stays; only in its steps memory is watched."""
        self.sessions += 1
        self.chromium.renderer_guard.watch(-1)
        try:
            yield
        finally:
            self.chromium.renderer_guard.watch(1)
            self.sessions -= 1

    async def _clean(self, tab: Tab) -> None:
        try:
            await tab.clear_visit_data()
        except _TAB_ERRORS as error:
            log.warning("tab not cleaned, so not used again: %s", str(error) or type(error).__name__)
            await tab.close()
            self.prepare_tabs()
            return
        self.ready_tabs.append(tab)

    async def _keep_for_profile(self, lease: TabLease, profile: ProfileKey) -> None:
        if lease.tab.freezes >= VISITS_PER_TAB:
            return
        try:
            await lease.tab.freeze()
        except _TAB_ERRORS as error:
            log.warning("tab does not freeze, so not used again: %s", str(error) or type(error).__name__)
            return
        lease.stays_open = True
        self._close_tabs(self._profile_tabs.put(profile, lease.tab))

    async def _renew_batch_tab(self, batch: BatchKey | None) -> Tab | None:
        """Return a tab in the process of the batch's last page, or None if there is none that is clean."""
        tab = self._batch_tabs.take(batch)
        if tab is None:
            return None
        try:
            await tab.renew()
        except BaseException as error:
            self._in_background(tab.close())
            if not isinstance(error, _TAB_ERRORS):
                raise
            log.info("context not used again: %s", str(error) or type(error).__name__)
            return None
        self.tabs_renewed += 1
        return tab

    def _keep_for_batch(self, lease: TabLease, batch: BatchKey) -> None:
        if lease.tab.renewals >= PAGES_PER_PROCESS:
            return
        lease.tab.stop_scripts()
        lease.stays_open = True
        self._close_tabs(self._batch_tabs.put(batch, lease.tab))
        asyncio.get_running_loop().call_later(BATCH_TTL_S + 0.01, self.close_expired)

    def close_expired(self) -> None:
        """Close the idle tabs of profiles and batches that have expired."""
        self._close_tabs(self._profile_tabs.take_expired())
        self._close_tabs(self._batch_tabs.take_expired())
        self.prepare_tabs()

    def forget(self, principal: str, site_profile: str) -> None:
        """Close the idle tabs of a profile, in all languages."""
        self._close_tabs(self._profile_tabs.take_all(lambda idle: idle.key[:2] == (principal, site_profile)))

    def _close_tabs(self, tabs: Iterable[Tab]) -> None:
        for tab in tabs:
            self._in_background(tab.close())

    def _end_lease(self, lease: TabLease | None) -> None:
        self.lent -= 1
        self.idle_since = time.monotonic()
        if not self.lent:
            self._drained.set()
        if lease is None:
            return
        if lease.tab.committed:
            self.renders += 1
        else:
            self.peeks += 1
            lease.tab.peeks += 1
        if not lease.stays_open:
            self._in_background(lease.tab.close())
            self.prepare_tabs()

    def prepare_tabs(self) -> None:
        """Open one more tab in advance if too few are ready: opening one takes longer than a whole peek."""
        coming = len(self.ready_tabs) + len(self._cleaning) + self._opening
        if self.is_alive and coming < self._settings.warm_tabs:
            self._opening += 1
            self._in_background(self._open_ahead())

    async def drain(self, limit_s: float) -> None:
        """Accept no more visits, and wait up to `limit_s` for the running visits, longer for sessions."""
        self.retired = True
        if self.lent:
            try:
                async with asyncio.timeout(
                    max(limit_s, self._settings.session_lifetime_s) if self.sessions else limit_s
                ):
                    await self._drained.wait()
            except TimeoutError:
                log.warning("browser retired with %s visits still running", self.lent)

    async def close(self) -> None:
        """Close every tab and the browser."""
        self.retired = True
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        tabs, self.ready_tabs = self.ready_tabs + self._profile_tabs.take_all() + self._batch_tabs.take_all(), []
        await self.chromium.close()
        await asyncio.gather(*(tab.close() for tab in tabs), return_exceptions=True)

    async def _take_clean_tab(self) -> Tab:
        while not self.ready_tabs and self._cleaning:
            await asyncio.wait(self._cleaning, return_when=asyncio.FIRST_COMPLETED)
        tab: Tab | None = None
        while tab is None and self.ready_tabs:
            tab = self.ready_tabs.pop()
            if not tab.session.is_alive:
                self._in_background(tab.close())
                tab = None
        if not self.ready_tabs and not self._cleaning:
            # At once, so that the next visit does not have to wait for a tab.
            self.prepare_tabs()
        return tab or await self._open()

    async def _open(self) -> Tab:
        self.tabs_opened += 1
        try:
            return await Tab.open(self.chromium.connection, self._egress)
        except (CommandFailedError, TimeoutError) as error:
            raise self._on_unusable_tab(error) from error

    def _on_unusable_tab(self, error: Exception) -> BrowserGoneError:
        """Count an unusable tab, and kill the browser after _MAX_FAILED_TABS in a row."""
        self._failed_tabs += 1
        log.warning("tab not usable: %s", str(error) or type(error).__name__)
        if self._failed_tabs >= _MAX_FAILED_TABS:
            self.chromium.kill()
        return BrowserGoneError("The browser did not open a tab.")

    async def _open_ahead(self) -> None:
        try:
            tab = await self._open()
            try:
                await tab.set_language(self._language, self.identity)
            except BaseException:
                await tab.close()
                raise
            self.ready_tabs.append(tab)
        except _TAB_ERRORS:
            return
        finally:
            self._opening -= 1

    def _in_background(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
