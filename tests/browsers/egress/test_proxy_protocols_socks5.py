"""SOCKS5 messages to the listener, in pieces of any size, and invalid data."""

from __future__ import annotations

import asyncio
import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsers.egress import proxy_protocols
from tests.browsers.egress.conftest import OpenListener
from tests.browsers.egress.wire import (
    NOT_ALLOWED,
    SITE,
    SUCCEEDED,
    Silent,
    at,
    code,
    echo,
    hello,
    raw,
    request,
    served,
    settled,
)


async def test_early_data_is_forwarded(open_listener: OpenListener) -> None:
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port))
        async with raw(listener) as conversation:
            await conversation.say(b"\x05\x01\x00" + request(SITE, 80) + b"early")
            assert await conversation.hear(2) == b"\x05\x00"
            assert (await conversation.hear(10))[1] == SUCCEEDED
            assert await conversation.hear(5) == b"early"
    assert listener.traffic.up_bytes == 5


async def test_early_data_is_limited(open_listener: OpenListener) -> None:
    names = Silent()
    listener = await open_listener(names)
    async with raw(listener) as conversation:
        await conversation.say(b"\x05\x01\x00" + request("silent.example", 80))
        await settled(lambda: names.queries)
        conversation.writer.write(bytes(32 << 20))
        await asyncio.sleep(0.1)
        (passage,) = listener.connections
        assert len(passage._received) < 1 << 20
        # Without the abort, closing would wait until the other end has received everything.
        conversation.writer.transport.abort()
        names.speak.set()


async def test_request_is_parsed_byte_by_byte(open_listener: OpenListener) -> None:
    async with served(echo) as port:
        listener = await open_listener(test_hosts=at(port))
        async with raw(listener) as conversation:
            for byte in b"\x05\x02\x02\x00" + request(SITE, 80):
                await conversation.say(bytes((byte,)))
                await asyncio.sleep(0.001)
            assert await conversation.hear(2) == b"\x05\x00"
            assert (await conversation.hear(10))[1] == SUCCEEDED


@pytest.mark.parametrize(
    ("kind", "address"), [(1, socket.inet_aton("127.0.0.1")), (4, socket.inet_pton(socket.AF_INET6, "::1"))]
)
async def test_binary_addresses_are_checked(open_listener: OpenListener, kind: int, address: bytes) -> None:
    listener = await open_listener()
    async with raw(listener) as conversation:
        await conversation.say(b"\x05\x01\x00\x05\x01\x00" + bytes((kind,)) + address + b"\x00\x50")
        assert (await conversation.hear(12))[3] == NOT_ALLOWED


@pytest.mark.parametrize("command", [2, 3, 0, 255])
async def test_only_connect_is_supported(open_listener: OpenListener, command: int) -> None:
    listener = await open_listener()
    async with raw(listener) as conversation:
        await conversation.say(b"\x05\x01\x00" + request(SITE, 80, command))
        assert await conversation.hear_all() == b"\x05\x00" + proxy_protocols.COMMAND_NOT_SUPPORTED


async def test_greeting_with_only_authentication_is_rejected(open_listener: OpenListener) -> None:
    listener = await open_listener()
    async with raw(listener) as conversation:
        await conversation.say(b"\x05\x01\x02")
        assert await conversation.hear_all() == proxy_protocols.NO_METHOD


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
        pytest.param(os.urandom(64).replace(b"\x05", b"\x06"), id="random bytes"),
    ],
)
async def test_invalid_data_closes_only_its_connection(open_listener: OpenListener, garbage: bytes) -> None:
    async with served(hello) as port:
        listener = await open_listener(test_hosts=at(port))
        async with raw(listener) as conversation:
            await conversation.say(garbage)
            assert await conversation.hear_all() in (b"", proxy_protocols.NO_METHOD, proxy_protocols.METHOD_ACCEPTED)
        assert await code(listener, SITE) == SUCCEEDED


@given(st.binary(max_size=600))
def test_any_bytes_are_parsed_rejected_or_incomplete(data: bytes) -> None:
    for understand in (proxy_protocols.parse_socks5_greeting, proxy_protocols.parse_socks5_request):
        try:
            understand(data)
        except proxy_protocols.Socks5Error as garbage:
            assert len(garbage.reply) in (0, 2, 10)


@given(st.integers(0, 65535), st.from_regex(r"[a-z0-9.-]{1,255}", fullmatch=True), st.binary(max_size=9))
def test_request_round_trip(port: int, host: str, rest: bytes) -> None:
    data = request(host, port)
    assert proxy_protocols.parse_socks5_request(data + rest) == (host, port, len(data))
    assert all(proxy_protocols.parse_socks5_request(data[:n]) is None for n in range(len(data)))
