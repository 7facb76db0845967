"""A slow network connection: a TCP relay that delays all data in both directions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def slow_line(port: int, delay_s: float) -> AsyncIterator[int]:
    """Forward a new port to `port` with a delay; yield the new port."""
    running: set[asyncio.Task[None]] = set()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        for source, target in ((reader, there_writer), (there_reader, writer)):
            task = asyncio.create_task(_carry(source, target, delay_s))
            running.add(task)
            task.add_done_callback(running.discard)

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in list(running):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter, delay_s: float) -> None:
    """Copy data with a delay. Pieces overlap, because the latency is high and not the bandwidth low."""
    due: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    async def deliver() -> None:
        while True:
            at, data = await due.get()
            await asyncio.sleep(max(0.0, at - loop.time()))
            if not data:
                return
            target.write(data)
            await target.drain()

    delivering = asyncio.create_task(deliver())
    try:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65_536):
                due.put_nowait((loop.time() + delay_s, data))
        due.put_nowait((loop.time() + delay_s, b""))
        with contextlib.suppress(ConnectionError):
            await delivering
    finally:
        delivering.cancel()
        target.close()
