"""Public entry point: visit URLs with a pool of Chromium browsers behind an egress proxy."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import tenacity
from cachetools import LRUCache

from browsers import errors
from browsers.acting.logins import read_login_from_window
from browsers.acting.sessions import ActingSessions
from browsers.cdp.session import Event
from browsers.egress.proxy_server import EgressProxy
from browsers.fair_queue import FairSemaphore
from browsers.login_state import LoginState, make_settable
from browsers.model import Mode, Request, Snapshot, Tier
from browsers.navigation.visit import IsSufficient, Visit
from browsers.pool.browser_pool import BrowserPool, BrowserState
from browsers.settings import BrowserSettings
from browsers.slot_scaling import SlotScaler

_MAX_PEEKS_PER_HOST = 4
_MAX_RENDERS_PER_HOST = 2
"""Maximum of simultaneous visits to one host. More would overload the host and delay visits to others."""

_MAX_SCRIPTED_HOSTS = 4096
"""Hosts in memory whose last page had to be rendered. Tabs for them are prepared for rendering."""
_MAX_PROFILES = 200
"""Site profiles whose cookies are kept in memory."""

_MAX_ATTEMPTS = 2
"""Attempts of a visit that fails for a temporary reason, within its deadline."""
_NOT_RETRIED = (errors.ConnectTimeoutError, errors.NameLookupTimeoutError, errors.NoNetworkError)
"""Errors not retried: TCP has retransmitted four times, and failed names and missing networks are cached."""


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """State of the browsers, for health checks and metrics."""

    ready: bool
    """True if the browser of the light tier runs and responds."""
    active: int
    """Running visits, including queued ones."""
    queued: int
    """Visits that wait for a slot."""
    queue_s: float
    """Seconds that a new visit would wait for a free slot."""
    longest_wait_s: float
    """Seconds that the longest waiting visit has waited, for a slot or for its host."""
    peek_slots: int
    render_slots: int
    """Slots now: their number follows the free resources of the machine."""
    rendering: int
    restarts: int
    refused_hosts: int
    """Third-party hosts that pages were not allowed to load, since the start."""
    last_error: str | None
    browsers: tuple[BrowserState, ...]


class Browsers:
    """Visit URLs with a pool of Chromium browsers behind an egress proxy.

    `async with Browsers(settings) as browsers:` returns at once. The browser starts in the background and visits wait
    for it. If `is_lazy`, the first visit starts it.
    """

    def __init__(
        self, settings: BrowserSettings | None = None, egress: EgressProxy | None = None, *, is_lazy: bool = False
    ) -> None:
        """Set up the pool.

        `egress` replaces the proxy that `settings` describe, for example with other DNS names. Raises ValueError if a
        proxy, network or test host is invalid, or a filter list. The message says how to correct it.
        """
        self._settings = settings or BrowserSettings()
        self._is_lazy = is_lazy
        self._egress = egress or EgressProxy(self._settings)
        self.pool = BrowserPool(self._settings, self._egress)
        self._cookies: LRUCache[tuple[str, str], list[Event]] = LRUCache(_MAX_PROFILES)
        """Cookies by principal and site profile."""
        self._peeks = self._make_slots(self._settings.peek_slots, _MAX_PEEKS_PER_HOST)
        self._renders = self._make_slots(self._settings.render_slots, _MAX_RENDERS_PER_HOST)
        self._scaler = SlotScaler((self._peeks, self._renders))
        self.acting = ActingSessions(self.pool, self._renders, self._settings)
        """Sessions in which callers act on pages."""
        self._scripted_hosts: LRUCache[str, None] = LRUCache(_MAX_SCRIPTED_HOSTS)
        """Hosts whose last page was rendered."""
        self._refused_hosts = 0
        self._active = 0
        """Running visits, including queued ones."""

    async def __aenter__(self) -> Self:
        """Start the egress proxy and the pool."""
        await self.pool.__aenter__()
        if not self._is_lazy:
            self.pool.start_soon()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all browsers and the egress proxy."""
        await self.close()

    async def close(self) -> None:
        """End every browser. Running visits fail with BrowserGoneError."""
        await self._scaler.close()
        await self.acting.close()
        await self.pool.__aexit__()
        await self._egress.close()

    def _make_slots(self, size: int, per_host: int) -> FairSemaphore:
        settings = self._settings
        return FairSemaphore(size, per_host=per_host, queue_limit=settings.queue_limit, max_size=settings.max_slots)

    @property
    def folder(self) -> Path:
        """Folder of the browsers' profiles. It exists as long as they run."""
        return self.pool.folder

    def status(self) -> PoolStatus:
        """Return the current state for health checks and metrics."""
        both = (self._peeks, self._renders)
        return PoolStatus(
            ready=self.pool.is_ready(),
            active=self._active,
            queued=self._peeks.queued + self._renders.queued,
            queue_s=max(slots.queue_s() for slots in both),
            longest_wait_s=max(slots.longest_wait_s() for slots in both),
            peek_slots=self._peeks.size,
            render_slots=self._renders.size,
            rendering=self._renders.in_use,
            restarts=self.pool.restarts,
            refused_hosts=self._refused_hosts,
            last_error=self.pool.last_error,
            browsers=self.pool.states(),
        )

    async def start(self, tier: Tier) -> None:
        """Start the browser of a tier. Raises BrowsersError if none is installed, or it does not start."""
        await self.pool.get_handle(tier)

    def start_soon(self, tier: Tier) -> None:
        """Start the browser of a tier in the background, if it does not run, for an expected visit."""
        if not self.pool.is_ready(tier):
            self.pool.start_soon(tier)

    def forget(self, principal: str, site_profile: str) -> bool:
        """Delete the cookies of a site profile and close its tabs. Return True if there were cookies."""
        self.pool.forget(principal, site_profile)
        return bool(self._cookies.pop((principal, site_profile), None))

    async def sign_in(self, url: str, hosts: tuple[str, ...], *, limit_s: float) -> LoginState:
        """Show a page until it is closed, and return the login of hosts made in it. Raises BrowsersError."""
        handle = await self.pool.get_handle(Tier.FULL)
        async with handle.lease(Request(url, tier=Tier.FULL, mode=Mode.RENDER)) as lease:
            return await read_login_from_window(lease.tab, url, hosts, limit_s=limit_s)

    async def visit(self, request: Request, enough: IsSufficient | None = None) -> Snapshot:
        """Visit one URL, with one retry after a temporary failure.

        In mode AUTO, `enough` decides if the response suffices without rendering. Without it the page is rendered. A
        page that crashes its renderer (in mode RENDER: twice), or exceeds a limit of memory or messages, is returned
        unrendered. Raises a BrowsersError with the URL and the next step.
        """
        request = replace(request, signer=self._settings.signer)
        if urlsplit(request.url).scheme.lower() not in {"http", "https"}:
            raise errors.BadSchemeError(f"{request.url[:200]!r} is not an http or https URL.", url=request.url)
        started_at = time.monotonic()
        deadline_at = started_at + request.deadline_s
        exceeded_limit = ""
        self._active += 1
        try:
            async for attempt in _retrying(deadline_at):
                with attempt:
                    try:
                        snapshot = await self._visit_once(request, enough, started_at, deadline_at)
                    except errors.PageLimitError as error:
                        # It would exceed the limit again: return the unrendered response.
                        exceeded_limit, request = error.limit, replace(request, mode=Mode.PEEK)
                        raise
                    except errors.PageCrashedError:
                        if request.mode is Mode.RENDER:
                            # The page may crash its renderer again: then return the unrendered response.
                            request, enough = replace(request, mode=Mode.AUTO), None
                        raise
                    if exceeded_limit:
                        return replace(snapshot, complete=False, exceeded_limit=exceeded_limit)
                    return snapshot
        except errors.BrowsersError as error:
            error.url = error.url or request.url
            raise
        finally:
            self._active -= 1
        raise AssertionError  # tenacity re-raises the last error

    async def _visit_once(
        self, request: Request, enough: IsSufficient | None, started_at: float, deadline_at: float
    ) -> Snapshot:
        async with self._slot(request, deadline_at) as take_render_slot:
            try:
                async with asyncio.timeout(max(0.0, deadline_at - time.monotonic())):
                    handle = await self.pool.get_handle(request.tier)
            except TimeoutError:
                raise errors.BrowserGoneError("No browser became ready in time.", url=request.url) from None
            async with handle.lease(request) as lease:
                profile, browser = (request.principal, request.site_profile or ""), lease.tab.connection.browser
                context: Event = {"browserContextId": lease.tab.context_id}
                if request.site_profile is not None and (cookies := self._cookies.get(profile)):
                    await browser.send("Storage.setCookies", cookies=cookies, **context)
                host, times = urlsplit(request.url).hostname or "", (started_at, deadline_at)
                # It must render, or the last visit to its host did.
                is_expected = request.mode is Mode.AUTO and host in self._scripted_hosts
                expects_page = request.mode is Mode.RENDER or is_expected
                visit = Visit(lease.tab, request, handle.chromium.tier, *times, expects_page, lease.patterns)
                snapshot = await visit.run(enough, take_render_slot)
                self._refused_hosts += snapshot.refused_hosts
                if request.mode is Mode.AUTO and snapshot.rendered:
                    self._scripted_hosts[host] = None
                elif request.mode is Mode.AUTO:
                    self._scripted_hosts.pop(host, None)
                if request.site_profile is not None:
                    found = await browser.send("Storage.getCookies", **context)
                    self._cookies[profile] = [make_settable(cookie) for cookie in found["cookies"]]
                if request.site_profile is not None or lease.tab.committed or lease.tab.renewals > 0:
                    is_clean = snapshot.complete and not visit.leaves_unclean_tab
                else:
                    is_clean = not visit.prepared
                lease.is_reusable = is_clean and not lease.tab.saw_credentials
                return snapshot

    @asynccontextmanager
    async def _slot(self, request: Request, deadline_at: float) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Hold a peek slot during the block, in mode RENDER a render slot. Yield what exchanges it for a render slot.

        The exchange is possible even if the queue is full. Raises BusyError if it is full before, or at the deadline.
        """
        host, is_render = urlsplit(request.url).hostname or "", request.mode is Mode.RENDER

        def acquire(slots: FairSemaphore, *, bounded: bool) -> AbstractAsyncContextManager[None]:
            wait_s, flags = max(0.0, deadline_at - time.monotonic()), {"bounded": bounded, "is_bulk": request.is_bulk}
            return slots.acquire(request.principal, host, url=request.url, wait_s=wait_s, **flags)

        async with AsyncExitStack() as render, AsyncExitStack() as first:
            await first.enter_async_context(acquire(self._renders if is_render else self._peeks, bounded=True))

            async def take_render_slot() -> None:
                if not is_render:
                    await render.enter_async_context(acquire(self._renders, bounded=False))
                    await first.aclose()

            yield take_render_slot


def _retrying(deadline_at: float) -> tenacity.AsyncRetrying:
    def may_succeed(error: BaseException) -> bool:
        is_temporary = isinstance(error, errors.BrowsersError) and error.retryable
        return is_temporary and not isinstance(error, _NOT_RETRIED) and time.monotonic() < deadline_at

    return tenacity.AsyncRetrying(
        stop=tenacity.stop_after_attempt(_MAX_ATTEMPTS),
        retry=tenacity.retry_if_exception(may_succeed),
        wait=tenacity.wait_random(0.05, 0.3),
        reraise=True,
    )
