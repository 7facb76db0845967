"""How many calls may be under way, how often each caller may call, and that nobody takes another's share."""

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

_USUAL_S = 2.0
"""How long a call is thought to take before any has ended."""
_MEMORY = 0.1
"""Weight of the last call in the usual length."""
_LONGEST_WAIT_S = 60


class CallLimiter:
    """Admits calls. Beyond `limit` only a caller with less than an equal share of it gets in.

    So a caller with a thousand calls keeps no one out, and all together never have twice the limit.
    """

    def __init__(
        self,
        *,
        limit: int,
        per_minute: int = 0,
        limits: RateLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`per_minute`: calls of one caller, at once or spread over it; 0 is no bound. `limits`: who counts
        them."""
        self._per_minute = per_minute
        limits = limits or LocalLimits(clock)
        rate = (
            RateLimiter(limits, name="calls", burst=per_minute, per_second=per_minute / 60)
            if per_minute
            else None
        )
        self._rate = rate
        self._clock = clock
        self._calls = FairShare(limit)
        self._usual_s = _USUAL_S

    @property
    def full(self) -> bool:
        """Whether a caller with calls of its own under way would be told to wait."""
        return self._calls.total >= self._calls.limit

    @contextlib.asynccontextmanager
    async def taken(self, principal: str) -> AsyncIterator[None]:
        """Be under way while the block runs.

        Raises:
            Overloaded: too many are, or this caller has called too often.
        """
        if self._calls.is_full_for(principal):
            wait_s = min(_LONGEST_WAIT_S, max(1, math.ceil(self._usual_s)))
            raise OverloadedError(
                f"The server is busy: {self._calls.total} calls are under way.", retry_after_s=wait_s
            )
        with self._calls.holding(principal):
            await self._check_rate(principal)
            begun = self._clock()
            try:
                yield
            finally:
                self._usual_s += _MEMORY * (self._clock() - begun - self._usual_s)

    async def _check_rate(self, principal: str) -> None:
        if self._rate is None:
            return
        try:
            await self._rate.take(principal)
        except RateLimitedError as refused:
            raise OverloadedError(
                f"The server is busy: it takes {self._per_minute} calls a minute from one caller.",
                retry_after_s=refused.error.data["retryAfter"],
            ) from None
