"""uvicorn server with graceful shutdown and buffered writes: responses in flight are finished."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
from collections.abc import Iterator, Sequence
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from scraper.server.http.connection_limits import ConnectionTable, LimitedHttpProtocol
from scraper.server.http.sockets import ignore_new_connections
from scraper.server.lifecycle import LAST_BYTES_S

_KEEP_ALIVE_S = 75
"""Seconds. Longer than clients keep an idle connection, so that no request arrives while it is being closed."""
_ACCEPT_ITERATIONS = 5
"""Iterations of the event loop to accept waiting connections: one polls, one accepts, one creates protocols."""
_POLL_S = 0.02
_FLUSH_S = 0.7
"""Seconds to send the last response to a distant client: 100 kB at one megabit per second."""


class GracefulServer(uvicorn.Server):
    """uvicorn without its signal handlers, which would cut running responses."""

    def __init__(self, app: ASGIApp) -> None:
        """Serve `app`."""
        super().__init__(
            uvicorn.Config(
                app,
                http=functools.partial(BufferedHttpProtocol, table=ConnectionTable()),  # type: ignore[arg-type]
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                # Nothing uses the client address from proxy headers, and reading them costs time.
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=round(LAST_BYTES_S),
            )
        )

    async def drain(self, sockets: Sequence[socket.socket], limit_s: float = LAST_BYTES_S) -> None:
        """Accept no new connections, and wait for the first request of established ones."""
        self.config.timeout_graceful_shutdown = max(limit_s, _FLUSH_S)  # type: ignore[assignment]  # any number will do
        for listener in sockets:
            ignore_new_connections(listener)
        for _ in range(_ACCEPT_ITERATIONS):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self._has_silent_connection():  # noqa: ASYNC110 - uvicorn has no event for a first request
                    await asyncio.sleep(_POLL_S)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no signal handlers; `lifecycle` has its own."""
        yield

    def _has_silent_connection(self) -> bool:
        """Return True if a connection has no request yet."""
        return any(getattr(connection, "cycle", True) is None for connection in self.server_state.connections)


class BufferedHttpProtocol(LimitedHttpProtocol):
    """HTTP protocol that sends all writes of one event loop iteration together.

    A response in two writes would wake its client twice.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wrap the transport of a new connection."""
        super().connection_made(cast(Any, _BufferedTransport(transport)))


class _BufferedTransport:
    """Transport that buffers writes until the next event loop iteration."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Buffer data."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def write_eof(self) -> None:
        """Send buffered data, then close the sending side."""
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        """Send buffered data, then close."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))
