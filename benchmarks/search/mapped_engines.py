"""Proxy that redirects every host name to the local engines, for a peer without host mapping."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_HEAD_LIMIT = 8_192
_CHUNK = 1 << 16
_READY = b"HTTP/1.1 200 Connection established\r\n\r\n"


@asynccontextmanager
async def redirecting_proxy(port: int) -> AsyncIterator[str]:
    """Run an HTTP proxy whose tunnels all end at one loopback port; yield its URL."""

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(_READY)
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))

    server = await asyncio.start_server(tunnel, "127.0.0.1", 0, limit=_HEAD_LIMIT)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
