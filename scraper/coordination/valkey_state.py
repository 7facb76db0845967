"""Coordination state that servers share through one Valkey or Redis."""

from __future__ import annotations

import contextlib
import time

from scraper.coordination.local_state import LocalLimits
from scraper.coordination.lua_scripts import LIMIT, REST_OF, SET_REST
from scraper.coordination.protocols import Cooldown, Cooldowns, Limit, SharedStateStatus
from scraper.coordination.valkey_client import SLOW_S, ValkeyClient, ValkeyUnavailableError
from scraper.coordination.valkey_leases import ServerRegistry, ValkeyClaims, ValkeyLeases


class ValkeyState:
    """The `SharedState` protocol over Valkey."""

    alone = False

    def __init__(self, url: str) -> None:
        """Use the service at `url`; connect on first use."""
        self._valkey = ValkeyClient(url)
        self._registry = ServerRegistry(self._valkey)
        self.limits = ValkeyLimits(self._valkey, self._registry)
        self.leases = ValkeyLeases(self._valkey, self._registry)
        self.claims = ValkeyClaims(self._valkey, self._registry)
        self.texts = ValkeyBlobs(self._valkey)
        self._cooldowns: list[ValkeyCooldowns] = []
        self._valkey.on_connected = self._publish
        self._registry.on_forgotten = self._publish
        self._valkey.on_heartbeat = self._renew

    async def wait_connected(self, limit_s: float) -> None:
        """Wait until the service has answered or failed for the first time."""
        await self._valkey.wait_connected(limit_s)

    def cooldowns(self, own: Cooldowns) -> Cooldowns:
        """Return the shared cooldowns of engines; `own` is used while the service is down."""
        cooldowns = ValkeyCooldowns(self._valkey, own)
        self._cooldowns.append(cooldowns)
        return cooldowns

    def status(self) -> SharedStateStatus:
        """Return the status as of the last command."""
        valkey = self._valkey
        slow = valkey.is_available and valkey.command_s > SLOW_S
        note = f"{valkey.where} is slow: {valkey.command_s * 1_000:.0f} ms a command." if slow else valkey.note
        return SharedStateStatus(True, valkey.problem, note, slow, self._registry.servers, valkey.command_s)

    async def close(self) -> None:
        """Remove this server and close the connection."""
        self._registry.leave()
        await self._valkey.close()

    async def _renew(self) -> None:
        await self._registry.register()
        self.leases.renew()
        self.claims.renew()

    def _publish(self) -> None:
        self.leases.publish()
        for cooldowns in self._cooldowns:
            cooldowns.publish()


class ValkeyLimits:
    """The `RateLimits` protocol over Valkey. While the service is down, each server keeps its share."""

    def __init__(self, valkey: ValkeyClient, registry: ServerRegistry) -> None:
        """Use the client, and the registry for the share of this server."""
        self._valkey = valkey
        self._registry = registry
        self._own = LocalLimits()

    async def take(self, limit: Limit, key: str) -> float:
        """Count one event and return 0, or return the seconds until it is allowed."""
        if self._valkey.is_available:
            name = self._valkey.key(f"limit:{limit.name}", key)
            try:
                wait_s = await self._request(limit, name)
            except ValkeyUnavailableError:
                pass
            else:
                if not wait_s:
                    # Counted here too, so that a loss of the service brings no new burst.
                    await self._own.take(limit, key, servers=self._registry.servers)
                return wait_s
        return await self._own.take(limit, key, servers=self._registry.servers)

    async def _request(self, limit: Limit, name: str) -> float:
        return float(await self._valkey.run(LIMIT, [name], 1_000 / limit.per_second, limit.burst)) / 1_000


COOLDOWN_MEMORY_S = 6 * 3_600.0
"""Seconds after its end for which a cooldown makes the next one longer."""


class ValkeyCooldowns:
    """The `Cooldowns` protocol over Valkey."""

    def __init__(self, valkey: ValkeyClient, own: Cooldowns) -> None:
        """Use the client; `own` holds the cooldowns while the service is down."""
        self._valkey = valkey
        self._own = own
        self._set_here: dict[tuple[str, str], Cooldown] = {}
        """Cooldowns that this server set and did not remove."""

    async def get_cooldown(self, engine: str, egress: str) -> Cooldown | None:
        """Return the failures of an engine, or None if there are none."""
        if self._valkey.is_available:
            try:
                row = await self._valkey.run(REST_OF, [self._key(engine, egress)])
            except ValkeyUnavailableError:
                pass
            else:
                return _parse_cooldown(row)
        return await self._own.get_cooldown(engine, egress)

    def set_cooldown(self, engine: str, egress: str, cooldown: Cooldown | None) -> None:
        """Store the failures of an engine."""
        self._own.set_cooldown(engine, egress, cooldown)
        self._send(engine, egress, cooldown)
        if cooldown is None:
            self._set_here.pop((engine, egress), None)
        else:
            self._set_here[engine, egress] = cooldown

    def publish(self) -> None:
        """Publish cooldowns after a time without the service, except those that have ended."""
        for (engine, egress), cooldown in self._set_here.items():
            if cooldown.until > time.time():
                self._send(engine, egress, cooldown)

    def _send(self, engine: str, egress: str, cooldown: Cooldown | None) -> None:
        key = self._key(engine, egress)
        if cooldown is None:
            self._valkey.send("DEL", key)
            return
        left_ms = round((cooldown.until - time.time()) * 1_000)
        words = (cooldown.reason, cooldown.step, cooldown.faults, left_ms, round(COOLDOWN_MEMORY_S * 1_000))
        self._valkey.run_later(SET_REST, [key], *words)

    def _key(self, engine: str, egress: str) -> str:
        return self._valkey.key("engine", f"{engine}:{egress}")


def _parse_cooldown(row: list[bytes]) -> Cooldown | None:
    if not row:
        return None
    reason, step, faults, left_ms = (part.decode() for part in row)
    return Cooldown(reason, int(step), int(faults), time.time() + int(left_ms) / 1_000)


class ValkeyBlobs:
    """The `SharedBlobs` protocol over Valkey."""

    def __init__(self, valkey: ValkeyClient) -> None:
        """Use the client."""
        self._valkey = valkey

    async def get(self, key: str) -> bytes | None:
        """Return the file stored under a key, or None."""
        with contextlib.suppress(ValkeyUnavailableError):
            found = await self._valkey.command("GET", self._valkey.key("text", key))
            return found if isinstance(found, bytes) else None
        return None

    def put(self, key: str, value: bytes, keep_s: float) -> None:
        """Store a file for `keep_s` seconds."""
        self._valkey.send("SET", self._valkey.key("text", key), value, "PX", max(1, round(keep_s * 1_000)))
