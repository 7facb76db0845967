"""Redirect targets, compared with Chromium, and cached redirects of other visits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import ada_url
import pytest
import pytest_asyncio

from browsers import Browsers, BrowserSettings, Mode, Request, Tier
from browsers.navigation.response import resolve_location
from tests.browsers.egress.wire import served
from tests.browsers.visits import TIERS, never, text_of

HOST = "a.example"
BASE = f"http://{HOST}/from/here?q=1"
ODD = (
    "/end",
    "../end",
    "?end",
    "http:\\\\a.example\\end",
    "http:/\\a.example/end",
    "\\\\a.example\\end",
    "/\\a.example/end",
    "////a.example/end",
    "http:///a.example/end",
    "http:end",
    "http:/end",
    "HTTP://A.EXAMPLE:80/end",
    "http://a.example:080/end",
    "ht\ttp://a.exa\tmple/e\tnd",
    "/x/../end",
    "/./end",
    "/%2e/end",
    "/x/%2E%2e/end",
    "/%65nd",
    "http://name@a.example/end",
    "http://na[me:word@a.example/end",
    "http://na\N{ACCOUNT OF}me@a.example/end",
    "//na]me@a.example/end",
    "http://\N{FULLWIDTH LATIN SMALL LETTER A}.example/end",
    "/end#part",
    "/end?\\",
)
"""Hosts that are all served by the same server."""


def canonical(url: str) -> str:
    return str(ada_url.URL(url).href)


@pytest.mark.parametrize("location", ODD)
def test_location_is_resolved_as_in_chromium(location: str) -> None:
    mine = resolve_location(BASE, location)
    theirs = ada_url.URL(location, BASE)
    theirs.username = theirs.password = ""
    assert canonical(mine) == theirs.href


def test_location_with_another_scheme_needs_no_slashes() -> None:
    assert resolve_location("https://a.example/x", "http:b.example/y") == "http://b.example/y"


@pytest.mark.parametrize("location", ["http://[", "//[", "http://\N{ACCOUNT OF}/", "http://[::1", "http://[]/"])
def test_invalid_location_is_returned_trimmed(location: str) -> None:
    assert resolve_location(BASE, location)


@pytest.mark.parametrize("location", ["javascript:x\\y", "data:,\\", "intent://x\\y"])
def test_location_with_another_scheme_is_unchanged(location: str) -> None:
    assert resolve_location(BASE, location) == location


class Kept:
    """A server with cacheable responses that counts its requests."""

    def __init__(self) -> None:
        self.location = "/end"
        self.requests: Counter[str] = Counter()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            path = head.split(b" ")[1].decode().partition("?")[0]
            self.requests[path] += 1
            writer.write(self._answer(path))
            await writer.drain()

    def _answer(self, path: str) -> bytes:
        bodies = {
            "/fetches": "<p id=o>Asking</p><script>"
            "fetch('/end').then(r => r.text()).then(t => { o.textContent = t })</script>",
            "/moves": "<p>Moving</p><script>location = '/end'</script>",
            "/frames": "<iframe width=300 height=200 src='/end'></iframe>",
        }
        if path == "/from":
            return f"HTTP/1.1 302 x\r\nLocation: {self.location}\r\nContent-Length: 0\r\n\r\n".encode()
        body = bodies.get(path, f"<p>Answer number {self.requests[path]}</p>").encode()
        cached = "" if path in bodies else "Cache-Control: max-age=600\r\n"
        head = f"HTTP/1.1 200 x\r\nContent-Type: text/html\r\n{cached}Content-Length: {len(body)}\r\n\r\n"
        return head.encode() + body


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


@pytest.fixture(scope="module")
def cached() -> Kept:
    """Run the server."""
    return Kept()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client(cached: Kept) -> AsyncIterator[Browsers]:
    """Open browsers for it, with one reusable tab at a time."""
    async with served(cached) as port:
        settings = BrowserSettings(test_hosts=((HOST, "127.0.0.1", port),), warm_tabs=1)
        async with Browsers(settings) as running:
            yield running


@pytest.mark.browser
async def test_no_spelling_of_a_redirect_returns_a_cached_response_of_another_visit(
    client: Browsers, cached: Kept
) -> None:
    await client.visit(Request(f"http://{HOST}/end", mode=Mode.PEEK))
    for location in ODD:
        if "/end" not in resolve_location(BASE, location):
            continue
        cached.location, before = location, cached.requests["/end"]
        snapshot = await client.visit(Request(f"http://{HOST}/from", mode=Mode.PEEK, deadline_s=20.0))
        assert snapshot.status == 200, location
        assert canonical(snapshot.hops[0].location) == canonical(snapshot.url), location
        assert cached.requests["/end"] == before + 1, ascii(location)


@pytest.mark.browser
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("path", ["/fetches", "/moves", "/frames"])
async def test_page_does_not_receive_cached_responses_of_another_visit(
    client: Browsers, cached: Kept, path: str, tier: Tier
) -> None:
    for _ in range(2):
        await client.visit(Request(f"http://{HOST}/end", mode=Mode.PEEK, tier=tier, principal="ann"))
        before = cached.requests["/end"]
        request = Request(f"http://{HOST}{path}", mode=Mode.AUTO, tier=tier, principal="bob", deadline_s=30.0)
        snapshot = await client.visit(request, never)
        assert f"Answer number {before + 1}" in text_of(snapshot)


@pytest.mark.parametrize("location", ["mailto:a@b.example", "javascript:alert(1)", "data:text/plain,a", "file:///etc"])
def test_targets_without_a_host_are_resolved_from_urls_with_credentials(location: str) -> None:
    assert resolve_location("http://user:password@a.example/", location) == location
