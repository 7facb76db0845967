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

    async def wait_connected(self, limit_s: float) -> None:
        """Return when the service has answered or failed for the first time."""
        await self._valkey.wait_connected(limit_s)

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


REMEMBERED_S = 6 * 3_600.0
"""How long after its end a rest still makes the next one longer."""


class ValkeyCooldowns:
    """The `Cooldowns` protocol over Valkey."""

    def __init__(self, valkey: ValkeyClient, own: Cooldowns) -> None:
        self._valkey = valkey
        self._own = own
        self._noted: dict[tuple[str, str], Cooldown] = {}
        """By this server, and not taken back by it."""

    async def rest(self, engine: str, egress: str) -> Cooldown | None:
        """How an engine stands."""
        if self._valkey.there:
            try:
                said = await self._valkey.run(REST_OF, [self._key(engine, egress)])
            except ValkeyUnavailableError:
                pass
            else:
                return _rest(said)
        return await self._own.rest(engine, egress)

    def set_rest(self, engine: str, egress: str, rest: Cooldown | None) -> None:
        """Note how an engine stands."""
        self._own.set_rest(engine, egress, rest)
        self._tell(engine, egress, rest)
        if rest is None:
            self._noted.pop((engine, egress), None)
        else:
            self._noted[engine, egress] = rest

    def tell_all(self) -> None:
        """After a time alone: tell the others which engines let us rest still. What they found out meanwhile
        of those that answered us stays."""
        for (engine, egress), rest in self._noted.items():
            if rest.until > time.time():
                self._tell(engine, egress, rest)

    def _tell(self, engine: str, egress: str, rest: Cooldown | None) -> None:
        key = self._key(engine, egress)
        if rest is None:
            self._valkey.tell("DEL", key)
            return
        left_ms = round((rest.until - time.time()) * 1_000)
        words = (rest.reason, rest.step, rest.faults, left_ms, round(REMEMBERED_S * 1_000))
        self._valkey.later(SET_REST, [key], *words)

    def _key(self, engine: str, egress: str) -> str:
        return self._valkey.key("engine", f"{engine}:{egress}")


def _rest(said: list[bytes]) -> Cooldown | None:
    if not said:
        return None
    reason, step, faults, left_ms = (part.decode() for part in said)
    return Cooldown(reason, int(step), int(faults), time.time() + int(left_ms) / 1_000)


class ValkeyBlobs:
    """The `Texts` protocol over Valkey."""

    def __init__(self, valkey: ValkeyClient) -> None:
        self._valkey = valkey

    async def get(self, key: str) -> bytes | None:
        """What is kept under a key."""
        with contextlib.suppress(ValkeyUnavailableError):
            found = await self._valkey.ask("GET", self._valkey.key("text", key))
            return found if isinstance(found, bytes) else None
        return None

    def put(self, key: str, value: bytes, keep_s: float) -> None:
        """Keep a text for so long."""
        self._valkey.tell("SET", self._valkey.key("text", key), value, "PX", max(1, round(keep_s * 1_000)))
