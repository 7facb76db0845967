"""Read-through cache service: return a cached result, or load it once for all callers that need it."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import TTLCache

from scraper.caching.single_flight import DistributedSingleFlight, SingleFlight
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.model import CachePolicy, Reuse

T = TypeVar("T")

MEMORY_TTL_S = 900.0
"""Seconds for which a result stays in memory. Callers page through texts that must not be on disk."""
MAX_RESULTS = 32
"""Results in memory."""
MAX_CHARACTERS = 20_000_000
"""Characters of all results in memory; a longer result is stored alone."""


@dataclass(frozen=True, slots=True)
class StoreLookup(Generic[T]):
    """Outcome of a look-up in the store: a fresh result, or a stale one to revalidate, or neither."""

    fresh: T | None = None
    stale: T | None = None


@dataclass(frozen=True, slots=True)
class LoadRequest(Generic[T]):
    """Request for a result: its keys, and the functions that look it up in the store or load it."""

    key: Hashable
    """Loads with equal keys are shared. Other servers compare its `repr`."""
    run: Callable[[T | None], Awaitable[T]]
    """Load the result. The argument is a stale one to revalidate, or None."""
    find: Callable[[], Awaitable[StoreLookup[T]]] | None = None
    """Look up the result in the store; None without a store."""
    memory_key: Hashable | None = None
    """Key in the memory cache; None if the result must not be stored there."""
    is_private: bool = False
    """True if the result must not be sent to other servers."""
    label: str = ""
    """Name of the result in progress messages, for example its host."""


class MemoryCache(Generic[T]):
    """Cache of recent results in memory."""

    def __init__(self, size_of: Callable[[T], int]) -> None:
        """Create an empty cache; `size_of` returns the characters of a result."""
        self._results: TTLCache[Hashable, T] = TTLCache(
            MAX_CHARACTERS, MEMORY_TTL_S, getsizeof=lambda result: min(size_of(result), MAX_CHARACTERS)
        )

    def get(self, key: Hashable | None) -> T | None:
        """Return a result that has not expired, or None."""
        return self._results.get(key)

    def put(self, key: Hashable, result: T) -> None:
        """Store a result; evict the least recently used ones above the limits."""
        self._results[key] = result
        while len(self._results) > MAX_RESULTS:
            self._results.popitem()

    def remove(self, key: Hashable) -> None:
        """Remove a result if it is stored."""
        self._results.pop(key, None)


class ReadThrough(Generic[T]):
    """Return results from memory, the store, other servers or a new load."""

    def __init__(
        self,
        mark_cached: Callable[[T], T],
        *,
        memory: MemoryCache[T] | None = None,
        distributed: DistributedSingleFlight[T] | None = None,
    ) -> None:
        """Create the service.

        `mark_cached` returns a copy of a result that is marked as cached. `memory` stores results in memory;
        `distributed` shares loads with other servers. Each may be None.
        """
        self._mark_cached = mark_cached
        self._memory = memory
        self._distributed = distributed
        self._flights: SingleFlight[Hashable, T] = SingleFlight()

    @property
    def in_flight(self) -> int:
        """Number of loads in flight."""
        return len(self._flights)

    async def close(self) -> None:
        """Cancel the loads in flight."""
        await self._flights.close()

    async def read(
        self,
        load: LoadRequest[T],
        policy: CachePolicy,
        *,
        deadline: Deadline | None = None,
        progress: ProgressCallback | None = None,
    ) -> T:
        """Return the result that the policy allows.

        A load ends at the deadline of its last caller, or when the last one is canceled. Only the first caller of a
        load receives the progress that the load itself reports.

        Raises:
            TimeoutError: The load did not end before the deadline.
            ScraperError: Error of the load, here or on another server.
        """
        if policy.reuse is Reuse.IN_MEMORY and self._memory is not None:
            cached = self._memory.get(load.memory_key)
            if cached is not None:
                return self._mark_cached(cached)
        stored: StoreLookup[T] = StoreLookup()
        if load.find is not None and policy.reads_store:
            stored = await load.find()
        if stored.fresh is not None:
            self._hold_in_memory(load, stored.fresh)
            return stored.fresh
        report = progress or ignore_progress
        report(0, 1, f"reading {load.label}")
        run: Callable[[], Awaitable[T]] = functools.partial(load.run, stored.stale)
        if self._distributed is not None and not load.is_private and policy.reuse is not Reuse.NONE:
            run = functools.partial(self._distributed.join, load.key, run, is_refresh=policy.is_refresh)
        async with asyncio.timeout(None if deadline is None else deadline.left_s()):
            result = await self._flights.join(load.key, run)
        report(1, 1, f"read {load.label}")
        self._hold_in_memory(load, result)
        return result

    def _hold_in_memory(self, load: LoadRequest[T], result: T) -> None:
        if self._memory is not None and load.memory_key is not None:
            self._memory.put(load.memory_key, result)
