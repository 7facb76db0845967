"""Bounds how often each caller may search what is on offer: a burst is fine, a loop is told to wait."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from mcp.shared.exceptions import MCPError

__all__ = ["Rate", "TooMany"]

BURST = 60
PER_SECOND = 5.0
"""A person's agent searches once or twice a task; a search of 100,000 kept pages takes up to 20 ms."""
CALLERS_KEPT = 10_000

TOO_MANY = -32000
"""Of the codes that JSON-RPC leaves to servers; those that it defines mean other things."""


class TooMany(MCPError):
    """This caller must wait."""

    outcome = "limited"

    def __init__(self, wait_s: float) -> None:
        seconds = math.ceil(wait_s)
        super().__init__(TOO_MANY, f"Too many searches. Try again in {seconds} s.", {"retryAfter": seconds})


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Rate:
    """A bucket of tokens for each principal, refilled steadily."""

    def __init__(
        self,
        *,
        burst: int = BURST,
        per_second: float = PER_SECOND,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, principal: str) -> None:
        """Count one search.

        Raises:
            TooMany: there were too many just now.
        """
        now = self._clock()
        bucket = self._buckets.setdefault(principal, _Bucket(self._burst, now))
        self._buckets.move_to_end(principal)
        while len(self._buckets) > CALLERS_KEPT:
            self._buckets.popitem(last=False)
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._per_second)
        bucket.at = now
        if bucket.tokens < 1:
            raise TooMany((1 - bucket.tokens) / self._per_second)
        bucket.tokens -= 1
