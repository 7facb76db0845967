"""The short-lived state of a server that shares it with none: no service, no round trip."""

from __future__ import annotations

from scraper.store.shared.local_leases import LocalLeases
from scraper.store.shared.local_limits import LocalLimits
from scraper.store.shared.protocols import Rests, SharedStatus

__all__ = ["Alone"]


class Alone:
    """The `Shared` protocol in one process."""

    alone = True
    claims = None
    texts = None

    def __init__(self) -> None:
        self.limits = LocalLimits()
        self.leases = LocalLeases()

    def rests(self, own: Rests) -> Rests:
        """What the server keeps by itself."""
        return own

    def status(self) -> SharedStatus:
        """Nothing is shared."""
        return SharedStatus()

    async def close(self) -> None:
        """There is nobody to tell."""
