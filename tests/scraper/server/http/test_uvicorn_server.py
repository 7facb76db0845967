"""Connections that were made before the end are answered, whenever they speak."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from scraper.server.http import connection_limits
from scraper.server.http.connection_limits import ConnectionTable
from scraper.server.http.uvicorn_server import BufferedHttpProtocol, GracefulServer, open_sockets
from tests.growth import assert_linear
from tests.scraper.process import LIMIT_S

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@contextlib.asynccontextmanager
async def open_doorway() -> AsyncIterator[tuple[GracefulServer, list[socket.socket]]]:
    """Start a server that answers every request; yield it with its port."""
    with open_sockets("127.0.0.1", 0) as sockets:
        doorway = GracefulServer(Response("heard"))
        serving = asyncio.create_task(doorway.serve(sockets))
        try:
            async with asyncio.timeout(LIMIT_S):
                while not doorway.started:  # noqa: ASYNC110 - uvicorn tells nobody
                    await asyncio.sleep(0.01)
            yield doorway, sockets
        finally:
            doorway.should_exit = True
            await serving


async def test_a_connection_in_the_backlog_is_answered() -> None:
    async with open_doorway() as (doorway, sockets):
        # In one go, so that the server cannot have seen them before it is told to shut.
        clients = [socket.create_connection(sockets[0].getsockname()) for _ in range(20)]
        for client in clients:
            client.sendall(REQUEST)
        await doorway.drain(sockets, LIMIT_S)
        for client in clients:
            with client:
                assert (await received(client)).endswith(b"heard")


async def test_a_connection_without_a_request_yet_is_served() -> None:
    async with open_doorway() as (doorway, sockets):
        with socket.create_connection(sockets[0].getsockname()) as client:
            shutting = asyncio.create_task(doorway.drain(sockets, LIMIT_S))
            await asyncio.sleep(0.2)
            assert not shutting.done()
            client.sendall(REQUEST)
            assert (await received(client)).endswith(b"heard")
            async with asyncio.timeout(LIMIT_S):
                await shutting


async def test_later_connections_are_ignored_and_silent_ones_do_not_delay() -> None:
    async with open_doorway() as (doorway, sockets):
        address = sockets[0].getsockname()
        with socket.create_connection(address):
            await doorway.drain(sockets, 0.1)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address, timeout=LIMIT_S)


async def received(client: socket.socket) -> bytes:
    """All that the server says, until it hangs up."""
    loop, text = asyncio.get_running_loop(), b""
    client.setblocking(False)
    async with asyncio.timeout(LIMIT_S):
        while part := await loop.sock_recv(client, 65_536):
            text += part
    return text


KEPT_ALIVE_REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
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
    protocol: Any = BufferedHttpProtocol(
        config=config, server_state=ServerState(), app_state={}, table=ConnectionTable()
    )
    line = Line()
    protocol.connection_made(line)
    return protocol, line


async def test_a_connection_costs_the_same_beside_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS", 10_000)
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS_PER_ADDRESS", 10_000)
    config = uvicorn.Config(Response("heard"), http=BufferedHttpProtocol, lifespan="off", ws="none", log_config=None)
    config.load()

    def connect(number: int) -> None:
        state, table = ServerState(), ConnectionTable()
        protocols = [
            BufferedHttpProtocol(config=config, server_state=state, app_state={}, table=table) for _ in range(number)
        ]
        for protocol in protocols:
            protocol.connection_made(cast(Any, Line()))
        for protocol in protocols:
            protocol.connection_lost(None)

    assert_linear(connect, lambda number: number, 8_000)


async def test_head_and_body_are_written_at_once() -> None:
    protocol, line = speaking(Response("heard"))
    protocol.data_received(KEPT_ALIVE_REQUEST)
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
    protocol.data_received(KEPT_ALIVE_REQUEST)
    (first,) = await line.did(1)
    assert isinstance(first, bytes) and b"first" in first
    more.set()
    second = (await line.did(2))[1]
    assert isinstance(second, bytes) and b"second" in second
