"""Limit the number of running calls, with a fair share for each caller, and the rate of events per caller."""

import contextlib
import heapq
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from mcp.shared.exceptions import MCPError

from browsers.fair_queue import FairShare
from scraper.coordination.state import RateLimit, RateLimits
from scraper.errors import OverloadedError
from scraper.server.lifecycle import ServicesHolder

_INITIAL_DURATION_S = 2.0
"""Seconds. Assumed duration of a call before any has ended."""
_SMOOTHING = 0.1


BURST = 60
_PER_SECOND = 5.0
"""Events per second. Agents search once or twice per task. A search of 100,000 cached pages takes up to 20 ms."""

TOO_MANY_REQUESTS = -32000
"""Error code from the range that JSON-RPC reserves for servers."""


class RateLimitedError(MCPError):
    """The caller must wait."""

    outcome = "limited"

    def __init__(self, wait_s: float) -> None:
        """Create the JSON-RPC error with the seconds to wait."""
        seconds = math.ceil(wait_s)
        super().__init__(TOO_MANY_REQUESTS, f"Too many searches. Try again in {seconds} s.", {"retryAfter": seconds})


class RateLimiter:
    """Rate limit per principal, shared by all servers that share their state."""

    def __init__(self, limits: RateLimits, *, name: str, burst: int = BURST, per_second: float = _PER_SECOND) -> None:
        """Limit events of this name to `burst` at once and `per_second` on average."""
        self._limits = limits
        self._limit = RateLimit(name, burst, per_second)

    async def take(self, principal: str) -> None:
        """Count one event, or raise RateLimitedError."""
        wait_s = await self._limits.take(self._limit, principal)
        if wait_s:
            raise RateLimitedError(wait_s)


class ServicesLimits(RateLimits):
    """Rate limits of the services; until they are open, those of this process."""

    def __init__(self, holder: ServicesHolder[Any]) -> None:
        """Use the limits of the services in `holder`."""
        super().__init__()
        self._holder = holder

    async def take(self, limit: RateLimit, key: str) -> float:
        """Count one event; return the seconds to wait if the limit is exceeded."""
        services = self._holder.present()
        if services is None:
            return await super().take(limit, key)
        limits: RateLimits = services.shared.limits
        return await limits.take(limit, key)


class CallLimiter:
    """Admit calls; beyond `limit`, up to twice as many, only those of callers with less than an equal share."""

    def __init__(
        self,
        *,
        limit: int,
        per_minute: int = 0,
        limits: RateLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Limit the running calls of all callers, and the calls per minute of each; 0 per minute is no limit."""
        self._per_minute = per_minute
        self._limits = limits or RateLimits(clock)
        self._rate = RateLimit("calls", per_minute, per_minute / 60)
        self._clock = clock
        self._calls = FairShare(limit)
        self._starts: dict[int, float] = {}
        """Start of each running call by its number."""
        self._numbers = itertools.count()
        self._average_s = _INITIAL_DURATION_S

    @property
    def full(self) -> bool:
        """True if a caller with running calls would be rejected."""
        return self._calls.total >= self._calls.limit

    @contextlib.asynccontextmanager
    async def admit(self, principal: str) -> AsyncIterator[None]:
        """Count a call while the block runs; raise OverloadedError if there are too many."""
        if self._calls.is_full_for(principal):
            text = f"The server is busy: {self._calls.total} calls are under way."
            now = self._clock()
            ages = (now - start for start in self._starts.values())
            remaining = (self._average_s - age if age < self._average_s else age for age in ages)
            ends = heapq.nsmallest(self._calls.total - self._calls.limit + 1, remaining)
            raise OverloadedError(text, retry_after_s=min(60, max(1, math.ceil(ends[-1]))) if ends else 1)
        with self._calls.holding(principal):
            if self._per_minute and (wait_s := await self._limits.take(self._rate, principal)):
                text = f"The server is busy: it takes {self._per_minute} calls a minute from one caller."
                raise OverloadedError(text, retry_after_s=math.ceil(wait_s))
            number = next(self._numbers)
            start = self._starts[number] = self._clock()
            try:
                yield
            finally:
                del self._starts[number]
                self._average_s += _SMOOTHING * (self._clock() - start - self._average_s)
