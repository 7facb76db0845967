"""The browser's side of a connection, and test sites and resolvers."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from browsers.egress.dns_resolver import DnsResolver
from browsers.egress.proxy_listener import ProxyListener

PATIENCE_S = 10.0
"""Seconds, far more than any test takes. It only proves that nothing hangs."""

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

SITE = "www.example.com"

SUCCEEDED, GENERAL, NOT_ALLOWED, UNREACHABLE, NO_HOST, REFUSED, EXPIRED = 0, 1, 2, 3, 4, 5, 6


@dataclass
class Conversation:
    """One connection through a listener; `code` is the SOCKS5 reply."""

    code: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def hear(self, count: int) -> bytes:
        return await asyncio.wait_for(self.reader.readexactly(count), PATIENCE_S)

    async def hear_all(self) -> bytes:
        with suppress(ConnectionError):
            return await asyncio.wait_for(self.reader.read(), PATIENCE_S)
        return b""


def at(port: int) -> tuple[tuple[str, str, int], ...]:
    """Return the test host entry of a site on this port."""
    return ((SITE, "127.0.0.1", port),)


def request(host: str, port: int, command: int = 1) -> bytes:
    """Build a SOCKS5 request by name, as Chromium sends for names and addresses alike."""
    name = host.encode("latin-1")
    return bytes((5, command, 0, 3, len(name))) + name + port.to_bytes(2, "big")


@asynccontextmanager
async def raw(listener: ProxyListener) -> AsyncIterator[Conversation]:
    """Open a connection to the listener without sending anything."""
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    try:
        yield Conversation(-1, reader, writer)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def through(listener: ProxyListener, host: str, port: int = 80) -> AsyncIterator[Conversation]:
    """Open a connection through the listener to a host and port."""
    async with raw(listener) as conversation:
        await conversation.say(b"\x05\x01\x00")
        assert await conversation.hear(2) == b"\x05\x00"
        await conversation.say(request(host, port))
        conversation.code = (await conversation.hear(10))[1]
        yield conversation


async def code(listener: ProxyListener, host: str, port: int = 80) -> int:
    """Return the SOCKS5 reply for a host and port."""
    async with through(listener, host, port) as conversation:
        return conversation.code


async def settled(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for knows nothing of events
            await asyncio.sleep(0.005)


@asynccontextmanager
async def served(handler: Handler, port: int = 0) -> AsyncIterator[int]:
    """Run a server on loopback and yield its port. Its connections end with it."""
    talking: set[asyncio.Task[None]] = set()

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            try:
                await handler(reader, writer)
            finally:
                writer.close()

    def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(guarded(reader, writer))
        talking.add(task)
        task.add_done_callback(talking.discard)

    server = await asyncio.start_server(talk, "127.0.0.1", port)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Echo all data until the other side has ended."""
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a small response to one request."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    await writer.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with a reset instead of an end."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def sockets_at(*ports: int) -> int:
    """Count the sockets of this process that are connected from or to one of these ports."""
    names = [name for name in os.listdir("/dev/fd") if _is_socket(int(name))]
    return sum(not _ends(int(name)).isdisjoint(ports) for name in names)


def _is_socket(descriptor: int) -> bool:
    with suppress(OSError):
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    return False


def _ends(descriptor: int) -> set[int]:
    """Return the ports of a connection, or none for other sockets."""
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as end:
        if end.family in (socket.AF_INET, socket.AF_INET6):
            return {end.getsockname()[1], end.getpeername()[1]}
    return set()


class Names(DnsResolver):
    """A resolver with fixed answers: each name's answers in order, then the last one forever."""

    def __init__(self, **answers: Sequence[str] | Sequence[Sequence[str]] | OSError) -> None:
        self.queries: list[str] = []
        self._answers = {name.replace("_", "."): answer for name, answer in answers.items()}

    def resolve(self, host: str) -> Sequence[str]:
        self.queries.append(host)
        answer = self._answers.get(host)
        if answer is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if isinstance(answer, OSError):
            raise answer
        turns = [[one] if isinstance(one, str) else list(one) for one in answer]
        if all(isinstance(one, str) for one in answer):
            return [str(one) for one in answer]
        return turns[min(self.queries.count(host), len(turns)) - 1]


class Silent(DnsResolver):
    """A resolver that answers nothing until the test allows it."""

    def __init__(self) -> None:
        self.queries = False
        self.speak = threading.Event()

    def resolve(self, host: str) -> Sequence[str]:
        self.queries = True
        self.speak.wait(PATIENCE_S)
        return []
