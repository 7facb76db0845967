"""Who may work now: a bounded number at once, a bounded queue, and nobody who can starve another.

Free slots go round the callers, and within a caller round the hosts, so that neither a caller with a thousand
URLs nor a host with a thousand pages holds up the rest.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from browsers import errors

REMEMBERED_DURATIONS = 50
FIRST_GUESS_S = 1.0
"""How long a visit is thought to hold a slot before any has been seen."""
LONGEST_RETRY_S = 120.0
"""Nobody plans further ahead, and until then anything may have changed."""

Hosts = OrderedDict[str, deque["asyncio.Future[None]"]]


class FairSemaphore:
    """A counted resource, shared fairly by (principal, host)."""

    def __init__(self, size: int, *, per_host: int, queue_limit: int) -> None:
        self.size = size
        self.in_use = 0
        self.queued = 0
        self._per_host = per_host
        self._queue_limit = queue_limit
        self._busy_hosts: Counter[str] = Counter()
        self._waiting: OrderedDict[str, Hosts] = OrderedDict()
        self._since: dict[asyncio.Future[None], float] = {}
        """When each that waits began to, the first of them first."""
        self._durations: deque[tuple[str, float]] = deque(maxlen=REMEMBERED_DURATIONS)
        """Of those that held a slot last, with their hosts."""

    @asynccontextmanager
    async def taken(
        self, principal: str, host: str, *, url: str, wait_s: float, bounded: bool = True
    ) -> AsyncIterator[None]:
        """Hold a slot; `bounded=False` waits past the queue's bound (for who holds another slot already).

        Raises:
            Busy: the queue is full, or the wait would outlast `wait_s`.
        """
        await self._acquire(principal, host, url, wait_s, bounded)
        since = time.monotonic()
        try:
            yield
        finally:
            self._durations.append((host, time.monotonic() - since))
            self._release(host)

    def expected_wait_s(self) -> float:
        """How long a newcomer would wait, from how long the last visits held their slots."""
        return self._wait_behind_s(self.queued)

    def queue_s(self) -> float:
        """How long a newcomer of a host of its own would wait: nothing while a slot is free.

        Those who wait beside a free slot wait for their host, which more machines would not change.
        """
        return self.expected_wait_s() if self.in_use >= self.size else 0.0

    def longest_wait_s(self) -> float:
        """How long the one who came first of those that wait has waited."""
        first = next(iter(self._since.values()), None)
        return 0.0 if first is None else time.monotonic() - first

    async def _acquire(self, principal: str, host: str, url: str, wait_s: float, bounded: bool) -> None:
        queued = self.queued
        turn = self._enqueue(principal, host)
        self._hand_out()
        if turn.done():
            return
        if bounded and (self._has_no_place(principal) or self._wait_behind_s(queued) > wait_s):
            self._give_back(turn, principal, host)
            raise self._busy(url)
        try:
            async with asyncio.timeout(wait_s):
                await turn
        except BaseException as error:
            self._give_back(turn, principal, host)
            if isinstance(error, TimeoutError):
                raise self._busy(url) from None
            raise

    def _wait_behind_s(self, queued: int) -> float:
        return self._held_s() * (queued + 1) / self.size

    def _has_no_place(self, principal: str) -> bool:
        """Whether the queue is full for this caller: beyond its bound only those wait who have less than an
        equal share of it, and never twice as many."""
        waiting = sum(map(len, self._waiting[principal].values()))
        share = self._queue_limit // len(self._waiting)
        return self.queued > self._queue_limit and (waiting > share or self.queued > 2 * self._queue_limit)

    def _busy(self, url: str) -> errors.BusyError:
        return errors.BusyError(
            f"Too many pages are being read: {self.in_use} at work, {self.queued} waiting.",
            retry_after_s=min(LONGEST_RETRY_S, max(1.0, round(self._drained_s()))),
            url=url,
        )

    def _drained_s(self) -> float:
        """How long the queue takes to empty: a host has fewer slots than there are, and may be slow."""
        waiting: Counter[str] = Counter()
        for hosts in self._waiting.values():
            for host, turns in hosts.items():
                waiting[host] += len(turns)
        by_host = (self._held_s(host) * count / self._per_host for host, count in waiting.items())
        return max(self.expected_wait_s(), *by_host, 0.0)

    def _held_s(self, host: str | None = None) -> float:
        """How long visits hold a slot, those to `host` where any has ended."""
        ended = [held for at, held in self._durations if host in {None, at}]
        if ended:
            return statistics.median(ended)
        return FIRST_GUESS_S if host is None else self._held_s()

    def _give_back(self, turn: asyncio.Future[None], principal: str, host: str) -> None:
        """A turn that will not be used: out of the queue, or, when it was granted just now, to the next."""
        if turn.done() and not turn.cancelled():
            self._release(host)
            return
        turns = self._waiting.get(principal, OrderedDict()).get(host)
        if turns is not None and turn in turns:
            turns.remove(turn)
            del self._since[turn]
            self.queued -= 1
            self._drop_empty(principal, host)

    def _has_room(self, host: str) -> bool:
        return self.in_use < self.size and self._busy_hosts[host] < self._per_host

    def _release(self, host: str) -> None:
        self.in_use -= 1
        self._busy_hosts[host] -= 1
        if not self._busy_hosts[host]:
            del self._busy_hosts[host]
        self._hand_out()

    def _enqueue(self, principal: str, host: str) -> asyncio.Future[None]:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(principal, OrderedDict()).setdefault(host, deque()).append(turn)
        self._since[turn] = time.monotonic()
        self.queued += 1
        return turn

    def _hand_out(self) -> None:
        """Give free slots to whoever's turn it is."""
        while (chosen := self._next_turn()) is not None:
            principal, host = chosen
            turns = self._waiting[principal][host]
            turn = turns.popleft()
            del self._since[turn]
            self.queued -= 1
            self._waiting[principal].move_to_end(host)
            self._waiting.move_to_end(principal)
            self._drop_empty(principal, host)
            if turn.cancelled():
                continue
            self.in_use += 1
            self._busy_hosts[host] += 1
            turn.set_result(None)

    def _next_turn(self) -> tuple[str, str] | None:
        for principal, hosts in self._waiting.items():
            for host in hosts:
                if self._has_room(host):
                    return principal, host
        return None

    def _drop_empty(self, principal: str, host: str) -> None:
        hosts = self._waiting[principal]
        if not hosts[host]:
            del hosts[host]
        if not hosts:
            del self._waiting[principal]
