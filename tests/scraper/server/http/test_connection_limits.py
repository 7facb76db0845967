"""Limits apply to connections before their request is complete."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from scraper.server.http import connection_limits
from scraper.server.http.connection_limits import MAX_HEAD_BYTES, MAX_HEADER_FIELDS, MAX_PIPELINED, MAX_URL_BYTES
from scraper.server.http.uvicorn_server import GracefulServer, open_sockets
from tests.scraper.process import LIMIT_S

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Return the size of the body and the names of the headers, which it reads after it; `/early` ignores both."""
    request = Request(scope, receive)
    if scope["path"] == "/early":
        await PlainTextResponse("refused", 401)(scope, receive, send)
        return
    body = await request.body()
    names = ",".join(name for name, _ in request.headers.items())
    if scope["path"] == "/stream":
        await StreamingResponse(iter(["parts: ", names]))(scope, receive, send)
        return
    await PlainTextResponse(f"{len(body)} {names}")(scope, receive, send)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """Start a server."""
    with open_sockets("127.0.0.1", 0) as sockets:
        server = GracefulServer(app)
        serving = asyncio.create_task(server.serve(sockets))
        try:
            async with asyncio.timeout(LIMIT_S):
                while not server.started:  # noqa: ASYNC110 - uvicorn has no event
                    await asyncio.sleep(0.01)
            yield sockets[0].getsockname()[1]
        finally:
            server.should_exit = True
            await serving


UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
NEXT = HEAD + b"Content-Length: 2\r\nConnection: close\r\n\r\nab"


@pytest.mark.parametrize(
    "upgrade",
    [UPGRADE, b"Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n", b"Upgrade: foo\r\nConnection: upgrade\r\n"],
)
@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_request_to_upgrade_is_read_without_it(
    port: int, upgrade: bytes, is_split: bool, is_chunked: bool
) -> None:
    framing = b"Transfer-Encoding: chunked\r\n" if is_chunked else b"Content-Length: 5\r\n"
    body = b"5\r\nhello\r\n0\r\n\r\n" if is_chunked else b"hello"
    parts = [HEAD + upgrade + framing + b"\r\n", body, NEXT]
    answer = await response_to(port, *(parts if is_split else [b"".join(parts)]))
    assert answer.count("HTTP/1.1 200 OK") == 2 and "\r\n\r\n5 host" in answer and "\r\n\r\n2 host" in answer
    assert "upgrade" not in answer


async def test_a_response_to_http_1_0_ends_with_its_connection(port: int) -> None:
    for path in (b"/", b"/stream"):
        answer = await response_to(port, b"GET " + path + b" HTTP/1.0\r\nHost: localhost\r\n\r\n")
        head, _, body = answer.lower().partition("\r\n\r\n")
        assert "transfer-encoding" not in head and head.count("connection:") == 1 and body.endswith("host")


async def response_to(port: int, *parts: bytes) -> str:
    """Send parts of a request and return everything that the server sends until it closes."""
    return await asyncio.to_thread(_exchange, port, parts)


def _exchange(port: int, parts: Sequence[bytes]) -> str:
    # Not with asyncio: its reader loses what has arrived when a write fails, because the server closed early.
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) as connection:
        with contextlib.suppress(ConnectionError):
            for part in parts:
                connection.sendall(part)
        received = bytearray()
        with contextlib.suppress(ConnectionError):
            while data := connection.recv(65_536):
                received += data
    return received.decode()


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([b"GET /" + b"a" * MAX_URL_BYTES + b" HTTP/1.1\r\n\r\n"], 414),
        ([HEAD + b"X: 1\r\n" * MAX_HEADER_FIELDS + b"\r\n"], 431),
        ([HEAD + b"X: " + b"a" * MAX_HEAD_BYTES + b"\r\n\r\n"], 431),
        ([HEAD + b"X: ", *[b"a" * 65_536] * 800], 431),
        ([b"GET /", *[b"a" * 65_536] * 100], 414),
        ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;x=", *[b"a" * 65_536] * 100], 400),
        ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", *[b"a" * 65_536] * 100], 400),
        ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;x=" + b"a" * 150_000 + b"\r\na\r\n0\r\n\r\n"], 400),
        ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 25_000 + b"\r\n"], 400),
        ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], 400),
    ],
)
async def test_a_request_beyond_a_limit_is_rejected(port: int, parts: list[bytes], status: int) -> None:
    answer = await response_to(port, *parts)
    assert answer.startswith(f"HTTP/1.1 {status} ") and "connection: close" in answer


async def test_requests_at_the_limits_are_answered(port: int) -> None:
    url = b"/" + b"a" * (MAX_URL_BYTES - 1)
    fields = b"X: 1\r\n" * (MAX_HEADER_FIELDS - 2)
    assert " 200 OK" in await response_to(port, b"GET " + url + b" HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n")
    assert " 200 OK" in await response_to(
        port, b"GET / HTTP/1.1\r\nHost: l\r\nConnection: close\r\n" + fields + b"\r\n"
    )
    body = b"10\r\n" + b"a" * 16 + b"\r\n"
    chunked = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + body * 50_000 + b"0\r\n\r\n"
    assert "800000 " in await response_to(port, chunked)


async def test_a_trailer_is_not_a_header(port: int) -> None:
    head = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n"
    answer = await response_to(port, head + b"1\r\na\r\n0\r\nAuthorization: Bearer token\r\n\r\n")
    assert "1 host,connection,transfer-encoding,trailer" in answer and "authorization" not in answer


async def test_few_requests_wait_on_one_connection(port: int) -> None:
    request, last = b"GET / HTTP/1.1\r\nHost: l\r\n\r\n", b"GET / HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n"
    assert (await response_to(port, request * 10 + last)).count(" 200 OK") == 11
    assert (await response_to(port, request * 2_000 + last)).count(" 200 OK") < MAX_PIPELINED


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: loc", "408"),
        (b"", ""),
        (b"\r\n\r\n", ""),
        (HEAD + b"Content-Length: 5\r\n\r\nab", "408"),
    ],
)
async def test_an_incomplete_request_ends_after_a_time(
    port: int, sent: bytes, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "HEAD_S", 0.2)
    monkeypatch.setattr(connection_limits, "BODY_PAUSE_S", 0.2)
    answer = await response_to(port, sent)
    assert answer.startswith(f"HTTP/1.1 {status} ") if status else answer == ""


async def test_a_slow_body_that_makes_progress_is_read(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "BODY_PAUSE_S", 1.0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(HEAD + b"Connection: close\r\nContent-Length: 8\r\n\r\n")
    for _ in range(8):
        await asyncio.sleep(0.25)
        writer.write(b"a")
    async with asyncio.timeout(LIMIT_S):
        assert b"\r\n8 " in await reader.read()
    writer.close()


@pytest.mark.parametrize("first", [b"GET / HTTP/1.1\r\n", b""])
async def test_a_new_connection_replaces_the_one_that_waited_longest(
    port: int, monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS_PER_ADDRESS", 5)
    waiting = []
    for _ in range(9):
        waiting.append(await asyncio.open_connection("127.0.0.1", port))
        waiting[-1][1].write(first)
        await asyncio.sleep(0.02)
    assert " 200 OK" in await response_to(port, b"GET / HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n")
    async with asyncio.timeout(LIMIT_S):
        with contextlib.suppress(ConnectionError):
            assert await waiting[0][0].read() == b""
    rest = b"Host: l\r\nConnection: close\r\n\r\n"
    waiting[-1][1].write(rest if first else b"GET / HTTP/1.1\r\n" + rest)
    async with asyncio.timeout(LIMIT_S):
        assert b" 200 OK" in await waiting[-1][0].read()
    for _, writer in waiting:
        writer.close()


async def test_a_connection_is_refused_while_all_others_work(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS", 2)
    working = []
    for _ in range(2):
        working.append(await asyncio.open_connection("127.0.0.1", port))
        working[-1][1].write(HEAD + b"Content-Length: 5\r\n\r\nab")
    await asyncio.sleep(0.1)
    assert " 503 " in await response_to(port, b"GET / HTTP/1.1\r\nHost: l\r\n\r\n")
    for _, writer in working:
        writer.close()


EARLY = HEAD.replace(b" / ", b" /early ") + b"Content-Length: 1000\r\n\r\n"


async def test_a_body_after_its_response_does_not_hold_a_connection(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "BODY_PAUSE_S", 0.5)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(EARLY)

    async def send_slowly() -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await asyncio.sleep(0.05)
                writer.write(b"a")
                await writer.drain()

    sending = asyncio.create_task(send_slowly())
    async with asyncio.timeout(LIMIT_S):
        with contextlib.suppress(ConnectionError):
            assert b" 401 " in await reader.read()
    sending.cancel()
    writer.close()


async def test_bodies_after_their_responses_are_replaced(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS", 2)
    await _send_beside(port, EARLY)


async def test_slow_bodies_are_replaced(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS", 2)
    slow = HEAD + b"Content-Length: 1000\r\n\r\nab"
    with pytest.raises(AssertionError, match=" 503 "):
        await _send_beside(port, slow)
    monkeypatch.setattr(connection_limits, "is_slow", lambda fed_bytes, seconds: True)
    await _send_beside(port, slow)


async def _send_beside(port: int, incomplete: bytes) -> None:
    """Assert that a request is answered beside two incomplete ones."""
    others = []
    for _ in range(2):
        others.append(await asyncio.open_connection("127.0.0.1", port))
        others[-1][1].write(incomplete)
    await asyncio.sleep(0.1)
    answer = await response_to(port, b"GET / HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n")
    for _, writer in others:
        writer.close()
    assert " 200 OK" in answer


@pytest.mark.parametrize(
    ("fed_bytes", "seconds", "slow"), [(0, 9.0, False), (100, 11.0, True), (500 * 20, 19.0, False), (1_000, 60.0, True)]
)
def test_a_body_is_slow_below_a_rate(fed_bytes: int, seconds: float, slow: bool) -> None:
    assert connection_limits.is_slow(fed_bytes, seconds) is slow
