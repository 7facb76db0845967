"""Responses that break the protocol below HTML: resets, silence, wrong lengths, invalid data."""

from __future__ import annotations

import asyncio
import socket
import struct
import zlib

from aiohttp import web

from tests.site.catalogue import Page
from tests.site.prose import paragraphs
from tests.site.services import FOREVER_S

_BODY = f"<!doctype html><title>Raw</title><main>{paragraphs('raw', 0, 10)}</main>".encode()
# Closing with this option set sends a reset instead of an orderly end.
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def _raw(path: str, about: str, reply: bytes, *, reset: bool = False, marks: int = 0) -> Page:
    """Create a page that sends `reply` unchanged and closes the connection."""

    async def answer(request: web.Request) -> web.Response:
        transport = request.transport
        assert transport is not None
        transport.write(reply)
        if reset:
            await asyncio.sleep(0.05)
            kernel = transport.get_extra_info("socket")
            kernel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            transport.abort()
        else:
            transport.close()
        return web.Response()

    return Page(path, about, answer, marks)


def _packed(body: bytes, end: int) -> bytes:
    packing = zlib.compressobj(wbits=31)
    return packing.compress(body) + packing.flush(end)


async def _never(request: web.Request) -> web.Response:
    await asyncio.sleep(FOREVER_S)
    return web.Response()


async def _stalls(request: web.Request) -> web.StreamResponse:
    coded, body = request.query.get("as"), b"" if "none" in request.query else _BODY
    response = web.StreamResponse(headers={"Content-Type": "text/html; charset=utf-8"})
    if coded == "gzip":
        # Send enough for the browser to decompress everything; the end follows later.
        body = _packed(body, zlib.Z_SYNC_FLUSH)
        response.headers["Content-Encoding"] = "gzip"
    if coded != "chunks":
        response.content_length = 2 * len(_BODY)
    await response.prepare(request)
    await response.write(body)
    await asyncio.sleep(FOREVER_S)
    return response


_OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
_HEAD = _OK + b"Content-Type: text/html; charset=utf-8\r\n"
_GZIP = _HEAD + b"Content-Encoding: gzip\r\n"
_HALF = _packed(_BODY, zlib.Z_SYNC_FLUSH)

PAGES = (
    _raw("/reset", "the connection is reset", b"", reset=True),
    _raw("/empty-reply", "the connection is closed without an answer", b""),
    Page("/never", "no answer, ever", _never),
    Page("/stalls", "half of the body, then silence: ?as=chunks, ?as=gzip, ?none=1 for not a byte", _stalls),
    _raw(
        "/short",
        "closed after half of the declared body",
        _HEAD + b"Content-Length: %d\r\n\r\n" % (2 * len(_BODY)) + _BODY,
    ),
    _raw(
        "/short-gzip",
        "closed after half of the declared body, which is compressed",
        _GZIP + b"Content-Length: %d\r\n\r\n" % (2 * len(_HALF)) + _HALF,
    ),
    _raw(
        "/long-gzip",
        "compressed, with the length that it had before",
        _GZIP + b"Content-Length: %d\r\n\r\n" % len(_BODY) + _packed(_BODY, zlib.Z_FINISH),
    ),
    _raw(
        "/reset-midway",
        "reset in the middle of the body",
        _HEAD + b"Content-Length: %d\r\n\r\n" % (2 * len(_BODY)) + _BODY,
        reset=True,
    ),
    _raw(
        "/cut-chunks",
        "closed after the first chunk",
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(_BODY), _BODY),
    ),
    _raw("/bad-chunks", "chunks that are none", _HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nnothing\r\n"),
    _raw("/bad-gzip", "says gzip, is not", _HEAD + b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!"),
    _raw("/garbage", "bytes that are no HTTP at all", b"\x00\x01\x02 220 harbour ESMTP\r\n"),
    _raw("/untyped", "a page without Content-Type", _OK + b"Content-Length: %d\r\n\r\n" % len(_BODY) + _BODY),
    _raw("/old-http", "HTTP/1.0, ended by closing", b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + _BODY),
)
