"""Connections that were made before the end are answered, whenever they speak."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest
from starlette.responses import Response

from scraper.server.http.sockets import listening
from scraper.server.http.uvicorn_server import GracefulServer
from tests.scraper.process import LIMIT_S

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@contextlib.asynccontextmanager
async def open_doorway() -> AsyncIterator[tuple[GracefulServer, list[socket.socket]]]:
    """Start a server that answers every request; yield it with its port."""
    with listening("127.0.0.1", 0) as sockets:
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


async def test_a_connection_that_nobody_has_accepted_yet_is_answered() -> None:
    async with open_doorway() as (doorway, sockets):
        # In one go, so that the server cannot have seen them before it is told to shut.
        clients = [socket.create_connection(sockets[0].getsockname()) for _ in range(20)]
        for client in clients:
            client.sendall(REQUEST)
        await doorway.shut(sockets, LIMIT_S)
        for client in clients:
            with client:
                assert (await heard(client)).endswith(b"heard")


async def test_a_connection_that_has_said_nothing_yet_is_heard() -> None:
    async with open_doorway() as (doorway, sockets):
        with socket.create_connection(sockets[0].getsockname()) as client:
            shutting = asyncio.create_task(doorway.shut(sockets, LIMIT_S))
            await asyncio.sleep(0.2)
            assert not shutting.done()
            client.sendall(REQUEST)
            assert (await heard(client)).endswith(b"heard")
            async with asyncio.timeout(LIMIT_S):
                await shutting


async def test_who_comes_after_that_finds_nobody_and_who_says_nothing_holds_nobody_up() -> None:
    async with open_doorway() as (doorway, sockets):
        address = sockets[0].getsockname()
        with socket.create_connection(address):
            await doorway.shut(sockets, 0.1)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address, timeout=LIMIT_S)


async def heard(client: socket.socket) -> bytes:
    """All that the server says, until it hangs up."""
    loop, said = asyncio.get_running_loop(), b""
    client.setblocking(False)
    async with asyncio.timeout(LIMIT_S):
        while part := await loop.sock_recv(client, 65_536):
            said += part
    return said
