"""Tests of `doctor` that use the network or a browser: read two pages, and query all engines and sources.

The first page needs JavaScript. It is served on loopback, under a name that the browsers map to it, and needs no
network. The other is a page of the web.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from scraper.cli.doctor_results import Finding, bad_finding, good_finding, poor_finding
from scraper.errors import ScraperError
from scraper.model import REFRESH, ReadRequest
from scraper.search.request import SearchRequest
from scraper.services import Services
from scraper.settings import Settings

_HOST = "doctor.search-mcp.example"
_PAGE = b"""<!doctype html><title>Trial</title><main id=m></main>
<script>document.getElementById("m").innerHTML = "<p>Six times seven is " + 6 * 7 + ".</p>"</script>
"""
_WORDS = "Six times seven is 42"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
_LOCAL_LIMIT_S = 40.0
"""Seconds. A browser on a cold disk takes 20 s to start."""
_WEB_PAGE = "https://example.com/"
_WEB_LIMIT_S = 20.0
_NO_WEB = "Check the network and DNS of this machine, or set SEARCH_MCP_PROXY if there is a proxy"


async def read_local_page(settings: Settings) -> list[Finding]:
    """Render a local page; report the duration and the state of Chromium's sandbox."""
    async with _page_server() as port:
        here = ((_HOST, "127.0.0.1", port),)
        alone = dataclasses.replace(
            settings, test_hosts=here, proxy=None, cache_mb=0, shared_url=None, database_url=None, robots="off"
        )
        started_at = time.monotonic()
        async with Services.open(alone) as services:
            try:
                reading = await services.fetcher.fetch(
                    ReadRequest(f"http://{_HOST}/", render="browser", deadline_s=_LOCAL_LIMIT_S)
                )
            except ScraperError as error:
                return [
                    bad_finding(f"The local test page could not be read: {error.sentence()}", "See the lines above")
                ]
            took = time.monotonic() - started_at
            if _WORDS not in reading.document.markdown:
                return [bad_finding("A page was read, but its script did not run", "See the lines above")]
            return [
                good_finding(f"A page that needs JavaScript was read in {took:.1f} s, browser start included"),
                *_sandbox(services),
            ]


async def read_web_page(settings: Settings) -> list[Finding]:
    """Read a web page; a failure is only a warning."""
    fresh = dataclasses.replace(settings, cache_mb=0, shared_url=None, database_url=None, robots="off")
    async with Services.open(fresh) as services:
        try:
            await services.fetcher.fetch(ReadRequest(_WEB_PAGE, render="http", deadline_s=_WEB_LIMIT_S))
        except ScraperError as error:
            return [poor_finding(f"The web could not be reached: {error}", _NO_WEB)]
        return [good_finding(f"{_WEB_PAGE} was read")]


def _sandbox(services: Services) -> list[Finding]:
    browsers = services.browsers.status().browsers
    if not browsers:
        return []
    if all(browser.sandboxed for browser in browsers):
        return [good_finding("Chromium runs in its sandbox")]
    return [
        poor_finding(
            "Chromium runs without its sandbox: it does not support root, or this host forbids it",
            "Run as an ordinary user, where unprivileged user namespaces are allowed",
        )
    ]


@contextlib.asynccontextmanager
async def _page_server() -> AsyncIterator[int]:
    """Serve the local page on loopback while the block runs; yield the port."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Respond to any request with the local page."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
        async with asyncio.timeout(_LOCAL_LIMIT_S):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(_HEAD % len(_PAGE) + _PAGE)
            await writer.drain()
    writer.close()


_ENGINES_AT_ONCE = 4
"""Engines queried at the same time."""
_ENGINE_LIMIT_S = 30.0
_QUERY = "tidal power"
_QUERIES = {"package": "requests", "code": "requests"}
"""Query by category: package indexes find names rather than topics."""
_STATES = {
    None: "answered",
    "layout_changed": "changed its format",
    "captcha": "blocked the request",
    "consent": "blocked the request",
    "rate_limited": "blocked the request",
    "refused": "blocked the request",
    "off_topic": "blocked the request",
}


@dataclass(frozen=True, slots=True)
class EngineCheckResult:
    """Result of querying one engine or source."""

    name: str
    kind: str
    """`page`, `json` or `atom`."""
    category: str
    """Category of a source; "" for a search engine."""
    state: str
    """`answered`, `found nothing`, `changed its format`, `blocked the request` or `did not answer`."""
    reason: str
    """Code of a failure, such as `rate_limited`; empty without a failure."""
    rows: int
    seconds: float


async def query_all_engines(
    settings: Settings, on_result: Callable[[EngineCheckResult], None]
) -> list[EngineCheckResult]:
    """Query all engines and sources, and return the results in the order of their registries.

    `on_result` is called with each result as soon as it is known.
    """
    from scraper.engines.registry import ENGINES
    from scraper.engines.sources import SOURCES

    results: list[EngineCheckResult] = []
    async with Services.open(settings) as services:
        slots = asyncio.Semaphore(_ENGINES_AT_ONCE)

        async def ask(name: str) -> None:
            engine = SOURCES.get(name) or ENGINES[name]
            query = _QUERIES.get(engine.category or "", _QUERY)
            rows, reason = 0, None
            async with slots:
                began = time.monotonic()
                try:
                    request = SearchRequest(
                        query, engines=[name], max_results=5, cache=REFRESH, deadline_s=_ENGINE_LIMIT_S
                    )
                    answer = await services.searcher.search(request)
                    rows, reason = len(answer.results), answer.errors.get(name)
                except ScraperError as error:
                    reason = error.code
            state = _STATES.get(reason, "did not answer")
            if reason is None and not rows:
                state = "found nothing"
            seconds = round(time.monotonic() - began, 1)
            result = EngineCheckResult(
                name, str(engine.kind), engine.category or "", state, reason or "", rows, seconds
            )
            results.append(result)
            on_result(result)

        await asyncio.gather(*(ask(name) for name in (*ENGINES, *SOURCES)))
    order = [*ENGINES, *SOURCES]
    return sorted(results, key=lambda result: order.index(result.name))
