"""Single flight: concurrent callers of the same work share one task.

A caller can leave without effect on the others. When the last one leaves, the task is canceled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

CANCEL_LIMIT_S = 3.0
"""Seconds in which canceled work may release what it holds."""


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    callers: int = 0


class SingleFlight(Generic[K, T]):
    """Work in flight, by key."""

    def __init__(self) -> None:
        self._flights: dict[K, _Flight[T]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def join(self, key: K, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of the work in flight for `key`, or of `work` if there is none."""
        flight = self._flights.get(key) or self._start(key, work)
        flight.callers += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.callers -= 1
            if not flight.callers:
                await self._cancel(key, flight)

    async def close(self) -> None:
        """Cancel all work and those who wait for it."""
        for key, flight in list(self._flights.items()):
            await self._cancel(key, flight)

    def _start(self, key: K, work: Callable[[], Awaitable[T]]) -> _Flight[T]:
        flight = self._flights[key] = _Flight(asyncio.ensure_future(work()))
        flight.task.add_done_callback(lambda _: self._forget(key, flight))
        return flight

    def _forget(self, key: K, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    async def _cancel(self, key: K, flight: _Flight[T]) -> None:
        """Remove the flight, so that no caller joins it, and wait until its task has ended."""
        self._forget(key, flight)
        if flight.task.done():
            return
        flight.task.cancel()
        await asyncio.wait({flight.task}, timeout=CANCEL_LIMIT_S)
