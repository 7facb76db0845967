"""The listener relays in both directions and leaves nothing open when it closes."""

from __future__ import annotations

import asyncio
import random

import pytest

from browsers.egress import proxy_protocols, traffic_log
from browsers.egress.proxy_listener import ProxyLimits, ProxyListener
from browsers.egress.proxy_server import EgressProxy
from browsers.egress.tcp_dialer import OpenConnection
from browsers.egress.traffic_log import ConnectionDeniedError, ConnectionFailure, FailureKind
from browsers.settings import BrowserSettings
from tests.browsers.egress.conftest import OpenListener
from tests.browsers.egress.wire import (
    EXPIRED,
    NOT_ALLOWED,
    PATIENCE_S,
    REFUSED,
    SITE,
    SUCCEEDED,
    Silent,
    at,
    code,
    echo,
    hello,
    raw,
    request,
    reset,
    served,
    settled,
    sockets_at,
    through,
)
from tests.growth import full_size


async def test_bytes_are_relayed_in_both_directions_and_counted(open_listener: OpenListener) -> None:
    sent = random.Random(7).randbytes(3_000_000)
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as conversation:
            saying = asyncio.ensure_future(conversation.say(sent))
            assert await conversation.hear(len(sent)) == sent
            await saying
    assert listener.traffic.down_bytes == listener.traffic.up_bytes == len(sent)
    assert listener.traffic.connections == 1
    assert listener.traffic.failures == ()


async def test_browser_close_is_detected_while_the_connection_opens(open_listener: OpenListener) -> None:
    names = Silent()
    listener = await open_listener(names)
    async with raw(listener) as conversation:
        await conversation.say(b"\x05\x01\x00" + request("silent.example", 80))
        await settled(lambda: names.queries)
    await settled(lambda: not listener.connections)
    names.speak.set()


async def test_browser_may_end_before_the_site(open_listener: OpenListener) -> None:
    async def answer_after_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received = await reader.read()
        writer.write(received[::-1])
        await writer.drain()

    async with served(answer_after_the_end) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as conversation:
            await conversation.say(b"abc")
            conversation.writer.write_eof()
            assert await conversation.hear_all() == b"cba"


async def test_site_may_end_before_the_browser(open_listener: OpenListener) -> None:
    received: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def end_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write_eof()
        received.set_result(await reader.read())

    async with served(end_first) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as conversation:
            assert await conversation.hear_all() == b""
            await conversation.say(b"still here")
            conversation.writer.write_eof()
            assert await asyncio.wait_for(received, PATIENCE_S) == b"still here"


async def test_a_reset_by_the_site_ends_the_connection(open_listener: OpenListener) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        reset(writer)

    async with served(break_off) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as conversation:
            await conversation.say(b"x")
            assert await conversation.hear_all() == b""
        await settled(lambda: not listener.connections)


async def test_connections_can_be_dropped_in_any_state(open_listener: OpenListener) -> None:
    names = Silent()
    async with served(echo) as port:
        listener = await open_listener(names, test_hosts=at(port))
        async with raw(listener) as greeting, raw(listener) as opening, through(listener, SITE) as joined:
            await settled(lambda: len(listener.connections) == 3)
            await opening.say(b"\x05\x01\x00" + request("silent.example", 80))
            listener.drop_connections()
            for conversation in (greeting, opening, joined):
                assert await conversation.hear_all() in (b"", proxy_protocols.METHOD_ACCEPTED)
        assert not listener.connections
        assert await code(listener, SITE) == SUCCEEDED, "the gate itself stays open"
    names.speak.set()


async def test_closed_listener_refuses_connections(open_listener: OpenListener) -> None:
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port))
        async with through(listener, SITE) as conversation:
            await listener.close()
            assert await conversation.hear_all() == b""
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", listener.port)
    await listener.close()


async def test_closing_during_a_lookup_leaves_nothing_behind(open_listener: OpenListener) -> None:
    names = Silent()
    listener = await open_listener(names)
    async with raw(listener) as conversation:
        await conversation.say(b"\x05\x01\x00" + request("silent.example", 80))
        await conversation.hear(2)
        await settled(lambda: names.queries)
        (passage,) = listener.connections
        await listener.close()
        assert await conversation.hear_all() == b""
        assert passage.opening is not None
        assert passage.opening.done()
    names.speak.set()


@pytest.mark.parametrize("count", [200, full_size(1_000, id="1,000")])
async def test_many_short_connections_leave_no_socket_open(open_listener: OpenListener, count: int) -> None:
    async with served(hello) as port:
        listener = await open_listener(test_hosts=at(port))
        for _ in range(count // 20):
            await asyncio.gather(*(_fetch(listener) for _ in range(20)))
        # Count the sockets of this listener only: browsers that other tests share open and close others.
        await settled(lambda: not listener.connections and sockets_at(listener.port, port) == 0)
        assert listener.traffic.connections == count


async def _fetch(listener: ProxyListener) -> None:
    async with through(listener, SITE) as conversation:
        await conversation.say(b"GET / HTTP/1.1\r\n\r\n")
        assert (await conversation.hear_all()).endswith(b"hello")


async def test_refused_connection_is_reported_to_browser_and_traffic_log(
    open_listener: OpenListener, dead_port: int
) -> None:
    listener = await open_listener(test_hosts=at(dead_port))
    assert await code(listener, SITE, 443) == REFUSED
    failure = listener.traffic.failure_for(SITE.upper() + ".", 443)
    assert failure is not None
    assert (failure.kind, failure.host, failure.port) == (FailureKind.CONNECTION_REFUSED, SITE, 443)
    assert listener.traffic.failure_for(SITE, 80) is None


async def test_later_success_clears_the_failure(open_listener: OpenListener) -> None:
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port), limits=ProxyLimits(connections=64))
        listener._connect, working = _refuse, listener._connect
        assert await code(listener, SITE) == EXPIRED
        assert listener.traffic.failure_for(SITE, 80) is not None
        listener._connect = working
        assert await code(listener, SITE) == SUCCEEDED
        assert listener.traffic.failure_for(SITE, 80) is None


async def _refuse(host: str, port: int) -> OpenConnection:
    raise ConnectionDeniedError(FailureKind.CONNECT_TIMEOUT, host, port)


async def test_each_listener_has_its_own_port_and_traffic_log() -> None:
    egress = EgressProxy(BrowserSettings())
    one, two = await egress.open_listener(), await egress.open_listener()
    assert one.port != two.port
    assert one.proxy_server == f"socks5://127.0.0.1:{one.port}"
    assert one.begin_visit(1) is not two.begin_visit(1)
    assert await code(one, "127.0.0.1") == NOT_ALLOWED
    assert two.traffic.failures == ()
    await egress.close()


async def test_number_of_failures_in_a_traffic_log_is_limited(open_listener: OpenListener) -> None:
    listener = await open_listener()
    for n in range(traffic_log.MAX_FAILURES + 10):
        listener.traffic.record(ConnectionFailure(FailureKind.IDLE, f"{n}.example", 80))
    assert len(listener.traffic.failures) == traffic_log.MAX_FAILURES
    assert listener.traffic.failures[0].host == "10.example"
