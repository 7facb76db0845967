"""A pause stops all traffic and breaks no connection."""

from __future__ import annotations

import asyncio

from tests.browsers.egress.conftest import OpenListener
from tests.browsers.egress.test_proxy_listener_limits import lose_patience
from tests.browsers.egress.wire import SITE, at, echo, raw, request, served, through

PART = bytes(range(256)) * 4096
"""A megabyte: more than the buffers of the sockets hold."""


async def test_no_byte_passes_during_a_pause_and_all_pass_after_it(open_listener: OpenListener) -> None:
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as older:
            await older.say(b"before")
            assert await older.hear(6) == b"before"
            listener.pause()
            await older.say(b"during")
            async with through(listener, SITE) as newer, raw(listener) as hasty:
                await newer.say(b"new")
                await hasty.say(b"\x05\x01\x00" + request(SITE, 80) + b"early")
                assert len(await hasty.hear(12)) == 12
                await asyncio.sleep(0.05)
                assert listener.traffic.down_bytes == 6
                listener.resume()
                assert await older.hear(6) == b"during"
                assert await newer.hear(3) == b"new"
                assert await hasty.hear(5) == b"early"


async def test_a_body_that_ends_during_a_pause_arrives_whole(open_listener: OpenListener) -> None:
    sent = asyncio.Event()

    async def send_and_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(3)
        for _ in range(8):
            writer.write(PART)
        writer.write_eof()
        sent.set()
        await writer.drain()

    async with served(send_and_end) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as conversation:
            conversation.reader._transport.pause_reading()  # type: ignore[attr-defined]
            await conversation.say(b"GET")
            await sent.wait()
            await asyncio.sleep(0.05)  # bytes that the browser does not take yet wait in the relay
            listener.pause()
            conversation.reader._transport.resume_reading()  # type: ignore[attr-defined]
            await asyncio.sleep(0.05)
            assert listener.traffic.down_bytes < 8 * len(PART)
            listener.resume()
            assert await conversation.hear_all() == 8 * PART


async def test_a_pause_does_not_count_as_idle(open_listener: OpenListener) -> None:
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as conversation:
            listener.pause()
            await asyncio.sleep(0.05)
            lose_patience(listener, 0.04)
            listener.idle_s = 60.0
            listener.resume()
            await conversation.say(b"still")
            assert await conversation.hear(5) == b"still"
