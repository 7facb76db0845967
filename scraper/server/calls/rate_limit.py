"""Limit how often each caller may do something; short bursts are allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mcp.shared.exceptions import MCPError

from scraper.coordination.local_state import LocalLimits
from scraper.coordination.protocols import Limit, RateLimits
from scraper.server.lifecycle import AppHolder

if TYPE_CHECKING:
    from scraper.services import Services

BURST = 60
PER_SECOND = 5.0
"""Default events per second. Agents search once or twice per task. A search of 100,000 cached pages takes up to 20
ms."""

TOO_MANY = -32000
"""Error code from the range that JSON-RPC reserves for servers."""


class RateLimitedError(MCPError):
    """The caller must wait."""

    outcome = "limited"

    def __init__(self, wait_s: float) -> None:
        """Create the JSON-RPC error with the seconds to wait."""
        seconds = math.ceil(wait_s)
        super().__init__(TOO_MANY, f"Too many searches. Try again in {seconds} s.", {"retryAfter": seconds})


class RateLimiter:
    """A rate limit for each principal, common to all servers that share their state."""

    def __init__(self, limits: RateLimits, *, name: str, burst: int = BURST, per_second: float = PER_SECOND) -> None:
        """Create a limiter.

        Args:
            limits: Counter of the events.
            name: Name of the counted event.
            burst: Events at once.
            per_second: Events per second.
        """
        self._limits = limits
        self._limit = Limit(name, burst, per_second)

    async def take(self, principal: str) -> None:
        """Count one event.

        Raises:
            RateLimitedError: The limit is exceeded.
        """
        wait_s = await self._limits.take(self._limit, principal)
        if wait_s:
            raise RateLimitedError(wait_s)


class AppLimits:
    """Rate limits of the App; until it is open, those of this process."""

    def __init__(self, holder: AppHolder[Services]) -> None:
        """Use the limits of the App in `holder`."""
        self._holder = holder
        self._own = LocalLimits()

    async def take(self, limit: Limit, key: str) -> float:
        """Count one event; return the seconds to wait if the limit is exceeded."""
        app = self._holder.present()
        return await (self._own if app is None else app.shared.limits).take(limit, key)
