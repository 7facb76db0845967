"""Registry of the live servers that share one state; each renews its entry with heartbeats."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable

from scraper.coordination.lua_scripts import REGISTER
from scraper.coordination.valkey_client import HEARTBEAT_S, ValkeyClient, ValkeyUnavailableError

_EXPIRED_S = 5 * HEARTBEAT_S
"""Seconds after its last heartbeat at which a server counts as gone."""
ASSUMED_SERVERS = 2
"""Servers assumed before the first count: an operator who configures shared state has more than one."""


class ServerRegistry:
    """List of the live servers that share one state, stored in Valkey."""

    def __init__(self, valkey: ValkeyClient) -> None:
        """Use the client; call `register` to add this server."""
        self.servers = ASSUMED_SERVERS
        """Number of servers last seen alive, including this one."""
        self.name = secrets.token_hex(6)
        self.on_lost: Callable[[], None] = lambda: None
        """Called if the service no longer lists this server: it lost its data, or heartbeats failed."""
        self._was_registered = False
        self._valkey = valkey
        self._key = valkey.key("servers", "all")

    async def register(self) -> None:
        """Register this server as alive, and count the servers."""
        with contextlib.suppress(ValkeyUnavailableError):
            count, new = await self._valkey.run(REGISTER, [self._key], self.name, round(_EXPIRED_S * 1_000))
            self.servers = max(1, int(count))
            if new and self._was_registered:
                self.on_lost()
            self._was_registered = True

    def leave(self) -> None:
        """Remove this server."""
        self._valkey.send("ZREM", self._key, self.name)
