"""The gate: what it understands, what it counts, what it cuts, and that nothing is left when it closes."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from contextlib import AsyncExitStack

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from browsers.egress import Egress, Failure, FailureKind, Gate, WallLimits, ledger, socks
from browsers.egress.ledger import Denied
from browsers.egress.opened import Opened
from browsers.settings import BrowserSettings
from tests.browsers.egress.conftest import WIRE_BYTES, OpenGate
from tests.browsers.egress.wire import (
    EXPIRED,
    GENERAL,
    NOT_ALLOWED,
    PATIENCE_S,
    REFUSED,
    SUCCEEDED,
    Silent,
    code,
    echo,
    free_port,
    hello,
    raw,
    request,
    reset,
    served,
    settled,
    through,
)

SITE = "www.example.com"


def at(port: int) -> tuple[tuple[str, str, int], ...]:
    return ((SITE, "127.0.0.1", port),)


async def test_bytes_pass_in_both_directions_and_are_counted(open_gate: OpenGate) -> None:
    said = random.Random(7).randbytes(3_000_000)
    async with served(echo) as port:
        gate = await open_gate(test_hosts=at(port))
        async with through(gate, SITE) as conversation:
            saying = asyncio.ensure_future(conversation.say(said))
            assert await conversation.hear(len(said)) == said
            await saying
    assert gate.ledger.down_bytes == gate.ledger.up_bytes == len(said)
    assert gate.ledger.connections == 1
    assert gate.ledger.failures == ()


async def test_what_is_said_before_the_answer_is_not_lost(open_gate: OpenGate) -> None:
    async with served(echo) as port:
        gate = await open_gate(test_hosts=at(port))
        async with raw(gate) as conversation:
            await conversation.say(b"\x05\x01\x00" + request(SITE, 80) + b"early")
            assert await conversation.hear(2) == b"\x05\x00"
            assert (await conversation.hear(10))[1] == SUCCEEDED
            assert await conversation.hear(5) == b"early"
    assert gate.ledger.up_bytes == 5


async def test_what_is_said_too_early_counts_too(open_gate: OpenGate) -> None:
    async with served(echo) as port:
        gate = await open_gate(test_hosts=at(port), wire_bytes=4)
        watched = _watched()
        async with raw(gate) as conversation:
            await conversation.say(b"\x05\x01\x00" + request(SITE, 80) + b"early")
            await conversation.hear_all()
        assert gate.ledger.too_large
        await settled(lambda: not gate._passages and _watched() <= watched)
        gate.begin(WIRE_BYTES)
        assert await code(gate, SITE) == SUCCEEDED


def _watched() -> int:
    return len(asyncio.get_running_loop()._selector.get_map())  # type: ignore[attr-defined]


async def test_who_says_much_before_the_answer_is_held_back(open_gate: OpenGate) -> None:
    names = Silent()
    gate = await open_gate(names)
    async with raw(gate) as conversation:
        await conversation.say(b"\x05\x01\x00" + request("silent.example", 80))
        await settled(lambda: names.asked)
        conversation.writer.write(bytes(32 << 20))
        await asyncio.sleep(0.1)
        (passage,) = gate._passages
        assert len(passage._heard) < 1 << 20
    names.speak.set()


async def test_a_browser_that_gives_up_is_noticed_while_its_connection_is_opened(
    open_gate: OpenGate,
) -> None:
    names = Silent()
    gate = await open_gate(names)
    async with raw(gate) as conversation:
        await conversation.say(b"\x05\x01\x00" + request("silent.example", 80))
        await settled(lambda: names.asked)
    await settled(lambda: not gate._passages)
    names.speak.set()


async def test_a_request_that_comes_byte_by_byte_is_understood(open_gate: OpenGate) -> None:
    async with served(echo) as port:
        gate = await open_gate(test_hosts=at(port))
        async with raw(gate) as conversation:
            for byte in b"\x05\x02\x02\x00" + request(SITE, 80):
                await conversation.say(bytes((byte,)))
                await asyncio.sleep(0.001)
            assert await conversation.hear(2) == b"\x05\x00"
            assert (await conversation.hear(10))[1] == SUCCEEDED


@pytest.mark.parametrize(
    ("kind", "address"),
    [(1, socket.inet_aton("127.0.0.1")), (4, socket.inet_pton(socket.AF_INET6, "::1"))],
)
async def test_addresses_in_binary_are_judged_too(open_gate: OpenGate, kind: int, address: bytes) -> None:
    gate = await open_gate()
    async with raw(gate) as conversation:
        await conversation.say(b"\x05\x01\x00\x05\x01\x00" + bytes((kind,)) + address + b"\x00\x50")
        assert (await conversation.hear(12))[3] == NOT_ALLOWED


async def test_one_side_may_end_before_the_other(open_gate: OpenGate) -> None:
    async def answer_after_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = await reader.read()
        writer.write(heard[::-1])
        await writer.drain()

    async with served(answer_after_the_end) as port:
        gate = await open_gate(test_hosts=at(port))
        async with through(gate, SITE) as conversation:
            await conversation.say(b"abc")
            conversation.writer.write_eof()
            assert await conversation.hear_all() == b"cba"


async def test_a_site_may_end_while_the_browser_goes_on(open_gate: OpenGate) -> None:
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def end_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write_eof()
        heard.set_result(await reader.read())

    async with served(end_first) as port:
        gate = await open_gate(test_hosts=at(port))
        async with through(gate, SITE) as conversation:
            assert await conversation.hear_all() == b""
            await conversation.say(b"still here")
            conversation.writer.write_eof()
            assert await asyncio.wait_for(heard, PATIENCE_S) == b"still here"


async def test_a_reset_by_the_site_ends_the_connection(open_gate: OpenGate) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        reset(writer)

    async with served(break_off) as port:
        gate = await open_gate(test_hosts=at(port))
        async with through(gate, SITE) as conversation:
            await conversation.say(b"x")
            assert await conversation.hear_all() == b""
        await settled(lambda: not gate._passages)


async def test_a_slow_reader_holds_the_site_back_instead_of_filling_memory(open_gate: OpenGate) -> None:
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        while True:
            writer.write(bytes(1 << 20))
            await writer.drain()
            sent += 1 << 20

    async with served(pour) as port:
        gate = await open_gate(test_hosts=at(port), wire_bytes=1 << 40)
        async with through(gate, SITE) as conversation:
            conversation.reader._transport.pause_reading()  # type: ignore[attr-defined]
            await settled(lambda: gate.ledger.down_bytes > 0)
            before = -1
            async with asyncio.timeout(PATIENCE_S):
                while sent != before:
                    before = sent
                    await asyncio.sleep(0.2)
            assert 0 < gate.ledger.down_bytes < 64 << 20, "kernel buffers and one of ours"


async def test_at_the_limit_of_bytes_everything_of_the_visit_is_cut(open_gate: OpenGate) -> None:
    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(bytes(65536))
            await writer.drain()

    async with served(pour) as port, served(echo) as other:
        hosts = (*at(port), ("other.example.com", "127.0.0.1", other))
        gate = await open_gate(test_hosts=hosts, wire_bytes=1_000_000)
        async with through(gate, "other.example.com") as idle, through(gate, SITE) as greedy:
            assert len(await greedy.hear_all()) <= 1_000_000
            assert await idle.hear_all() == b""
        assert gate.ledger.too_large
        assert await code(gate, "other.example.com") == GENERAL
        failure = gate.ledger.failure_for("other.example.com", 80)
        assert failure is not None
        assert failure.kind is FailureKind.TOO_LARGE
        fresh = gate.begin(WIRE_BYTES)
        assert await code(gate, "other.example.com") == SUCCEEDED
        assert not fresh.too_large
        assert fresh.failures == ()


async def test_what_goes_up_is_limited_as_well(open_gate: OpenGate) -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            pass

    async with served(swallow) as port:
        gate = await open_gate(test_hosts=at(port), wire_bytes=100_000)
        async with through(gate, SITE) as conversation:
            with pytest.raises(ConnectionError):
                for _ in range(1000):
                    await conversation.say(bytes(65536))
    assert gate.ledger.too_large


async def test_nothing_passes_before_a_visit_has_begun() -> None:
    async with served(hello) as port:
        egress = Egress(BrowserSettings(test_hosts=at(port)))
        gate = await egress.open_gate()
        assert await code(gate, SITE) == NOT_ALLOWED
        gate.begin(WIRE_BYTES)
        assert await code(gate, SITE) == SUCCEEDED
        await egress.close()


async def test_a_connection_on_which_nobody_speaks_is_closed(open_gate: OpenGate) -> None:
    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with served(keep_silent) as port:
        gate = await open_gate(test_hosts=at(port), limits=WallLimits(idle_s=0.1))
        async with raw(gate) as mute, through(gate, SITE) as conversation:
            await conversation.say(b"GET / HTTP/1.1\r\n\r\n")
            assert await conversation.hear_all() == b""
            assert await mute.hear_all() == b""
    failure = gate.ledger.failure_for(SITE, 80)
    assert failure is not None
    assert failure.kind is FailureKind.IDLE
    assert gate.ledger.idle_s > 0


async def test_a_connection_on_which_somebody_speaks_is_kept(open_gate: OpenGate) -> None:
    async with served(echo) as port:
        gate = await open_gate(test_hosts=at(port), limits=WallLimits(idle_s=1.0))
        async with through(gate, SITE) as conversation:
            for _ in range(17):
                await conversation.say(b"x")
                assert await conversation.hear(1) == b"x"
                await asyncio.sleep(0.1)
    assert gate.ledger.failures == ()


async def test_a_gate_takes_only_so_many_connections_at_once(open_gate: OpenGate) -> None:
    async with served(echo) as port, AsyncExitStack() as stack:
        gate = await open_gate(test_hosts=at(port), limits=WallLimits(connections=3))
        for _ in range(3):
            assert (await stack.enter_async_context(through(gate, SITE))).code == SUCCEEDED
        async with raw(gate) as one_too_many:
            assert await one_too_many.hear_all() == b""
        assert gate.ledger.latest_failure is not None
        assert gate.ledger.latest_failure.kind is FailureKind.TOO_MANY_CONNECTIONS


@pytest.mark.parametrize("command", [2, 3, 0, 255])
async def test_nothing_but_connect_is_served(open_gate: OpenGate, command: int) -> None:
    gate = await open_gate()
    async with raw(gate) as conversation:
        await conversation.say(b"\x05\x01\x00" + request(SITE, 80, command))
        assert await conversation.hear_all() == b"\x05\x00" + socks.REFUSED_COMMAND


async def test_a_caller_who_offers_only_passwords_is_told_so(open_gate: OpenGate) -> None:
    gate = await open_gate()
    async with raw(gate) as conversation:
        await conversation.say(b"\x05\x01\x02")
        assert await conversation.hear_all() == socks.NO_METHOD


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n",
        b"CONNECT www.example.com:80 HTTP/1.1\r\n\r\n",
        b"\x04\x01\x00\x50\x08\x08\x08\x08\x00",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"\x05\x00",
        b"\x05\x01\x00\x05\x01\x00\x02\x00\x50",
        b"\x05\x01\x00\x05\x01\x00\x03\x00\x00\x50",
        b"\x05\x01\x00\x04\x01\x00\x03\x01a\x00\x50",
        bytes(100_000),
        os.urandom(64).replace(b"\x05", b"\x06"),
    ],
)
async def test_garbage_is_hung_up_on_and_the_gate_goes_on(open_gate: OpenGate, garbage: bytes) -> None:
    async with served(hello) as port:
        gate = await open_gate(test_hosts=at(port))
        async with raw(gate) as conversation:
            await conversation.say(garbage)
            assert await conversation.hear_all() in (b"", socks.NO_METHOD, socks.GREETED)
        assert await code(gate, SITE) == SUCCEEDED


@given(st.binary(max_size=600))
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_any_bytes_are_understood_refused_or_waited_for(data: bytes) -> None:
    for understand in (socks.greeting, socks.request):
        try:
            understand(data)
        except socks.Garbage as garbage:
            assert len(garbage.answer) in (0, 2, 10)


@given(st.integers(0, 65535), st.from_regex(r"[a-z0-9.-]{1,255}", fullmatch=True), st.binary(max_size=9))
def test_a_request_is_read_back_as_it_was_written(port: int, host: str, rest: bytes) -> None:
    data = request(host, port)
    assert socks.request(data + rest) == (host, port, len(data))
    assert all(socks.request(data[:n]) is None for n in range(len(data)))


async def test_connections_can_be_dropped_in_whatever_state_they_are(open_gate: OpenGate) -> None:
    names = Silent()
    async with served(echo) as port:
        gate = await open_gate(names, test_hosts=at(port))
        async with raw(gate) as greeting, raw(gate) as opening, through(gate, SITE) as joined:
            await settled(lambda: len(gate._passages) == 3)
            await opening.say(b"\x05\x01\x00" + request("silent.example", 80))
            gate.drop_connections()
            for conversation in (greeting, opening, joined):
                assert await conversation.hear_all() in (b"", socks.GREETED)
        assert not gate._passages
        assert await code(gate, SITE) == SUCCEEDED, "the gate itself stays open"
    names.speak.set()


async def test_a_closed_gate_is_gone(open_gate: OpenGate) -> None:
    async with served(echo) as port:
        gate = await open_gate(test_hosts=at(port))
        async with through(gate, SITE) as conversation:
            await gate.close()
            assert await conversation.hear_all() == b""
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", gate.port)
    await gate.close()


async def test_closing_during_a_lookup_leaves_nothing_behind(open_gate: OpenGate) -> None:
    names = Silent()
    gate = await open_gate(names)
    async with raw(gate) as conversation:
        await conversation.say(b"\x05\x01\x00" + request("silent.example", 80))
        await conversation.hear(2)
        await settled(lambda: names.asked)
        (passage,) = gate._passages
        await gate.close()
        assert await conversation.hear_all() == b""
        assert passage._opening is not None
        assert passage._opening.done()
    names.speak.set()


async def test_a_thousand_short_connections_leave_no_socket_open(open_gate: OpenGate) -> None:
    async with served(hello) as port:
        gate = await open_gate(test_hosts=at(port))
        await _fetch(gate)
        before = _descriptors()
        for _ in range(50):
            await asyncio.gather(*(_fetch(gate) for _ in range(20)))
        await settled(lambda: not gate._passages and _descriptors() <= before)
        assert gate.ledger.connections == 1001


async def _fetch(gate: Gate) -> None:
    async with through(gate, SITE) as conversation:
        await conversation.say(b"GET / HTTP/1.1\r\n\r\n")
        assert (await conversation.hear_all()).endswith(b"hello")


def _descriptors() -> int:
    return len(os.listdir("/dev/fd"))


async def test_a_refused_connection_is_told_to_the_browser_and_the_ledger(open_gate: OpenGate) -> None:
    gate = await open_gate(test_hosts=at(free_port()))
    assert await code(gate, SITE, 443) == REFUSED
    failure = gate.ledger.failure_for(SITE.upper() + ".", 443)
    assert failure is not None
    assert (failure.kind, failure.host, failure.port) == (FailureKind.CONNECTION_REFUSED, SITE, 443)
    assert gate.ledger.failure_for(SITE, 80) is None


async def test_a_host_that_is_reached_after_all_has_no_failure(open_gate: OpenGate) -> None:
    async with served(echo) as port:
        gate = await open_gate(test_hosts=at(port), limits=WallLimits(connections=64))
        gate._connector, working = _Refusing(), gate._connector
        assert await code(gate, SITE) == EXPIRED
        assert gate.ledger.failure_for(SITE, 80) is not None
        gate._connector = working
        assert await code(gate, SITE) == SUCCEEDED
        assert gate.ledger.failure_for(SITE, 80) is None


class _Refusing:
    async def connect(self, host: str, port: int) -> Opened:
        raise Denied(FailureKind.CONNECT_TIMEOUT, host, port)


async def test_each_gate_has_a_port_and_a_ledger_of_its_own() -> None:
    egress = Egress(BrowserSettings())
    one, two = await egress.open_gate(), await egress.open_gate()
    assert one.port != two.port
    assert one.proxy_server == f"socks5://127.0.0.1:{one.port}"
    assert one.begin(1) is not two.begin(1)
    assert await code(one, "127.0.0.1") == NOT_ALLOWED
    assert two.ledger.failures == ()
    await egress.close()


async def test_a_ledger_keeps_only_so_many_failures(open_gate: OpenGate) -> None:
    gate = await open_gate()
    for n in range(ledger.FAILURES_KEPT + 10):
        gate.ledger.record(Failure(FailureKind.IDLE, f"{n}.example", 80))
    assert len(gate.ledger.failures) == ledger.FAILURES_KEPT
    assert gate.ledger.failures[0].host == "10.example"
