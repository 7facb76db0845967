"""Limits of a visit and of a listener: bytes, idle time, connections."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack

import pytest

from browsers.egress import proxy_listener, relay
from browsers.egress.proxy_listener import ProxyLimits, ProxyListener
from browsers.egress.proxy_server import EgressProxy
from browsers.egress.traffic_log import FailureKind
from browsers.settings import BrowserSettings
from tests.browsers.egress.conftest import WIRE_BYTES, OpenListener
from tests.browsers.egress.wire import (
    GENERAL,
    NOT_ALLOWED,
    PATIENCE_S,
    SITE,
    SUCCEEDED,
    at,
    code,
    echo,
    hello,
    raw,
    request,
    served,
    settled,
    sockets_at,
    through,
)


async def test_early_data_is_counted(open_listener: OpenListener) -> None:
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port), wire_bytes=4)
        async with raw(listener) as conversation:
            await conversation.say(b"\x05\x01\x00" + request(SITE, 80) + b"early")
            await conversation.hear_all()
        assert listener.traffic.too_large
        await settled(lambda: not listener.connections and sockets_at(listener.port, port) == 0)
        assert _watched() <= _open(), "nobody watches a descriptor that is closed"
        listener.begin_visit(WIRE_BYTES)
        assert await code(listener, SITE) == SUCCEEDED


def _watched() -> set[int]:
    return set(asyncio.get_running_loop()._selector.get_map())  # type: ignore[attr-defined]


def _open() -> set[int]:
    return {int(name) for name in os.listdir("/dev/fd")}


async def test_slow_reader_causes_backpressure(open_listener: OpenListener) -> None:
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        while True:
            writer.write(bytes(1 << 20))
            await writer.drain()
            sent += 1 << 20

    async with served(pour) as port:
        listener = await open_listener(test_hosts=at(port), wire_bytes=1 << 40)
        async with through(listener, SITE) as conversation:
            conversation.reader._transport.pause_reading()  # type: ignore[attr-defined]
            await settled(lambda: listener.traffic.down_bytes > 0)
            before = -1
            async with asyncio.timeout(PATIENCE_S):
                while sent != before:
                    before = sent
                    await asyncio.sleep(0.2)
            assert 0 < listener.traffic.down_bytes < 64 << 20, "kernel buffers and one of ours"


async def test_byte_limit_closes_all_connections_of_the_visit(open_listener: OpenListener) -> None:
    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(bytes(65536))
            await writer.drain()

    async with served(pour) as port, served(echo) as other:
        hosts = (*at(port), ("other.example.com", "127.0.0.1", other))
        listener = await open_listener(test_hosts=hosts, wire_bytes=1_000_000)
        async with through(listener, "other.example.com") as idle, through(listener, SITE) as greedy:
            assert len(await greedy.hear_all()) <= 1_000_000
            assert await idle.hear_all() == b""
        assert listener.traffic.too_large
        assert await code(listener, "other.example.com") == GENERAL
        failure = listener.traffic.failure_for("other.example.com", 80)
        assert failure is not None
        assert failure.kind is FailureKind.TOO_LARGE
        fresh = listener.begin_visit(WIRE_BYTES)
        assert await code(listener, "other.example.com") == SUCCEEDED
        assert not fresh.too_large
        assert fresh.failures == ()


async def test_uploads_are_limited(open_listener: OpenListener) -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            pass

    async with served(swallow) as port:
        listener = await open_listener(test_hosts=at(port), wire_bytes=100_000)
        async with through(listener, SITE) as conversation:
            with pytest.raises(ConnectionError):
                for _ in range(1000):
                    await conversation.say(bytes(65536))
    assert listener.traffic.too_large


async def test_nothing_is_relayed_outside_a_visit() -> None:
    async with served(hello) as port:
        egress = EgressProxy(BrowserSettings(test_hosts=at(port)))
        listener = await egress.open_listener()
        assert await code(listener, SITE) == NOT_ALLOWED
        listener.begin_visit(WIRE_BYTES)
        assert await code(listener, SITE) == SUCCEEDED
        listener.end_visit()
        assert await code(listener, SITE) == NOT_ALLOWED
        await egress.close()


async def test_idle_connection_is_closed(open_listener: OpenListener) -> None:
    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with served(keep_silent) as port:
        listener = await open_listener(test_hosts=at(port))
        async with raw(listener) as mute, through(listener, SITE) as conversation:
            await conversation.say(b"GET / HTTP/1.1\r\n\r\n")
            await settled(lambda: listener.traffic.up_bytes > 0 and len(listener.connections) == 2)
            # Set the limit only now: earlier, a busy machine may pause for so long.
            lose_patience(listener, 0.1)
            assert await conversation.hear_all() == b""
            assert await mute.hear_all() == b""
    failure = listener.traffic.failure_for(SITE, 80)
    assert failure is not None
    assert failure.kind is FailureKind.IDLE


def lose_patience(listener: ProxyListener, idle_s: float) -> None:
    assert listener._timer is not None, "nobody would look who is silent"
    listener._timer.cancel()
    listener.idle_s = idle_s
    listener._close_idle()


class _Clock:
    """Replacement of the module `time` whose clock the test advances."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


async def test_active_connection_stays_open(open_listener: OpenListener, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock()
    for module in (proxy_listener, relay):
        monkeypatch.setattr(module, "time", clock)
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as conversation:
            for _ in range(4):
                await conversation.say(b"x")
                assert await conversation.hear(1) == b"x"
                clock.now += 0.9 * listener.idle_s
                lose_patience(listener, listener.idle_s)
            assert len(listener.connections) == 1
            clock.now += 0.2 * listener.idle_s
            lose_patience(listener, listener.idle_s)
            assert not listener.connections
    assert listener.traffic.failures == ()


async def test_connections_of_a_listener_are_limited(open_listener: OpenListener) -> None:
    async with served(echo) as port, AsyncExitStack() as stack:
        listener = await open_listener(test_hosts=at(port), limits=ProxyLimits(connections=3))
        for _ in range(3):
            assert (await stack.enter_async_context(through(listener, SITE))).code == SUCCEEDED
        async with raw(listener) as one_too_many:
            assert await one_too_many.hear_all() == b""
        assert listener.traffic.latest_failure is not None
        assert listener.traffic.latest_failure.kind is FailureKind.TOO_MANY_CONNECTIONS
