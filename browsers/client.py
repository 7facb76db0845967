"""Public entry point: visit URLs with a pool of Chromium browsers behind an egress proxy."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import tenacity

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
"""What one host is asked for at once: more is rude, and holds up the other hosts."""

MAX_SCRIPTED_HOSTS = 4096

MAX_ATTEMPTS = 2
"""A visit that failed for a passing reason is made once more, within its deadline."""
_ASKED_LONG = (errors.ConnectTimeoutError, errors.NameLookupTimeoutError)
"""Not where nobody answered: TCP has asked four times by then, and the name's failure is remembered."""


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """How the door stands."""

    ready: bool
    active: int
    queued: int
    queue_s: float
    """How long a page that is asked for now would wait for a free slot."""
    longest_wait_s: float
    """How long the page that waits longest has waited, for a slot or for its host's turn."""
    peek_slots: int
    render_slots: int
    rendering: int
    restarts: int
    last_error: str | None
    browsers: tuple[BrowserState, ...]


class Browsers:
    """A pool of Chromium behind an egress wall.

    `async with Browsers(settings) as browsers:` returns at once; the browser starts in the background and
    visits wait for it.
    """

    def __init__(self, settings: BrowserSettings | None = None, egress: EgressProxy | None = None) -> None:
        """`egress` stands in for the wall that `settings` describe, e.g. with names of one's own.

        Raises:
            ValueError: a proxy, network or test host makes no sense; says what to correct.
        """
        self._settings = settings or BrowserSettings()
        self._egress = egress or EgressProxy(self._settings)
        self._pool = Pool(self._settings, self._egress)
        self._profiles = CookieProfiles()
        limit = self._settings.queue_limit
        self._peeks = FairSemaphore(self._settings.peek_slots, per_host=MAX_PEEKS_PER_HOST, queue_limit=limit)
        self._renders = FairSemaphore(
            self._settings.render_slots, per_host=MAX_RENDERS_PER_HOST, queue_limit=limit
        )
        self._scripted_hosts: dict[str, None] = {}
        """Hosts whose last page needed its scripts, oldest first."""
        self._active = 0
        """Visits from their call to their answer, queued ones included."""

    async def __aenter__(self) -> Browsers:
        await self._pool.__aenter__()
        self._pool.start_soon()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End every browser; running visits fail with BrowserGone."""
        await self._pool.__aexit__()
        await self._egress.close()

    @property
    def folder(self) -> Path:
        """Where the browsers' profiles lie as long as they live."""
        return self._pool.folder

    def status(self) -> PoolStatus:
        """Numbers for health checks and metrics."""
        both = (self._peeks, self._renders)
        return PoolStatus(
            ready=self._pool.ready(),
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
        """Start that tier's browser in the background, where it does not run: a visit to it is near."""
        if not self._pool.ready(tier):
            self._pool.start_soon(tier)

    def forget(self, principal: str, site_profile: str) -> bool:
        """Let a profile's next visit come as a stranger; whether the site had left any cookies."""
        self._pool.forget(principal, site_profile)
        return self._profiles.forget(principal, site_profile)

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
        """Visit one URL.

        In mode AUTO `enough` is asked whether the response as served is what was wanted; without it the page
        is rendered.

        Raises:
            BrowsersError: a typed leaf of browsers.errors, with the URL and the next step.
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
                            # It may kill its renderer again: then what was served is left.
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
            supply = await self._supply(request, deadline_at)
            async with supply.loan(request) as loan:
                await self._profiles.load(loan.tab, request)
                visit = Visit(
                    loan.tab,
                    request,
                    supply.chromium.tier,
                    started_at=started_at,
                    deadline_at=deadline_at,
                    expects_page=self._expects_page(request),
                    habits=loan.habits,
                )
                snapshot = await visit.run(enough, admission.to_render)
                self._note(request, snapshot)
                await self._profiles.save(loan.tab, request)
                may_rest = snapshot.complete and not visit.leaves_doubt
                keeps_page = request.site_profile is not None or loan.tab.committed or loan.tab.renewals > 0
                is_clean = may_rest if keeps_page else not visit.prepared
                loan.reusable = is_clean and not loan.tab.saw_password
                return snapshot

    def _expects_page(self, request: Request) -> bool:
        """Whether the visit will render: it must, or its host needed it last time."""
        if request.mode is not Mode.AUTO:
            return request.mode is Mode.RENDER
        return (urlsplit(request.url).hostname or "") in self._scripted_hosts

    def _note(self, request: Request, snapshot: Snapshot) -> None:
        if request.mode is not Mode.AUTO:
            return
        host = urlsplit(request.url).hostname or ""
        self._scripted_hosts.pop(host, None)
        if snapshot.rendered:
            self._scripted_hosts[host] = None
            while len(self._scripted_hosts) > MAX_SCRIPTED_HOSTS:
                del self._scripted_hosts[next(iter(self._scripted_hosts))]

    async def _supply(self, request: Request, deadline_at: float) -> BrowserHandle:
        try:
            async with asyncio.timeout(max(0.0, deadline_at - time.monotonic())):
                return await self._pool.supply(request.tier)
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
                and not isinstance(error, _ASKED_LONG)
                and time.monotonic() < deadline_at
            )
        ),
        wait=tenacity.wait_random(0.05, 0.3),
        reraise=True,
    )


class VisitSlot:
    """`async with` waits for the first slot; `to_render` exchanges it."""

    def __init__(
        self, peeks: FairSemaphore, renders: FairSemaphore, request: Request, deadline_at: float
    ) -> None:
        self._peeks = peeks
        self._renders = renders
        self._request = request
        self._host = urlsplit(request.url).hostname or ""
        self._deadline_at = deadline_at
        self._held = AsyncExitStack()

    async def __aenter__(self) -> VisitSlot:
        """Raises Busy."""
        first = self._renders if self._request.mode is Mode.RENDER else self._peeks
        await self._take(first, self._held, bounded=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._held.aclose()

    async def to_render(self) -> None:
        """Take a render slot, then let the peek slot go: who holds one may wait past the queue's bound.

        Raises:
            Busy: none became free before the deadline.
        """
        if self._request.mode is Mode.RENDER:
            return
        held = AsyncExitStack()
        await self._take(self._renders, held, bounded=False)
        peek, self._held = self._held, held
        await peek.aclose()

    async def _take(self, slots: FairSemaphore, into: AsyncExitStack, *, bounded: bool) -> None:
        wait_s = max(0.0, self._deadline_at - time.monotonic())
        turn = slots.taken(
            self._request.principal, self._host, url=self._request.url, wait_s=wait_s, bounded=bounded
        )
        await into.enter_async_context(turn)


MAX_PROFILES = 200


class CookieProfiles:
    """Cookies by (principal, profile) for the life of the process; the least recently used goes first."""

    def __init__(self) -> None:
        self._cookies: OrderedDict[tuple[str, str], list[Event]] = OrderedDict()

    async def load(self, tab: Tab, request: Request) -> None:
        """Put the profile's cookies into a fresh tab."""
        if request.site_profile is None:
            return
        cookies = self._cookies.get((request.principal, request.site_profile))
        if cookies:
            await tab.connection.call("Storage.setCookies", cookies=cookies, browserContextId=tab.context_id)

    def forget(self, principal: str, site_profile: str) -> bool:
        """Drop a profile's cookies; whether there were any."""
        return bool(self._cookies.pop((principal, site_profile), None))

    async def save(self, tab: Tab, request: Request) -> None:
        """Take the profile's cookies out of a tab."""
        if request.site_profile is None:
            return
        found = await tab.connection.call("Storage.getCookies", browserContextId=tab.context_id)
        key = (request.principal, request.site_profile)
        self._cookies[key] = [_settable(cookie) for cookie in found["cookies"]]
        self._cookies.move_to_end(key)
        while len(self._cookies) > MAX_PROFILES:
            self._cookies.popitem(last=False)


def _settable(cookie: Event) -> Event:
    """What `Storage.setCookies` takes back of what `Storage.getCookies` gives."""
    kept = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "priority", "partitionKey")
    settable = {key: cookie[key] for key in kept if key in cookie}
    if not cookie.get("session", False):
        settable["expires"] = cookie["expires"]
    return settable
