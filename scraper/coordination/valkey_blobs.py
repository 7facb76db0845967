"""Small files that one server has fetched for all."""

from __future__ import annotations

import contextlib

from scraper.coordination.valkey_client import ValkeyClient, ValkeyUnavailableError


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
