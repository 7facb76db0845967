"""Slots for visits: a limited number at once, a limited queue, shared fairly by principal and host."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from browsers import errors
from browsers.fair_queue import FairQueue

REMEMBERED_DURATIONS = 50
FIRST_GUESS_S = 1.0
"""Seconds. Assumed time for which a visit holds a slot, before any visit has ended."""
LONGEST_RETRY_S = 120.0
"""Seconds. No longer wait is suggested: until then anything may have changed."""


class FairSemaphore:
    """Slots that (principal, host) pairs share fairly, with estimates of the wait for one."""

    def __init__(self, size: int, *, per_host: int, queue_limit: int) -> None:
        self._queue = FairQueue(size, per_key=per_host, limit=queue_limit)
        self._per_host = per_host
        self._durations: deque[tuple[str, float]] = deque(maxlen=REMEMBERED_DURATIONS)
        """Host and seconds of the visits that held a slot last."""

    @property
    def size(self) -> int:
        """Number of slots."""
        return self._queue.size

    @property
    def in_use(self) -> int:
        """Number of slots held."""
        return self._queue.in_use

    @property
    def queued(self) -> int:
        """Number of visits that wait for a slot."""
        return self._queue.waiting.total

    @asynccontextmanager
    async def taken(
        self, principal: str, host: str, *, url: str, wait_s: float, bounded: bool = True
    ) -> AsyncIterator[None]:
        """Hold a slot during the block.

        Args:
            principal: Caller of the visit.
            host: Host of the visit.
            url: URL for the error.
            wait_s: Longest wait in seconds.
            bounded: False waits also if the queue is full; for visits that hold another slot already.

        Raises:
            BusyError: The queue is full, or the wait would exceed `wait_s`.
        """
        await self._acquire(principal, host, url, wait_s, bounded)
        since = time.monotonic()
        try:
            yield
        finally:
            self._durations.append((host, time.monotonic() - since))
            self._queue.release(host)

    def expected_wait_s(self) -> float:
        """Return the seconds a new visit would wait, by the time for which visits held their slots."""
        return self._held_s() * (self.queued + 1) / self.size

    def queue_s(self) -> float:
        """Return the seconds a new visit to an idle host would wait; 0 while a slot is free.

        Visits that wait beside a free slot wait for their host. More machines would not change that.
        """
        return self.expected_wait_s() if self.in_use >= self.size else 0.0

    def longest_wait_s(self) -> float:
        """Return the seconds that the oldest waiting visit has waited."""
        return self._queue.longest_wait_s()

    async def _acquire(self, principal: str, host: str, url: str, wait_s: float, bounded: bool) -> None:
        is_full = self._queue.waiting.is_full_for(principal)
        turn = self._queue.enqueue(principal, host)
        if turn.is_granted:
            return
        if bounded and (is_full or self._held_s() * self.queued / self.size > wait_s):
            self._queue.withdraw(turn)
            raise self._busy(url)
        try:
            async with asyncio.timeout(wait_s):
                await turn.granted
        except BaseException as error:
            self._queue.withdraw(turn)
            if isinstance(error, TimeoutError):
                raise self._busy(url) from None
            raise

    def _busy(self, url: str) -> errors.BusyError:
        return errors.BusyError(
            f"Too many pages are being read: {self.in_use} at work, {self.queued} waiting.",
            retry_after_s=min(LONGEST_RETRY_S, max(1.0, round(self._drained_s()))),
            url=url,
        )

    def _drained_s(self) -> float:
        """Return the seconds until the queue is empty; a host has fewer slots than there are."""
        by_host = (
            self._held_s(host) * count / self._per_host
            for host, count in self._queue.waiting_by_key().items()
        )
        return max(self.expected_wait_s(), *by_host, 0.0)

    def _held_s(self, host: str | None = None) -> float:
        """Return the median seconds for which visits held a slot, those to `host` if any has ended."""
        ended = [held for at, held in self._durations if host in {None, at}]
        if ended:
            return statistics.median(ended)
        return FIRST_GUESS_S if host is None else self._held_s()
