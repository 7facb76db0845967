"""Bounds how often each caller may do something: a burst is fine, a loop is told to wait."""

from __future__ import annotations

import math

from mcp.shared.exceptions import MCPError

from scraper.coordination.protocols import Limit, RateLimits

BURST = 60
PER_SECOND = 5.0
"""A person's agent searches once or twice a task; a search of 100,000 kept pages takes up to 20 ms."""

TOO_MANY = -32000
"""Of the codes that JSON-RPC leaves to servers; those that it defines mean other things."""


class RateLimitedError(MCPError):
    """This caller must wait."""

    outcome = "limited"

    def __init__(self, wait_s: float) -> None:
        seconds = math.ceil(wait_s)
        super().__init__(TOO_MANY, f"Too many searches. Try again in {seconds} s.", {"retryAfter": seconds})


class RateLimiter:
    """A bound for each principal, held by all servers that share their state."""

    def __init__(
        self, limits: RateLimits, *, name: str, burst: int = BURST, per_second: float = PER_SECOND
    ) -> None:
        """`name`: of what is counted."""
        self._limits = limits
        self._limit = Limit(name, burst, per_second)

    async def take(self, principal: str) -> None:
        """Count one.

        Raises:
            TooMany: there were too many just now.
        """
        wait_s = await self._limits.take(self._limit, principal)
        if wait_s:
            raise RateLimitedError(wait_s)
