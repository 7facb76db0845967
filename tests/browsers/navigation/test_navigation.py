"""Navigation to a response and past it, with unusual responses."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from browsers import Browsers, BrowserSettings, Mode, Request
from tests.browsers.egress.wire import served
from tests.browsers.visits import marks, visit
from tests.site.running import Site

pytestmark = pytest.mark.browser

HOST = "plain.example"
BODIES = {
    "/first": "<!doctype html><title>First</title><script>location = '/second'</script>",
    "/moves": "<!doctype html><title>Moves</title><script>location = '/gone'</script>",
    "/gone": "<!doctype html><title>Gone</title><p>It is gone for good.</p>",
    "/shows": "<!doctype html><title>Shows</title><script>location = '/data'</script>",
    "/data": '{"told": "as data"}',
    "/framed": "<!doctype html><title>Framed</title><iframe src='/missing' width=300 height=200></iframe>",
    "/undeclared": "<h1>Undeclared</h1><script>document.body.append('rendered')</script>",
    "/undeclared-file": "%PDF-1.4\n%%EOF",
    "/nowhere": "<!doctype html><title>Misled</title><script>fetch('/ran')</script><p>Nowhere</p>",
}
HTML = "Content-Type: text/html\r\n"
HEADS = {
    "/nowhere": ("302 x", HTML + "Location: \r\n"),
    "/sent": ("303 x", "Location: /second\r\n"),
    "/missing": ("404 x", HTML + "X-Frame: its own\r\n"),
    "/gone": ("410 x", HTML + "X-Page: its own\r\nSet-Cookie: a=b\r\n"),
    "/data": ("200 OK", "Content-Type: application/json\r\n"),
    "/undeclared": ("200 OK", ""),
    "/undeclared-file": ("200 OK", ""),
}


async def until_end_of_head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


class RecordingServer:
    """A server that keeps connections open and records the requests of each."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.ports: defaultdict[str, list[int]] = defaultdict(list)
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await until_end_of_head(reader):
            line = head.decode().partition(" HTTP/")[0]
            self.lines.append(line)
            path = line.partition(" ")[2]
            self.ports[path].append(writer.get_extra_info("peername")[1])
            if (length := head.lower().partition(b"content-length: ")[2]) and line.startswith("POST"):
                await reader.readexactly(int(length.split(b"\r\n")[0]))
            status, headers = HEADS.get(path, ("200 OK", HTML))
            body = BODIES.get(path, "<!doctype html><p>Arrived</p>")
            result = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n{body}"
            writer.write(result.encode())
            await writer.drain()


@pytest_asyncio.fixture
async def plain() -> AsyncIterator[RecordingServer]:
    """Run the server and yield it with its port."""
    server = RecordingServer()
    async with served(server) as port:
        server.port = port
        yield server


@pytest_asyncio.fixture
async def client(plain: RecordingServer) -> AsyncIterator[Browsers]:
    """Open browsers for it alone."""
    async with Browsers(BrowserSettings(test_hosts=((HOST, "127.0.0.1", plain.port),))) as running:
        yield running


async def test_ten_redirects_are_followed(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/redirects/10", Mode.PEEK)
    assert (len(snapshot.hops), marks(snapshot)) == (10, 10)


async def test_redirect_without_location_is_the_response(client: Browsers, plain: RecordingServer) -> None:
    snapshot = await client.visit(Request(f"http://{HOST}/nowhere", mode=Mode.PEEK))
    assert (snapshot.status, snapshot.hops) == (302, ())
    assert "Nowhere" in snapshot.html
    assert plain.lines == ["GET /nowhere"]


async def test_undeclared_content_is_read_before_rendering(client: Browsers) -> None:
    page = await client.visit(Request(f"http://{HOST}/undeclared", mode=Mode.RENDER))
    file = await client.visit(Request(f"http://{HOST}/undeclared-file", mode=Mode.RENDER))
    assert page.rendered and "rendered</body>" in page.html
    assert (file.rendered, file.media_type, file.body) == (False, "application/pdf", b"%PDF-1.4\n%%EOF")


@pytest.mark.parametrize("more", [{}, {"headers": {"X-Any": "1"}}], ids=["unwatched", "watched"])
async def test_response_of_a_frame_is_not_that_of_the_page(client: Browsers, more: dict[str, Any]) -> None:
    snapshot = await client.visit(Request(f"http://{HOST}/framed", mode=Mode.RENDER, **more))
    assert [frame.url for frame in snapshot.frames] == [f"http://{HOST}/missing"]
    assert (snapshot.status, "x-frame" in snapshot.headers) == (200, False)


@pytest.mark.parametrize("mode", [Mode.RENDER, Mode.AUTO])
async def test_page_that_navigates_has_the_response_of_its_target(client: Browsers, mode: Mode) -> None:
    snapshot = await client.visit(Request(f"http://{HOST}/moves", mode=mode))
    assert (snapshot.url, snapshot.status) == (f"http://{HOST}/gone", 410)
    assert snapshot.headers["x-page"] == "its own" and "set-cookie" not in snapshot.headers
    assert "gone for good" in snapshot.html


async def test_page_that_navigates_to_data_is_html(client: Browsers) -> None:
    snapshot = await client.visit(Request(f"http://{HOST}/shows", mode=Mode.RENDER))
    assert (snapshot.url, snapshot.media_type) == (f"http://{HOST}/data", "text/html")
    assert "as data" in snapshot.html


async def test_form_is_sent_once_if_its_response_navigates(client: Browsers, plain: RecordingServer) -> None:
    request = Request(f"http://{HOST}/first", method="POST", form={"q": "words"}, mode=Mode.RENDER)
    assert "Arrived" in (await client.visit(request)).html
    assert [line for line in plain.lines if "favicon" not in line] == ["POST /first", "GET /second"]


async def test_form_is_sent_once_if_its_response_redirects(client: Browsers, plain: RecordingServer) -> None:
    request = Request(f"http://{HOST}/sent", method="POST", form={"q": "words"}, mode=Mode.PEEK)
    assert "Arrived" in (await client.visit(request)).html
    assert plain.lines == ["POST /sent", "GET /second"]


async def test_callers_share_no_connection(client: Browsers, plain: RecordingServer) -> None:
    for principal in ("ann", "bob", "ann", "bob"):
        for _ in range(6):
            url = f"http://{HOST}/{principal}"
            await client.visit(Request(url, mode=Mode.PEEK, principal=principal, headers={"X-Any": "1"}))
    ann, bob = plain.ports["/ann"], plain.ports["/bob"]
    assert len(set(ann)) < len(ann), "no connection is ever used again: this test proves nothing"
    assert set(ann).isdisjoint(bob)
