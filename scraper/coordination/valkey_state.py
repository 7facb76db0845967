"""The short-lived state of servers that share it over one Valkey or Redis."""

from __future__ import annotations

from scraper.coordination.protocols import Cooldowns, SharedStateStatus
from scraper.coordination.server_registry import ServerRegistry
from scraper.coordination.valkey_blobs import ValkeyBlobs
from scraper.coordination.valkey_claims import ValkeyClaims
from scraper.coordination.valkey_client import SLOW_S, ValkeyClient
from scraper.coordination.valkey_cooldowns import ValkeyCooldowns
from scraper.coordination.valkey_leases import ValkeyLeases
from scraper.coordination.valkey_limits import ValkeyLimits


class ValkeyState:
    """The `Shared` protocol over Valkey."""

    alone = False

    def __init__(self, url: str) -> None:
        self._valkey = ValkeyClient(url)
        self._roll = ServerRegistry(self._valkey)
        self.limits = ValkeyLimits(self._valkey, self._roll)
        self.leases = ValkeyLeases(self._valkey, self._roll)
        self.claims = ValkeyClaims(self._valkey, self._roll)
        self.texts = ValkeyBlobs(self._valkey)
        self._rests: list[ValkeyCooldowns] = []
        self._valkey.on_back = self._tell_all
        self._roll.on_forgotten = self._tell_all
        self._valkey.on_beat = self._beat

    async def met(self, limit_s: float) -> None:
        """Return when the service has answered or failed for the first time."""
        await self._valkey.met(limit_s)

    def rests(self, own: Cooldowns) -> Cooldowns:
        """How engines stand for all; `own` for when they cannot agree."""
        rests = ValkeyCooldowns(self._valkey, own)
        self._rests.append(rests)
        return rests

    def status(self) -> SharedStateStatus:
        """As it was when somebody last asked."""
        valkey = self._valkey
        slow = valkey.there and valkey.command_s > SLOW_S
        note = (
            f"{valkey.where} is slow: {valkey.command_s * 1_000:.0f} ms a command." if slow else valkey.note
        )
        return SharedStateStatus(True, valkey.problem, note, slow, self._roll.servers, valkey.command_s)

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
