"""Upstream proxies like those of companies: with credentials and limited ports."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.browsers.egress.wire import served

USER, PASSWORD = "jürgen", "p@ss:wörd"
URL_CREDENTIALS = "j%C3%BCrgen:p%40ss%3Aw%C3%B6rd"
AUTHORIZATION = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class Proxy:
    """An upstream proxy that connects everything to one port and records its requests."""

    def __init__(self, site_port: int, *, open_to_all: bool = False) -> None:
        self.requests: list[str] = []
        self.heads: list[bytes] = []
        self.port = 0
        self.connect_ports = {443, 8080}
        self.answer: bytes | None = None
        self._site_port = site_port
        self._open_to_all = open_to_all

    async def http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        self.requests.append(f"{method} {target}")
        self.heads.append(head)
        if self.answer is not None:
            writer.write(self.answer)
            return
        if not self._open_to_all and f"Proxy-Authorization: {AUTHORIZATION}\r\n".encode() not in head:
            writer.write(b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n")
            return
        if method == "CONNECT" and int(target.rpartition(":")[2]) not in self.connect_ports:
            writer.write(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
            return
        first = b"" if method == "CONNECT" else head
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")
        await self._join(reader, writer, first)

    async def socks5(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = await reader.readexactly((await reader.readexactly(2))[1])
        expected = 0 if self._open_to_all else 2
        writer.write(bytes((5, expected if expected in methods else 0xFF)))
        if expected == 2:
            await reader.readexactly(1)
            user = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            right = (user.decode(), password.decode()) == (USER, PASSWORD)
            writer.write(bytes((1, 0 if right else 1)))
            if not right:
                return
        _, _, _, kind = await reader.readexactly(4)
        length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
        host = await reader.readexactly(length)
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.requests.append(f"{kind} {host.decode() if kind == 3 else host.hex()} {port}")
        if self.answer is not None:
            writer.write(self.answer)
            return
        writer.write(b"\x05\x00\x00\x03\x04abcd\x00\x00")
        await self._join(reader, writer, b"")

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._site_port)
        try:
            far_writer.write(first)
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            far_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


@asynccontextmanager
async def http_proxy(site_port: int, *, open_to_all: bool = False) -> AsyncIterator[Proxy]:
    """Run an HTTP proxy on loopback."""
    proxy = Proxy(site_port, open_to_all=open_to_all)
    async with served(proxy.http) as proxy.port:
        yield proxy


@asynccontextmanager
async def socks5_proxy(site_port: int, *, open_to_all: bool = False) -> AsyncIterator[Proxy]:
    """Run a SOCKS5 proxy on loopback."""
    proxy = Proxy(site_port, open_to_all=open_to_all)
    async with served(proxy.socks5) as proxy.port:
        yield proxy
