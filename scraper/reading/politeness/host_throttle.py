"""How a host wants to be asked: so many pages at once, so far apart, not while it asks to be left alone.

What one server keeps to, all that share its state keep to together. Waiting is part of the call that waits; a
wait that would outlast it is told at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from browsers.fair_queue import FairQueue, FairShare
from browsers.model import Snapshot
from scraper import errors
from scraper.coordination.protocols import Lease, Leases, RetryLater, ThrottleTerms
from scraper.deadline import Deadline
from scraper.reading.visiting.response_outcome import retry_after_s
from scraper.settings import Settings
from scraper.urls import host_of

REST_LIMIT_S = 120.0
"""The longest rest that one answer wins for its host: it may have meant its own address only, and a host that
goes on meaning it says so again."""
PATIENCE_S = 5.0
"""A host that asks for a longer pause is left to the caller: waiting in silence would hold up a batch."""
VISIT_S = 2.0
"""Kept back from the deadline: a turn that leaves no time to read is none."""
VISIT_SHARE = 0.2
USUAL_S = 1.0
"""How long a page is thought to take before any was read."""
MEMORY = 0.1
"""Weight of the last page in the usual length."""

_ASKING_AGAIN = frozenset({429, 503})


@dataclass(slots=True)
class _Gate:
    """Those who wait for one host."""

    queue: FairQueue = field(default_factory=FairQueue)
    freed: asyncio.Event = field(default_factory=asyncio.Event)
    opens_at: float = 0.0
    """Known: nobody gets in before."""
    resting: bool = False


class HostThrottle:
    """Gives turns at hosts."""

    def __init__(self, leases: Leases, settings: Settings) -> None:
        self._leases = leases
        self._terms = ThrottleTerms(settings.host_pages, settings.host_gap_s)
        self._gates: dict[str, _Gate] = {}
        self._waiting = FairShare(settings.queue_limit)
        self._usual_s = USUAL_S
        self._asked_at = -math.inf
        """By then somebody else may have asked any host."""

    def hosts_were_asked(self) -> None:
        """Somebody who was cut off may have asked any host just now: every gap counts from now on."""
        self._asked_at = time.monotonic()

    @asynccontextmanager
    async def turn(
        self, host: str, principal: str, deadline: Deadline, *, gap_s: float | None = None
    ) -> AsyncIterator[None]:
        """Be one of those who ask the host while the block runs; `gap_s`: what the host itself says.

        Raises:
            HostBusy: there is no turn before the deadline.
        """
        gap_s = self._terms.gap_s if gap_s is None else gap_s
        if (left_s := self._asked_at + gap_s - time.monotonic()) > 0:
            await self._leases.rest(host, left_s)
        lease = await self._taken(host, principal, deadline, ThrottleTerms(self._terms.at_once, gap_s))
        since = time.monotonic()
        try:
            yield
        finally:
            self._usual_s += MEMORY * (time.monotonic() - since - self._usual_s)
            self._leases.give_back(lease)
            if (gate := self._gates.get(host)) is not None:
                gate.freed.set()

    def gap_s(self, asked_s: float | None) -> float:
        """The gap to keep, where the host itself asks for one."""
        return max(self._terms.gap_s, asked_s or 0.0)

    async def heard(self, snapshot: Snapshot) -> None:
        """Leave a host alone for as long as its answer asks, within bounds."""
        if snapshot.status not in _ASKING_AGAIN:
            return
        seconds = retry_after_s(snapshot)
        if seconds:
            await self._leases.rest(host_of(snapshot.url), min(seconds, REST_LIMIT_S))

    async def _taken(self, host: str, principal: str, deadline: Deadline, terms: ThrottleTerms) -> Lease:
        if host not in self._gates:
            got = await self._leases.take(host, terms)
            if isinstance(got, Lease):
                return got
            _check(host, got, terms, _left_s(deadline))
        gate = self._gates.setdefault(host, _Gate())
        try:
            self._check_hope(host, gate, principal, terms, _left_s(deadline))
            return await self._in_line(host, gate, principal, deadline, terms)
        finally:
            if not gate.queue.pending:
                self._gates.pop(host, None)

    async def _in_line(
        self, host: str, gate: _Gate, principal: str, deadline: Deadline, terms: ThrottleTerms
    ) -> Lease:
        with self._waiting.holding(principal):
            try:
                async with asyncio.timeout(_left_s(deadline)), gate.queue.slot(principal):
                    return await self._first(host, gate, deadline, terms)
            except TimeoutError:
                raise _busy(host, self._usual_s, _why_full(host, terms)) from None

    async def _first(self, host: str, gate: _Gate, deadline: Deadline, terms: ThrottleTerms) -> Lease:
        """The lease of whoever is at the head of the line."""
        while True:
            gate.freed.clear()
            got = await self._leases.take(host, terms)
            if isinstance(got, Lease):
                gate.opens_at = time.monotonic() + terms.gap_s
                gate.resting = False
                return got
            if got.known:
                gate.opens_at, gate.resting = time.monotonic() + got.seconds, got.resting
                _check(host, got, terms, _left_s(deadline))
                await asyncio.sleep(got.seconds)
            else:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(None if math.isinf(got.seconds) else got.seconds):
                        await gate.freed.wait()

    def _check_hope(
        self, host: str, gate: _Gate, principal: str, terms: ThrottleTerms, left_s: float
    ) -> None:
        """Raises HostBusy where the line is longer than the time that is left, or than the queue may be."""
        known_s = max(0.0, gate.opens_at - time.monotonic())
        ahead = gate.queue.pending
        step_s = max(terms.gap_s, self._usual_s / terms.at_once if terms.at_once else 0.0)
        wait_s = known_s + ahead * step_s
        if gate.resting and known_s > PATIENCE_S:
            raise _busy(host, known_s, _why_resting(host))
        if wait_s > left_s:
            raise _busy(host, wait_s, _why_line(host, terms, ahead))
        if self._waiting.is_full_for(principal):
            raise _busy(host, max(wait_s, self._usual_s), _why_line(host, terms, ahead))


def _left_s(deadline: Deadline) -> float:
    """Until when a turn is of use."""
    return deadline.left_s(reserve_s=min(VISIT_S, deadline.left_s() * VISIT_SHARE))


def _check(host: str, wait: RetryLater, terms: ThrottleTerms, left_s: float) -> None:
    if wait.known and wait.seconds > (min(left_s, PATIENCE_S) if wait.resting else left_s):
        raise _busy(host, wait.seconds, _why_resting(host) if wait.resting else _why_line(host, terms, 0))


def _busy(host: str, wait_s: float, why: str) -> errors.HostBusyError:
    return errors.HostBusyError(why, retry_after_s=max(1, math.ceil(wait_s)), target=host)


def _why_resting(host: str) -> str:
    return f"{host} has asked to be left alone for a while."


def _why_full(host: str, terms: ThrottleTerms) -> str:
    return f"{host} is being asked for as many pages at once as may be ({terms.at_once})."


def _why_line(host: str, terms: ThrottleTerms, ahead: int) -> str:
    if not terms.gap_s:
        return _why_full(host, terms)
    line = f", and {ahead} more pages wait for it" if ahead else ""
    return f"{host} is asked once in {terms.gap_s:g} s{line}."
