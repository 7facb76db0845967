"""The same page wanted twice at once is visited once.

Whoever waits can leave without disturbing the others; when the last one leaves, the visit ends too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

LANDING_LIMIT_S = 3.0
"""How long a cancelled flight may take to give back what it holds."""


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    passengers: int = 0


class SingleFlight(Generic[K, T]):
    """Work under way, by what is worked on."""

    def __init__(self) -> None:
        self._flights: dict[K, _Flight[T]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def join(self, key: K, work: Callable[[], Awaitable[T]]) -> T:
        """The result of the flight under way for `key`, or of a new one that does `work`."""
        flight = self._flights.get(key) or self._start(key, work)
        flight.passengers += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.passengers -= 1
            if not flight.passengers:
                await self._end(key, flight)

    async def close(self) -> None:
        """End every flight; those who wait are cancelled."""
        for key, flight in list(self._flights.items()):
            await self._end(key, flight)

    def _start(self, key: K, work: Callable[[], Awaitable[T]]) -> _Flight[T]:
        flight = self._flights[key] = _Flight(asyncio.ensure_future(work()))
        flight.task.add_done_callback(lambda _: self._forget(key, flight))
        return flight

    def _forget(self, key: K, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    async def _end(self, key: K, flight: _Flight[T]) -> None:
        """Cancel the flight, so that nobody joins it any more, and wait until it has cleaned up."""
        self._forget(key, flight)
        if flight.task.done():
            return
        flight.task.cancel()
        await asyncio.wait({flight.task}, timeout=LANDING_LIMIT_S)
