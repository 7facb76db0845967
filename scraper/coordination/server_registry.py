"""How many servers there are: each says now and then that it lives."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable

from scraper.coordination.lua_scripts import ALIVE
from scraper.coordination.valkey_client import BEAT_S, ValkeyClient, ValkeyUnavailableError

FORGOTTEN_S = 5 * BEAT_S
"""A server that has said nothing for so long is gone."""
UNSEEN = 2
"""Servers assumed while nobody was ever seen: who configures shared state has more than one."""


class ServerRegistry:
    """The servers that share one state."""

    def __init__(self, valkey: ValkeyClient) -> None:
        self.servers = UNSEEN
        """Last seen alive, this one among them."""
        self.name = secrets.token_hex(6)
        """This server's."""
        self.on_forgotten: Callable[[], None] = lambda: None
        """Called when the service no longer knew this server: it was restarted or emptied in between."""
        self._known = False
        self._valkey = valkey
        self._key = valkey.key("servers", "all")

    async def call(self) -> None:
        """Say that this server lives, and count."""
        with contextlib.suppress(ValkeyUnavailableError):
            count, new = await self._valkey.run(ALIVE, [self._key], self.name, round(FORGOTTEN_S * 1_000))
            self.servers = max(1, int(count))
            if new and self._known:
                self.on_forgotten()
            self._known = True

    def leave(self) -> None:
        """This server ends."""
        self._valkey.tell("ZREM", self._key, self.name)
