"""Limit running calls with a fair share for each caller, and calls per minute."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import AsyncIterator, Callable

from browsers.fair_queue import FairShare
from scraper.coordination.local_state import LocalLimits
from scraper.coordination.protocols import RateLimits
from scraper.errors import OverloadedError
from scraper.server.calls.rate_limit import RateLimitedError, RateLimiter

_INITIAL_DURATION_S = 2.0
"""Seconds. Assumed duration of a call before any has ended."""
_SMOOTHING = 0.1
"""Weight of the last call in the average duration."""
_MAX_RETRY_AFTER_S = 60


class CallLimiter:
    """Admit calls. Beyond `limit`, only callers with less than an equal share are admitted.

    So a caller with a thousand calls does not lock out others, and the total stays below twice the limit.
    """

    def __init__(
        self,
        *,
        limit: int,
        per_minute: int = 0,
        limits: RateLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a limiter.

        Args:
            limit: Running calls of all callers.
            per_minute: Calls of one caller per minute, also all at once; 0 means no limit.
            limits: Rate limits; by default they count in this process only.
            clock: Source of monotonic time.
        """
        self._per_minute = per_minute
        limits = limits or LocalLimits(clock)
        rate = RateLimiter(limits, name="calls", burst=per_minute, per_second=per_minute / 60) if per_minute else None
        self._rate = rate
        self._clock = clock
        self._calls = FairShare(limit)
        self._average_s = _INITIAL_DURATION_S

    @property
    def full(self) -> bool:
        """True if a caller with running calls would be rejected."""
        return self._calls.total >= self._calls.limit

    @contextlib.asynccontextmanager
    async def admit(self, principal: str) -> AsyncIterator[None]:
        """Count a call while the block runs.

        Raises:
            OverloadedError: Too many calls are running, or the caller has called too often.
        """
        if self._calls.is_full_for(principal):
            wait_s = min(_MAX_RETRY_AFTER_S, max(1, math.ceil(self._average_s)))
            raise OverloadedError(f"The server is busy: {self._calls.total} calls are under way.", retry_after_s=wait_s)
        with self._calls.holding(principal):
            await self._check_rate(principal)
            start = self._clock()
            try:
                yield
            finally:
                self._average_s += _SMOOTHING * (self._clock() - start - self._average_s)

    async def _check_rate(self, principal: str) -> None:
        if self._rate is None:
            return
        try:
            await self._rate.take(principal)
        except RateLimitedError as error:
            raise OverloadedError(
                f"The server is busy: it takes {self._per_minute} calls a minute from one caller.",
                retry_after_s=error.error.data["retryAfter"],
            ) from None
