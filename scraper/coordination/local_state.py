"""The short-lived state of a server that shares it with none: no service, no round trip."""

from __future__ import annotations

from scraper.coordination.local_leases import LocalLeases
from scraper.coordination.local_limits import LocalLimits
from scraper.coordination.protocols import Cooldowns, SharedStateStatus


class LocalState:
    """The `Shared` protocol in one process."""

    alone = True
    claims = None
    texts = None

    def __init__(self) -> None:
        self.limits = LocalLimits()
        self.leases = LocalLeases()

    def rests(self, own: Cooldowns) -> Cooldowns:
        """What the server keeps by itself."""
        return own

    def status(self) -> SharedStateStatus:
        """Nothing is shared."""
        return SharedStateStatus()

    async def close(self) -> None:
        """There is nobody to tell."""
