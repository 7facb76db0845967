"""The short-lived state of servers that share it over one Valkey or Redis."""

from __future__ import annotations

from scraper.store.shared.protocols import Rests, SharedStatus
from scraper.store.shared.roll import Roll
from scraper.store.shared.shared_claims import SharedClaims
from scraper.store.shared.shared_leases import SharedLeases
from scraper.store.shared.shared_limits import SharedLimits
from scraper.store.shared.shared_rests import SharedRests
from scraper.store.shared.shared_texts import SharedTexts
from scraper.store.shared.valkey import SLOW_S, Valkey

__all__ = ["Together"]


class Together:
    """The `Shared` protocol over Valkey."""

    alone = False

    def __init__(self, url: str) -> None:
        self._valkey = Valkey(url)
        self._roll = Roll(self._valkey)
        self.limits = SharedLimits(self._valkey, self._roll)
        self.leases = SharedLeases(self._valkey, self._roll)
        self.claims = SharedClaims(self._valkey, self._roll)
        self.texts = SharedTexts(self._valkey)
        self._rests: list[SharedRests] = []
        self._valkey.on_back = self._tell_all
        self._roll.on_forgotten = self._tell_all
        self._valkey.on_beat = self._beat

    async def met(self, limit_s: float) -> None:
        """Return when the service has answered or failed for the first time."""
        await self._valkey.met(limit_s)

    def rests(self, own: Rests) -> Rests:
        """How engines stand for all; `own` for when they cannot agree."""
        rests = SharedRests(self._valkey, own)
        self._rests.append(rests)
        return rests

    def status(self) -> SharedStatus:
        """As it was when somebody last asked."""
        valkey = self._valkey
        slow = valkey.there and valkey.command_s > SLOW_S
        note = (
            f"{valkey.where} is slow: {valkey.command_s * 1_000:.0f} ms a command." if slow else valkey.note
        )
        return SharedStatus(True, valkey.problem, note, slow, self._roll.servers, valkey.command_s)

    async def close(self) -> None:
        """Take leave."""
        self._roll.leave()
        await self._valkey.close()

    async def _beat(self) -> None:
        await self._roll.call()
        self.leases.hold()
        self.claims.hold()

    def _tell_all(self) -> None:
        self.leases.tell_all()
        for rests in self._rests:
            rests.tell_all()
