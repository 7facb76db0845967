"""How engines stand, for all servers that they cannot tell apart; kept here too, for when these are alone."""

from __future__ import annotations

import time

from scraper.coordination.lua_scripts import REST_OF, SET_REST
from scraper.coordination.protocols import Cooldown, Cooldowns
from scraper.coordination.valkey_client import ValkeyClient, ValkeyUnavailableError

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
