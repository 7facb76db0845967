"""Responses that are too large, too short, or never end."""

from __future__ import annotations

import asyncio
import functools
import zlib
from collections.abc import Iterator

from aiohttp import web

from tests.site.catalogue import Page
from tests.site.markup import HTML, html, page
from tests.site.prose import paragraphs

_MIB = 1024 * 1024
# A period of four bytes is what deflate packs best: a thousandth of the size.
_BLOCK = b"<p>" + b"ebb " * ((_MIB - 7) // 4) + b"</p>"
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03"


def _opening(title: str) -> bytes:
    return f"<!doctype html><html><head><title>{title}</title></head><body><main>".encode()


async def _stream(
    request: web.Request, chunks: Iterator[bytes], *, pause_s: float = 0.0, length: int | None = None
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": HTML})
    response.content_length = length
    await response.prepare(request)
    for chunk in chunks:
        await response.write(chunk)
        # Yield also without a pause, so that one client cannot block the others.
        await asyncio.sleep(pause_s)
    return response


async def _big(request: web.Request) -> web.StreamResponse:
    size = int(float(request.query.get("mb", 50)) * 1_000_000)
    chunk = paragraphs("big", 0, 200).encode()
    start = _opening("Fifty megabytes")
    count = max((size - len(start)) // len(chunk), 1)
    length = len(start) + count * len(chunk) if request.query.get("declared") else None

    def chunks() -> Iterator[bytes]:
        yield start
        for _ in range(count):
            yield chunk

    return await _stream(request, chunks(), length=length)


async def _endless(request: web.Request) -> web.StreamResponse:
    def chunks() -> Iterator[bytes]:
        yield _opening("Endless") + paragraphs("endless", 0, 10).encode()
        while True:
            yield b"<p>" + b"on and on and on " * 60 + b"</p>"

    return await _stream(request, chunks(), pause_s=float(request.query.get("pause_ms", 20)) / 1000)


async def _drip(request: web.Request) -> web.StreamResponse:
    def chunks() -> Iterator[bytes]:
        if request.query.get("after"):
            yield _opening("Drip") + paragraphs("drip", 0, 10).encode()
        while True:
            for byte in b"<p>drop</p>":
                yield bytes((byte,))

    return await _stream(request, chunks(), pause_s=1.0)


@functools.cache
def _bomb_block() -> tuple[bytes, bytes]:
    """One MiB of HTML, and its compressed form, of which copies can be concatenated."""
    plain = _BLOCK.ljust(_MIB)
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    return plain, squeeze.compress(plain) + squeeze.flush(zlib.Z_FULL_FLUSH)


@functools.cache
def _bomb(mebibytes: int) -> bytes:
    """Return HTML of this size as gzip, a thousandth of the size, with a correct checksum."""
    plain, packed = _bomb_block()
    checksum = 0
    for _ in range(mebibytes):
        checksum = zlib.crc32(plain, checksum)
    size = (mebibytes * _MIB) & 0xFFFFFFFF
    trailer = b"\x03\x00" + checksum.to_bytes(4, "little") + size.to_bytes(4, "little")
    return _GZIP_HEADER + packed * mebibytes + trailer


async def _send_bomb(request: web.Request) -> web.Response:
    body = await asyncio.to_thread(_bomb, min(int(request.query.get("mb", 1024)), 4096))
    return web.Response(body=body, headers={"Content-Type": HTML, "Content-Encoding": "gzip"})


async def _nested(request: web.Request) -> web.Response:
    count = min(int(request.match_info["count"]), 1_000_000)
    tag = request.query.get("tag", "span")
    inside = f"<{tag}>" * count + "MARK-nested-10 at the bottom" + f"</{tag}>" * count
    return html(page("Nested", paragraphs("nested", 0, 10) + inside))


async def _attributes(request: web.Request) -> web.Response:
    count = min(int(request.match_info["count"]), 1_000_000)
    many = " ".join(f'a{i}="{i}"' for i in range(count))
    return html(page("Attributes", f"<p {many}>MARK-attributes-10</p>" + paragraphs("attributes", 0, 10)))


async def _wide(request: web.Request) -> web.Response:
    count = min(int(request.match_info["count"]), 1_000_000)
    return html(page("Wide", paragraphs("wide", 0, 10) + "<b>x</b>" * count))


async def _one_word(request: web.Request) -> web.Response:
    size = int(float(request.query.get("mb", 2)) * 1_000_000)
    return html(page("One word", f"{paragraphs('one-word', 0, 10)}<p>{'a' * size}</p>"))


async def _empty(request: web.Request) -> web.Response:
    return web.Response(body=b"", headers={"Content-Type": HTML})


async def _status(request: web.Request) -> web.Response:
    status = int(request.match_info["status"])
    if status in {204, 205, 304}:
        return web.Response(status=status)
    retry = {"Retry-After": "3"} if status in {429, 503} else None
    return html(page(f"Status {status}", f"<h1>STATUS-{status}</h1>"), status=status, headers=retry)


async def _no_content(request: web.Request) -> web.Response:
    return web.Response(status=204)


PAGES = (
    Page("/big", "50 MB of HTML: ?mb= &declared=1 for a Content-Length", _big),
    Page("/endless", "an article, then text without end: ?pause_ms=", _endless),
    Page("/drip", "a byte a second: ?after=1 puts an article first", _drip),
    Page("/bomb", "1 GiB of HTML in 1 MB of gzip: ?mb=", _send_bomb),
    Page("/nested/{count}", "elements inside elements: ?tag=", _nested, example="/nested/100000"),
    Page("/attributes/{count}", "one element with so many attributes", _attributes, example="/attributes/500000"),
    Page("/wide/{count}", "so many elements side by side", _wide, example="/wide/300000"),
    Page("/one-word", "a word of 2 MB: ?mb=", _one_word),
    Page("/empty", "200 and not one byte", _empty),
    Page("/status/{status}", "any status", _status, example="/status/404", methods=("GET", "POST")),
    Page("/no-content", "204", _no_content),
)
