"""Limits held by all servers together; by each for its share while they cannot agree."""

from __future__ import annotations

from scraper.coordination.local_limits import LocalLimits
from scraper.coordination.lua_scripts import LIMIT
from scraper.coordination.protocols import Limit
from scraper.coordination.server_registry import ServerRegistry
from scraper.coordination.valkey_client import ValkeyClient, ValkeyUnavailableError


class ValkeyLimits:
    """The `Limits` protocol over Valkey."""

    def __init__(self, valkey: ValkeyClient, roll: ServerRegistry) -> None:
        self._valkey = valkey
        self._roll = roll
        self._own = LocalLimits()

    async def take(self, limit: Limit, key: str) -> float:
        """Count one."""
        if self._valkey.there:
            name = self._valkey.key(f"limit:{limit.name}", key)
            try:
                wait_s = await self._taken(limit, name)
            except ValkeyUnavailableError:
                pass
            else:
                if not wait_s:
                    # Counted here as well: who goes on alone in the middle of it begins with no new burst.
                    await self._own.take(limit, key, servers=self._roll.servers)
                return wait_s
        return await self._own.take(limit, key, servers=self._roll.servers)

    async def _taken(self, limit: Limit, name: str) -> float:
        return float(await self._valkey.run(LIMIT, [name], 1_000 / limit.per_second, limit.burst)) / 1_000
