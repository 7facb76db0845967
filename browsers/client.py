"""`Browsers`: the public face of the door."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import tenacity

from browsers import errors
from browsers.egress import EgressProxy
from browsers.model import Mode, Request, Snapshot, Tier
from browsers.navigation.visit import Enough, Visit
from browsers.pool.admission import Admission
from browsers.pool.browser_handle import BrowserHandle
from browsers.pool.concurrency import FairSemaphore
from browsers.pool.cookie_profiles import CookieProfiles
from browsers.pool.pool import BrowserState, Pool
from browsers.settings import BrowserSettings

PEEKS_PER_HOST = 4
RENDERS_PER_HOST = 2
"""What one host is asked for at once: more is rude, and holds up the other hosts."""

SCRIPTED_HOSTS = 4096

TRIES = 2
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
        self._peeks = FairSemaphore(self._settings.peek_slots, per_host=PEEKS_PER_HOST, queue_limit=limit)
        self._renders = FairSemaphore(
            self._settings.render_slots, per_host=RENDERS_PER_HOST, queue_limit=limit
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
        async with Admission(self._peeks, self._renders, request, deadline_at) as admission:
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
            while len(self._scripted_hosts) > SCRIPTED_HOSTS:
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
        stop=tenacity.stop_after_attempt(TRIES),
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
