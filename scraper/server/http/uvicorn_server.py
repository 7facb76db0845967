"""Takes connections, and ends without losing what is on its way: its client cannot know what became of it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Sequence

import uvicorn
from starlette.types import ASGIApp

from scraper.server.http.buffered_protocol import BufferedHttpProtocol
from scraper.server.http.sockets import ignore_new_connections
from scraper.server.lifecycle.shutdown_budget import LAST_BYTES_S

_KEEP_ALIVE_S = 75
"""Longer than clients keep an idle connection, so that none sends a call on one that we are closing."""
_TURNS_TO_ACCEPT = 5
"""Of the event loop: one finds that connections wait, one takes all of them, one gives each its protocol."""
_LOOK_S = 0.02
_FLUSH_S = 0.7
"""For the last answer on its way to a client far away: one of 100 kB by a megabit a second."""


class GracefulServer(uvicorn.Server):
    """uvicorn without its signal handlers, which would cut running answers."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BufferedHttpProtocol,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                # Nothing goes by what a proxy says of the client, and every call would pay for reading it.
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=round(LAST_BYTES_S),
            )
        )

    async def shut(self, sockets: Sequence[socket.socket], limit_s: float = LAST_BYTES_S) -> None:
        """Take no new connection, and hear out those that have been made: none is reset before its answer."""
        self.config.timeout_graceful_shutdown = max(limit_s, _FLUSH_S)  # type: ignore[assignment]  # any number will do
        for opened in sockets:
            ignore_new_connections(opened)
        for _ in range(_TURNS_TO_ACCEPT):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self._someone_is_silent():  # noqa: ASYNC110 - uvicorn tells nobody of a first request
                    await asyncio.sleep(_LOOK_S)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to us."""
        yield

    def _someone_is_silent(self) -> bool:
        """Whether a connection was made on which no request has begun yet."""
        return any(getattr(one, "cycle", True) is None for one in self.server_state.connections)
