"""An answer reaches the socket in one piece, and a stream as it comes."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from scraper.server.http.buffered_protocol import BufferedHttpProtocol
from tests.scraper.process import LIMIT_S

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST_REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Line:
    """What a transport is asked to do."""

    def __init__(self) -> None:
        self.done: list[bytes | str] = []
        self._news = asyncio.Event()

    def write(self, data: bytes) -> None:
        """Note what is written."""
        self.done.append(data)
        self._news.set()

    def close(self) -> None:
        """Note that it is closed."""
        self.done.append("closed")
        self._news.set()

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return "closed" in self.done

    def get_extra_info(self, _name: str) -> None:
        """Nothing is known of it."""

    async def did(self, count: int) -> list[bytes | str]:
        """Return the recorded events once there are `count`."""
        async with asyncio.timeout(LIMIT_S):
            while len(self.done) < count:
                self._news.clear()
                await self._news.wait()
        return self.done


def speaking(app: ASGIApp) -> tuple[Any, Line]:
    """Open a connection; yield the server's protocol and the transport."""
    config = uvicorn.Config(app, http=BufferedHttpProtocol, lifespan="off", ws="none", log_config=None)
    config.load()
    protocol: Any = BufferedHttpProtocol(config=config, server_state=ServerState(), app_state={})
    line = Line()
    protocol.connection_made(line)
    return protocol, line


async def test_head_and_body_are_written_at_once() -> None:
    protocol, line = speaking(Response("heard"))
    protocol.data_received(REQUEST)
    (whole,) = await line.did(1)
    assert isinstance(whole, bytes)
    assert whole.startswith(b"HTTP/1.1 200 OK\r\n") and whole.endswith(b"\r\n\r\nheard")


async def test_the_line_is_closed_behind_the_answer() -> None:
    protocol, line = speaking(Response("heard"))
    protocol.data_received(LAST_REQUEST)
    whole, closed = await line.did(2)
    assert isinstance(whole, bytes) and whole.endswith(b"heard")
    assert closed == "closed"


async def test_a_part_of_a_stream_does_not_wait_for_the_next() -> None:
    more = asyncio.Event()

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await more.wait()
        await send({"type": "http.response.body", "body": b"second"})

    protocol, line = speaking(app)
    protocol.data_received(REQUEST)
    (first,) = await line.did(1)
    assert isinstance(first, bytes) and b"first" in first
    more.set()
    second = (await line.did(2))[1]
    assert isinstance(second, bytes) and b"second" in second
