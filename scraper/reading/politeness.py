"""Respect sites: obey robots.txt, and limit the requests to each host.

The limits apply to all servers that share their state.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import ada_url

from browsers.fair_queue import FairQueue, FairShare
from browsers.model import Request, Snapshot
from scraper import errors, wishes
from scraper.call_context import Deadline
from scraper.coordination.state import Lease, Leases, RetryLater, SharedState, ThrottleTerms
from scraper.model import Reading, Wish
from scraper.reading.visit_outcome import parse_retry_after_s
from scraper.settings import Settings
from scraper.urls import host_of, parse_target

if TYPE_CHECKING:
    from scraper.reading.robots import RobotsDecision, RobotsFiles, RobotsRules

COOLDOWN_LIMIT_S = 120.0
"""Longest cooldown in seconds: a Retry-After may apply to one URL only, and the host can send it again."""
MAX_COOLDOWN_WAIT_S = 5.0
"""Seconds. A longer cooldown is an error, because a silent wait would delay a batch."""
_VISIT_S = 2.0
"""Seconds before the deadline reserved for the visit; waiting in the queue ends before."""
_VISIT_SHARE = 0.2
"""Upper bound of `_VISIT_S` as a share of the time left."""
_FIRST_GUESS_S = 1.0
"""Seconds. Assumed duration of a visit before one has ended."""
_LAST_WEIGHT = 0.1
"""Weight of the last visit in the average duration."""

_RETRY_STATUSES = frozenset({429, 503})


@dataclass(slots=True)
class _HostQueue:
    queue: FairQueue = field(default_factory=FairQueue)
    lease_returned: asyncio.Event = field(default_factory=asyncio.Event)
    opens_at: float = 0.0
    """Seconds of the monotonic clock before which no visit starts."""
    is_cooling_down: bool = False


class HostThrottle:
    """Limit the visits to each host: their number at once, the gap between two, and cooldowns.

    The call waits for its turn. If the wait would exceed its deadline, it fails at once.
    """

    def __init__(self, leases: Leases, settings: Settings) -> None:
        """Read the limits per host from the settings."""
        self._leases = leases
        self._terms = ThrottleTerms(settings.host_pages, settings.host_gap_s)
        self._queues: dict[str, _HostQueue] = {}
        self._waiting = FairShare(settings.queue_limit)
        self._usual_s = _FIRST_GUESS_S
        self._unknown_requests_at = -math.inf
        """Seconds of the monotonic clock. Before this time, another process may have sent requests to any host."""

    def assume_recent_requests(self) -> None:
        """Start the minimum gap of every host now, because a killed process may have sent requests to any of them."""
        self._unknown_requests_at = time.monotonic()

    @asynccontextmanager
    async def turn(
        self, host: str, principal: str, deadline: Deadline, *, gap_s: float | None = None
    ) -> AsyncIterator[None]:
        """Hold the permission to visit a host for the block; `gap_s` replaces the gap of the settings.

        Raises:
            HostBusyError: The queue is full, or the wait would exceed the deadline or, in a cooldown,
                `MAX_COOLDOWN_WAIT_S`.
        """
        gap_s = self._terms.gap_s if gap_s is None else gap_s
        if (left_s := self._unknown_requests_at + gap_s - time.monotonic()) > 0:
            await self._leases.start_cooldown(host, left_s)
        lease = await self._acquire(host, principal, deadline, ThrottleTerms(self._terms.at_once, gap_s))
        since = time.monotonic()
        try:
            yield
        finally:
            self._usual_s += _LAST_WEIGHT * (time.monotonic() - since - self._usual_s)
            self._leases.give_back(lease)
            if (host_queue := self._queues.get(host)) is not None:
                host_queue.lease_returned.set()

    def gap_s(self, requested_s: float | None) -> float:
        """Return the seconds between two visits to a host: at least those of the settings and `requested_s`."""
        return max(self._terms.gap_s, requested_s or 0.0)

    async def note_response(self, snapshot: Snapshot) -> None:
        """Start a cooldown of the host if the response requests one with Retry-After."""
        if snapshot.status not in _RETRY_STATUSES:
            return
        seconds = parse_retry_after_s(snapshot)
        if seconds:
            await self._leases.start_cooldown(host_of(snapshot.url), min(seconds, COOLDOWN_LIMIT_S))

    async def _acquire(self, host: str, principal: str, deadline: Deadline, terms: ThrottleTerms) -> Lease:
        if host not in self._queues:
            answer = await self._leases.take(host, terms)
            if isinstance(answer, Lease):
                return answer
            _check_wait(host, answer, terms, _left_s(deadline))
        host_queue = self._queues.setdefault(host, _HostQueue())
        try:
            self._check_queue(host, host_queue, principal, terms, _left_s(deadline))
            with self._waiting.holding(principal):
                async with asyncio.timeout(_left_s(deadline)), host_queue.queue.slot(principal):
                    return await self._wait_for_lease(host, host_queue, deadline, terms)
        except TimeoutError:
            raise _busy_error(host, self._usual_s, _all_leases_text(host, terms)) from None
        finally:
            if not host_queue.queue.pending:
                self._queues.pop(host, None)

    async def _wait_for_lease(
        self, host: str, host_queue: _HostQueue, deadline: Deadline, terms: ThrottleTerms
    ) -> Lease:
        """Wait at the head of the queue until the host may be visited."""
        while True:
            host_queue.lease_returned.clear()
            answer = await self._leases.take(host, terms)
            if isinstance(answer, Lease):
                host_queue.opens_at = time.monotonic() + terms.gap_s
                host_queue.is_cooling_down = False
                return answer
            if answer.known:
                host_queue.opens_at = time.monotonic() + answer.seconds
                host_queue.is_cooling_down = answer.is_cooldown
                _check_wait(host, answer, terms, _left_s(deadline))
                await asyncio.sleep(answer.seconds)
            else:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(None if math.isinf(answer.seconds) else answer.seconds):
                        await host_queue.lease_returned.wait()

    def _check_queue(
        self, host: str, host_queue: _HostQueue, principal: str, terms: ThrottleTerms, left_s: float
    ) -> None:
        """Raise HostBusyError if the wait is longer than the time left, or the queue is full."""
        known_s = max(0.0, host_queue.opens_at - time.monotonic())
        ahead = host_queue.queue.pending
        step_s = max(terms.gap_s, self._usual_s / terms.at_once if terms.at_once else 0.0)
        wait_s = known_s + ahead * step_s
        if host_queue.is_cooling_down and known_s > MAX_COOLDOWN_WAIT_S:
            raise _busy_error(host, known_s, _cooldown_text(host))
        if wait_s > left_s:
            raise _busy_error(host, wait_s, _queue_text(host, terms, ahead))
        if self._waiting.is_full_for(principal):
            raise _busy_error(host, max(wait_s, self._usual_s), _queue_text(host, terms, ahead))


class PolitenessPolicy:
    """Permit visits according to robots.txt and the limits per host."""

    def __init__(
        self, visit: Callable[[Request], Awaitable[Snapshot]], settings: Settings, shared: SharedState
    ) -> None:
        """Read robots mode and limits from the settings."""
        self.throttle = HostThrottle(shared.leases, settings)
        self._visit = visit
        self._blobs = shared.blobs
        self._files: RobotsFiles | None = None
        self._wishes = settings.wishes
        robots = "obey" if settings.identity == "signed" and settings.robots == "off" else settings.robots
        self._robots = None if robots == "off" else self._open_files()
        """The files that every visit respects."""
        self._obeys_robots = robots == "obey"

    def _open_files(self) -> RobotsFiles:
        if self._files is None:
            # Imported only if needed: the parser of robots.txt is a library of its own.
            from scraper.reading.robots import RobotsFiles

            self._files = RobotsFiles(self._fetch_robots, self._blobs, obeys_wishes=self._wishes == "obey")
        return self._files

    async def close(self) -> None:
        """Cancel the requests for robots.txt that are in flight."""
        if self._files is not None:
            await self._files.close()

    async def load_robots(self, origin: str, principal: str, deadline: Deadline) -> RobotsRules:
        """Return the rules of the robots.txt of an origin, whatever the settings are, none if it allows everything.

        Raises:
            RobotsUnreachableError: The file cannot be reached, so everything is forbidden.
            NetworkError: The host cannot be reached.
            ScraperError: The file could not be requested, for a reason on this side.
        """
        return await self._open_files().load_rules(origin, principal, deadline)

    def gap_s(self, url: str) -> float | None:
        """Return the seconds between two visits to the host of a canonical URL; None if they are not known yet."""
        requested_s = 0.0 if self._robots is None else self._robots.gap_s(url)
        return None if requested_s is None else self.throttle.gap_s(requested_s)

    @asynccontextmanager
    async def permission(self, url: str, principal: str, deadline: Deadline) -> AsyncIterator[tuple[str, ...]]:
        """Hold the permission to visit a canonical URL for the block; yield warnings for the caller.

        If the settings do not obey robots.txt, a URL that it forbids gives a warning.

        Raises:
            RobotsDisallowedError: The settings obey robots.txt, and it forbids the URL.
            HostBusyError: An error of `HostThrottle.turn`.
        """
        gap_s: float | None = None
        warnings: tuple[str, ...] = ()
        if self._robots is not None:
            decision = await self._robots_decision(self._robots, url, principal, deadline)
            gap_s, warnings = self.throttle.gap_s(decision.gap_s), _robots_warnings(decision)
        if self._wishes == "obey":
            check_wishes(await self._robots_wishes(url, principal, deadline), url)
        async with self.throttle.turn(host_of(url), principal, deadline, gap_s=gap_s):
            yield warnings

    async def check_redirect(self, snapshot: Snapshot, principal: str, deadline: Deadline) -> tuple[str, ...]:
        """Start a cooldown if the response requests one, and return warnings about the final URL after redirects.

        Raises:
            RobotsDisallowedError: The visit was redirected to a URL that robots.txt forbids, and the settings obey it;
                or the publisher disallows the use as input of AI, and the settings obey wishes.
        """
        await self.throttle.note_response(snapshot)
        if self._wishes == "obey":
            stated = await self._robots_wishes(snapshot.url, principal, deadline)
            check_wishes((*stated, *wishes.from_headers(snapshot.headers, snapshot.url)), snapshot.url)
        if self._robots is None or not snapshot.hops:
            return ()
        target = parse_target(snapshot.url)
        return _robots_warnings(await self._robots_decision(self._robots, target, principal, deadline))

    async def add_wishes(self, reading: Reading, snapshot: Snapshot, principal: str, deadline: Deadline) -> Reading:
        """Return the reading with the wishes of its publisher: those of the page, the response and robots.txt.

        No file is requested for it, unless the settings obey wishes.
        """
        if self._wishes == "off":
            return replace(reading, document=replace(reading.document, wishes=()))
        stated = await self._robots_wishes(snapshot.url, principal, deadline)
        found = wishes.combine(
            (*stated, *wishes.from_headers(snapshot.headers, snapshot.url), *reading.document.wishes)
        )
        return replace(reading, document=replace(reading.document, wishes=found))

    def obey_wishes(self, reading: Reading) -> None:
        """Raise RobotsDisallowedError if the settings obey wishes, and AI may not use a page, also a cached one."""
        if self._wishes == "obey":
            check_wishes(reading.document.wishes, reading.url)

    async def _robots_wishes(self, url: str, principal: str, deadline: Deadline) -> list[Wish]:
        origin, text = ada_url.URL(url).origin, ""
        if self._wishes == "obey":
            with contextlib.suppress(errors.ScraperError):
                text = (await self.load_robots(origin, principal, deadline)).text
        elif self._files is not None:
            text = self._files.known_text(origin)
        return wishes.from_robots(text, url) if text else []

    async def _robots_decision(
        self, robots: RobotsFiles, url: str, principal: str, deadline: Deadline
    ) -> RobotsDecision:
        decision = await robots.decide(url, principal, deadline)
        if self._obeys_robots and not decision.allowed:
            from scraper.reading.robots import disallowed_error

            raise disallowed_error(decision, url)
        return decision

    async def _fetch_robots(self, request: Request, deadline: Deadline) -> Snapshot:
        # It counts among the visits to its host, but needs no gap to the page.
        async with self.throttle.turn(host_of(request.url), request.principal, deadline, gap_s=0.0):
            snapshot = await self._visit(request)
        await self.throttle.note_response(snapshot)
        return snapshot


def check_wishes(found: Iterable[Wish], url: str) -> None:
    """Raise RobotsDisallowedError if a publisher disallows the use of a page as input of AI."""
    for wish in found:
        if (wish.use, wish.value) == ("input", "disallowed"):
            raise errors.RobotsDisallowedError(
                f"The publisher disallows the use of {url} as input of AI ({wish.source}).",
                target=url,
                next_step="This server obeys wishes (SEARCH_MCP_WISHES=obey): look for another source.",
            )


def _robots_warnings(decision: RobotsDecision) -> tuple[str, ...]:
    return () if decision.allowed else (decision.why,)


def _left_s(deadline: Deadline) -> float:
    """Return the seconds left for waiting, without those reserved for the visit."""
    return deadline.left_s(reserve_s=min(_VISIT_S, deadline.left_s() * _VISIT_SHARE))


def _check_wait(host: str, wait: RetryLater, terms: ThrottleTerms, left_s: float) -> None:
    if wait.known and wait.seconds > (min(left_s, MAX_COOLDOWN_WAIT_S) if wait.is_cooldown else left_s):
        raise _busy_error(host, wait.seconds, _cooldown_text(host) if wait.is_cooldown else _queue_text(host, terms, 0))


def _busy_error(host: str, wait_s: float, message: str) -> errors.HostBusyError:
    return errors.HostBusyError(message, retry_after_s=max(1, math.ceil(wait_s)), target=host)


def _cooldown_text(host: str) -> str:
    return f"{host} has requested a pause."


def _all_leases_text(host: str, terms: ThrottleTerms) -> str:
    return f"{host} is at its limit of concurrent requests ({terms.at_once})."


def _queue_text(host: str, terms: ThrottleTerms, ahead: int) -> str:
    if not terms.gap_s:
        return _all_leases_text(host, terms)
    suffix = f", and {ahead} more pages wait for it" if ahead else ""
    return f"Requests to {host} are {terms.gap_s:g} s apart{suffix}."
