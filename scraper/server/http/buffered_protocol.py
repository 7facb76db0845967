"""Hands an answer to the socket in one piece: in two it wakes its client twice, the first time in vain."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol


class BufferedHttpProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # the best that is installed
    """uvicorn's HTTP, whose writes of one turn of the event loop go out together."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to speak through a transport that waits for the turn's end."""
        super().connection_made(cast(Any, _Gathering(cast(asyncio.Transport, transport))))


class _Gathering:
    """A transport in front of another."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Write at the end of this turn."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Close behind what was written."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))
