"""Public entry point: visit URLs with a pool of Chromium browsers behind an egress proxy."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import tenacity
from cachetools import LRUCache

from browsers import errors
from browsers.cdp.session import Event
from browsers.egress import EgressProxy
from browsers.fair_queue import FairSemaphore
from browsers.model import Mode, Request, Snapshot, Tier
from browsers.navigation.tab import Tab
from browsers.navigation.visit import Enough, Visit
from browsers.pool.browser_handle import BrowserHandle
from browsers.pool.pool import BrowserState, Pool
from browsers.settings import BrowserSettings

MAX_PEEKS_PER_HOST = 4
MAX_RENDERS_PER_HOST = 2
"""Simultaneous visits to one host. More would overload the host and delay visits to others."""

MAX_SCRIPTED_HOSTS = 4096

MAX_ATTEMPTS = 2
"""Attempts of a visit that fails for a temporary reason, within its deadline."""
_NOT_RETRIED = (errors.ConnectTimeoutError, errors.NameLookupTimeoutError)
"""Not retried: TCP has already retransmitted four times, and DNS failures are cached."""


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """State of the browsers, for health checks and metrics."""

    ready: bool
    active: int
    queued: int
    queue_s: float
    """Seconds that a new visit would wait for a free slot."""
    longest_wait_s: float
    """Seconds that the longest waiting visit has waited, for a slot or for its host."""
    peek_slots: int
    render_slots: int
    rendering: int
    restarts: int
    last_error: str | None
    browsers: tuple[BrowserState, ...]


class Browsers:
    """A pool of Chromium browsers behind an egress proxy.

    `async with Browsers(settings) as browsers:` returns at once. The browser starts in the background and visits wait
    for it.
    """

    def __init__(self, settings: BrowserSettings | None = None, egress: EgressProxy | None = None) -> None:
        """Set up the pool.

        `egress` replaces the proxy that `settings` describe, for example with other DNS names. Raises ValueError if a
        proxy, network or test host is invalid. The message says how to correct it.
        """
        self._settings = settings or BrowserSettings()
        self._egress = egress or EgressProxy(self._settings)
        self._pool = Pool(self._settings, self._egress)
        self._profiles = CookieProfiles()
        limit = self._settings.queue_limit
        self._peeks = FairSemaphore(self._settings.peek_slots, per_host=MAX_PEEKS_PER_HOST, queue_limit=limit)
        self._renders = FairSemaphore(self._settings.render_slots, per_host=MAX_RENDERS_PER_HOST, queue_limit=limit)
        self._scripted_hosts: LRUCache[str, None] = LRUCache(MAX_SCRIPTED_HOSTS)
        """Hosts whose last page was rendered."""
        self._active = 0
        """Running visits, including queued ones."""

    async def __aenter__(self) -> Browsers:
        """Start the egress proxy and the pool."""
        await self._pool.__aenter__()
        self._pool.start_soon()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all browsers and the egress proxy."""
        await self.close()

    async def close(self) -> None:
        """End every browser. Running visits fail with BrowserGoneError."""
        await self._pool.__aexit__()
        await self._egress.close()

    @property
    def folder(self) -> Path:
        """Folder of the browsers' profiles. It exists as long as they run."""
        return self._pool.folder

    def status(self) -> PoolStatus:
        """Return the current state for health checks and metrics."""
        both = (self._peeks, self._renders)
        return PoolStatus(
            ready=self._pool.is_ready(),
            active=self._active,
            queued=self._peeks.queued + self._renders.queued,
            queue_s=max(slots.queue_s() for slots in both),
            longest_wait_s=max(slots.longest_wait_s() for slots in both),
            peek_slots=self._settings.peek_slots,
            render_slots=self._settings.render_slots,
            rendering=self._renders.in_use,
            restarts=self._pool.restarts,
            last_error=self._pool.last_error,
            browsers=self._pool.states(),
        )

    def start_soon(self, tier: Tier) -> None:
        """Start the browser of a tier in the background, if it does not run, for an expected visit."""
        if not self._pool.is_ready(tier):
            self._pool.start_soon(tier)

    def forget(self, principal: str, site_profile: str) -> bool:
        """Delete the cookies of a site profile and close its tabs.

        Returns:
            True if there were cookies.
        """
        self._pool.forget(principal, site_profile)
        return self._profiles.forget(principal, site_profile)

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
        """Visit one URL, with one retry after a temporary failure.

        In mode AUTO, `enough` decides if the response suffices without rendering. Without it the page is rendered.
        Raises a subclass of BrowsersError with the URL and the next step.
        """
        _check_scheme(request.url)
        started_at = time.monotonic()
        deadline_at = started_at + request.deadline_s
        self._active += 1
        try:
            async for attempt in _retrying(deadline_at):
                with attempt:
                    try:
                        return await self._visit_once(request, enough, started_at, deadline_at)
                    except errors.PageCrashedError:
                        if request.mode is Mode.RENDER:
                            # The page may crash its renderer again: then return the unrendered response.
                            request, enough = replace(request, mode=Mode.AUTO), None
                        raise
        except errors.BrowsersError as error:
            error.url = error.url or request.url
            raise
        finally:
            self._active -= 1
        raise AssertionError  # tenacity re-raises the last error

    async def _visit_once(
        self, request: Request, enough: Enough | None, started_at: float, deadline_at: float
    ) -> Snapshot:
        async with VisitSlot(self._peeks, self._renders, request, deadline_at) as admission:
            handle = await self._get_handle(request, deadline_at)
            async with handle.lease(request) as lease:
                await self._profiles.load(lease.tab, request)
                visit = Visit(
                    lease.tab,
                    request,
                    handle.chromium.tier,
                    started_at=started_at,
                    deadline_at=deadline_at,
                    expects_page=self._expects_page(request),
                    patterns=lease.patterns,
                )
                snapshot = await visit.run(enough, admission.to_render)
                self._remember_host(request, snapshot)
                await self._profiles.save(lease.tab, request)
                may_rest = snapshot.complete and not visit.leaves_unclean_tab
                keeps_page = request.site_profile is not None or lease.tab.committed or lease.tab.renewals > 0
                is_clean = may_rest if keeps_page else not visit.prepared
                lease.is_reusable = is_clean and not lease.tab.saw_credentials
                return snapshot

    def _expects_page(self, request: Request) -> bool:
        """Return True if the visit will render: it must, or the last visit to its host did."""
        if request.mode is not Mode.AUTO:
            return request.mode is Mode.RENDER
        return (urlsplit(request.url).hostname or "") in self._scripted_hosts

    def _remember_host(self, request: Request, snapshot: Snapshot) -> None:
        if request.mode is not Mode.AUTO:
            return
        host = urlsplit(request.url).hostname or ""
        if snapshot.rendered:
            self._scripted_hosts[host] = None
        else:
            self._scripted_hosts.pop(host, None)

    async def _get_handle(self, request: Request, deadline_at: float) -> BrowserHandle:
        try:
            async with asyncio.timeout(max(0.0, deadline_at - time.monotonic())):
                return await self._pool.get_handle(request.tier)
        except TimeoutError:
            raise errors.BrowserGoneError("No browser became ready in time.", url=request.url) from None


def _check_scheme(url: str) -> None:
    scheme = urlsplit(url).scheme.lower()
    if scheme not in {"http", "https"}:
        raise errors.BadSchemeError(f"{url[:200]!r} is not an http or https URL.", url=url)


def _retrying(deadline_at: float) -> tenacity.AsyncRetrying:
    return tenacity.AsyncRetrying(
        stop=tenacity.stop_after_attempt(MAX_ATTEMPTS),
        retry=tenacity.retry_if_exception(
            lambda error: (
                isinstance(error, errors.BrowsersError)
                and error.retryable
                and not isinstance(error, _NOT_RETRIED)
                and time.monotonic() < deadline_at
            )
        ),
        wait=tenacity.wait_random(0.05, 0.3),
        reraise=True,
    )


class VisitSlot:
    """Slot of one visit: first a peek slot, then a render slot when it starts to render."""

    def __init__(self, peeks: FairSemaphore, renders: FairSemaphore, request: Request, deadline_at: float) -> None:
        """Prepare the slots for one request."""
        self._peeks = peeks
        self._renders = renders
        self._request = request
        self._host = urlsplit(request.url).hostname or ""
        self._deadline_at = deadline_at
        self._held = AsyncExitStack()

    async def __aenter__(self) -> VisitSlot:
        """Wait for the first slot.

        Raises BusyError if the queue is full, or no slot becomes free before the deadline.
        """
        first = self._renders if self._request.mode is Mode.RENDER else self._peeks
        await self._take(first, self._held, bounded=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Release all slots."""
        await self._held.aclose()

    async def to_render(self) -> None:
        """Take a render slot, then release the peek slot. The queue limit does not apply here.

        Raises BusyError if no slot became free before the deadline.
        """
        if self._request.mode is Mode.RENDER:
            return
        held = AsyncExitStack()
        await self._take(self._renders, held, bounded=False)
        peek, self._held = self._held, held
        await peek.aclose()

    async def _take(self, slots: FairSemaphore, into: AsyncExitStack, *, bounded: bool) -> None:
        wait_s = max(0.0, self._deadline_at - time.monotonic())
        turn = slots.taken(self._request.principal, self._host, url=self._request.url, wait_s=wait_s, bounded=bounded)
        await into.enter_async_context(turn)


MAX_PROFILES = 200


class CookieProfiles:
    """Cookies by (principal, profile) in memory. The least recently used profile is evicted first."""

    def __init__(self) -> None:
        """Start without cookies."""
        self._cookies: LRUCache[tuple[str, str], list[Event]] = LRUCache(MAX_PROFILES)

    async def load(self, tab: Tab, request: Request) -> None:
        """Set the profile's cookies in a new tab."""
        if request.site_profile is None:
            return
        cookies = self._cookies.get((request.principal, request.site_profile))
        if cookies:
            await tab.connection.call("Storage.setCookies", cookies=cookies, browserContextId=tab.context_id)

    def forget(self, principal: str, site_profile: str) -> bool:
        """Delete a profile's cookies and return True if there were any."""
        return bool(self._cookies.pop((principal, site_profile), None))

    async def save(self, tab: Tab, request: Request) -> None:
        """Store the profile's cookies from a tab."""
        if request.site_profile is None:
            return
        found = await tab.connection.call("Storage.getCookies", browserContextId=tab.context_id)
        key = (request.principal, request.site_profile)
        self._cookies[key] = [_settable(cookie) for cookie in found["cookies"]]


def _settable(cookie: Event) -> Event:
    """Return the fields of a cookie from `Storage.getCookies` that `Storage.setCookies` accepts."""
    kept = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "priority", "partitionKey")
    settable = {key: cookie[key] for key in kept if key in cookie}
    if not cookie.get("session", False):
        settable["expires"] = cookie["expires"]
    return settable
