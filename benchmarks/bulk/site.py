"""Serve fifty hosts of plain pages in a separate process, and count requests and politeness per host.

Pages under `/page/` are for lists of URLs. Each host also is a site of a hundred pages for crawls, which start at `/`:
lists, articles, and a folder that robots.txt forbids. Every tenth host states a `Crawl-delay`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import os
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from benchmarks.common.subprocess_module import run_module

HOSTS = tuple(f"h{number:02}.bulk.example" for number in range(50))
_LARGEST_SHARE = 1 / 3
_BACKLOG = 1024
_STOP_LIMIT_S = 5.0
_ANSWER_DELAY_S = 0.08
"""Seconds until a page is answered, long enough to observe concurrent requests."""
_LISTS, _LISTED = 9, 10
"""Lists of a site, and articles of a list: with the start page a hundred pages."""
_DELAYED_EVERY, _CRAWL_DELAY_S = 10, 0.25
_ROBOTS = "/robots.txt"
_SCRIPTED_EVERY = 50
_JSONLD_EVERY = 2
"""One page in this many contains JSON-LD."""


@dataclass(frozen=True, slots=True)
class RequestStats:
    """Requests to the site since the counters were reset."""

    most_at_once: int
    least_gap_s: float
    hits: int
    again: int
    """Repeated requests for a page."""
    exceeded: int
    """Requests over the limit of concurrent requests, or earlier than the gap allows."""
    span_s: float
    """Seconds from the first request to the last."""
    first_at: float
    """Time of the first request, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class BulkSite:
    """A running site."""

    port: int

    @property
    def test_hosts(self) -> tuple[tuple[str, str, int], ...]:
        """Host name, address and port of each host."""
        return tuple((host, "127.0.0.1", self.port) for host in HOSTS)

    @property
    def variable(self) -> str:
        """The hosts in the format of SEARCH_MCP_TEST_HOSTS."""
        return ",".join(f"{host}={address}:{port}" for host, address, port in self.test_hosts)

    def urls(self, count: int, *, kind: str = "page") -> list[str]:
        """Return `count` URLs in a fixed random order: a third on the first host, the rest spread evenly."""
        largest = round(count * _LARGEST_SHARE)
        hosts = [HOSTS[0]] * largest + [HOSTS[1 + n % (len(HOSTS) - 1)] for n in range(count - largest)]
        urls = [f"http://{host}/{kind}/{number}" for number, host in enumerate(hosts)]
        random.Random(15).shuffle(urls)
        return urls

    def crawled_urls(self, hosts: int) -> list[list[str]]:
        """Return the URLs of each of some sites, the start page first."""
        lists = [f"list/{number}/" for number in range(_LISTS)]
        paths = ["", *lists, *(f"article/{number}/" for number in range(_LISTS * _LISTED))]
        return [[f"http://{host}/{path}" for path in paths] for host in HOSTS[:hosts]]

    async def request_stats(self) -> RequestStats:
        """Return the statistics of the requests."""
        stats = await self._ask("/stats")
        whole = {name: int(stats[name]) for name in ("most_at_once", "hits", "again", "exceeded")}
        parts = {name: stats[name] for name in ("least_gap_s", "span_s", "first_at")}
        return RequestStats(**whole, **parts)  # type: ignore[arg-type]

    async def reset(self, *, at_once: int = 0, gap_s: float = 0.0) -> None:
        """Reset the counters; set the allowed concurrent requests per host (0: any) and the gap between them."""
        await self._ask(f"/reset?at_once={at_once}&gap_s={gap_s}")

    async def _ask(self, path: str) -> dict[str, float]:
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{self.port}{path}") as response:
            body: dict[str, float] = await response.json()
            return body


@asynccontextmanager
async def bulk_site() -> AsyncIterator[BulkSite]:
    """Start the site."""
    async with run_module("benchmarks.bulk.site") as (port, _):
        yield BulkSite(port)


@dataclass(slots=True)
class _Counts:
    """Counters of the requests."""

    allowed_at_once: int = 0
    allowed_gap_s: float = 0.0
    at_once: Counter[str] = field(default_factory=Counter)
    most: int = 0
    exceeded: int = 0
    last: dict[str, float] = field(default_factory=dict)
    least_gap_s: float = 1e9
    first_at: float | None = None
    last_at: float = 0.0
    hits: Counter[str] = field(default_factory=Counter)

    def count_request(self, host: str, path: str, *, gap_s: float = 0.0, is_forbidden: bool = False) -> None:
        """Count the start of a request to a host that asks for a gap; robots.txt needs none."""
        now = self.last_at = time.monotonic()
        self.first_at = now if self.first_at is None else self.first_at
        self.at_once[host] += 1
        self.most = max(self.most, self.at_once[host])
        if path != _ROBOTS:
            since_s = now - self.last.get(host, -math.inf)
            self.least_gap_s = min(self.least_gap_s, since_s)
            is_forbidden = is_forbidden or since_s < max(self.allowed_gap_s, gap_s)
            self.last[host] = now
        self.exceeded += (self.at_once[host] > self.allowed_at_once > 0) or is_forbidden
        self.hits[host + path] += 1

    def request_stats(self) -> dict[str, float]:
        """Return the fields of `RequestStats`."""
        hits = self.hits.total()
        return {
            "most_at_once": self.most,
            "least_gap_s": self.least_gap_s,
            "hits": hits,
            "again": hits - len(self.hits),
            "exceeded": self.exceeded,
            "span_s": self.last_at - (self.first_at or self.last_at),
            # Converted to seconds since the epoch.
            "first_at": (self.first_at or 0.0) + time.time() - time.monotonic(),
        }


class _Site:
    def __init__(self) -> None:
        self._counts = _Counts()

    def application(self) -> web.Application:
        """Return the application with its routes."""
        app = web.Application()
        app.router.add_get("/page/{number}", self._page)
        app.router.add_get("/", self._crawled)
        app.router.add_get("/{kind:list|article|private}/{number}/", self._crawled)
        app.router.add_get(_ROBOTS, self._crawled)
        app.router.add_get("/stats", self._manners)
        app.router.add_get("/reset", self._reset)
        app.router.add_get("/{path:.*}", self._crawled)
        return app

    async def _page(self, request: web.Request) -> web.Response:
        counts, host = self._counts, request.host
        counts.count_request(host, request.path)
        try:
            await asyncio.sleep(_ANSWER_DELAY_S)
            return web.Response(text=_html(host, int(request.match_info["number"])), content_type="text/html")
        finally:
            counts.at_once[host] -= 1

    async def _crawled(self, request: web.Request) -> web.Response:
        counts, host, delay_s = self._counts, request.host, _find_delay_s(request.host)
        is_forbidden = request.path.startswith("/private/")
        counts.count_request(host, request.path, gap_s=delay_s, is_forbidden=is_forbidden)
        try:
            await asyncio.sleep(_ANSWER_DELAY_S)
            if request.path == _ROBOTS:
                delay = f"Crawl-delay: {delay_s}\n" if delay_s else ""
                return web.Response(text=f"User-agent: *\nDisallow: /private/\n{delay}")
            if request.match_info.get("path"):
                return web.Response(status=404, text="<h1>Not found</h1>", content_type="text/html")
            kind, number = request.match_info.get("kind", ""), int(request.match_info.get("number", 0))
            return web.Response(text=_crawled_html(host, kind, number), content_type="text/html")
        finally:
            counts.at_once[host] -= 1

    async def _manners(self, _: web.Request) -> web.Response:
        return web.json_response(self._counts.request_stats())

    async def _reset(self, request: web.Request) -> web.Response:
        # Requests in progress decrement the old counters.
        self._counts = _Counts(int(request.query["at_once"]), float(request.query["gap_s"]))
        return web.json_response({})


def _find_delay_s(host: str) -> float:
    """Return the `Crawl-delay` of a host; 0 without one."""
    return _CRAWL_DELAY_S if host in HOSTS and HOSTS.index(host) % _DELAYED_EVERY == _DELAYED_EVERY - 1 else 0.0


def _crawled_html(host: str, kind: str, number: int) -> str:
    """Return a page of a site for crawls."""
    rng = random.Random(f"{host} {kind} {number}")
    if kind == "list":
        numbers = range(_LISTED * number, _LISTED * (number + 1))
        links = [(f"/article/{at}/", f"Report {at}") for at in numbers]
    elif kind:
        links = [(f"/article/{(number + 1) % (_LISTS * _LISTED)}/", "The next report"), ("/private/1/", "Notes")]
    else:
        links = [(f"/list/{at}/", f"List {at}") for at in range(_LISTS)]
    text = "" if kind == "list" else "".join(f"<p>{' '.join(rng.choices(_WORDS, k=60))}.</p>" for _ in range(5))
    rows = "".join(f'<li><a href="{url}">{title}</a></li>' for url, title in links)
    title = f"Report {number}" if kind == "article" else f"{kind.capitalize()} {number} of {host}"
    return f"<!doctype html><html lang=en><title>{title}</title><main><h1>{title}</h1>{text}<ul>{rows}</ul></main>"


def _html(host: str, number: int) -> str:
    rng = random.Random(number)
    words = [rng.choice(_WORDS) for _ in range(700)]
    paragraphs = [f"<p>{' '.join(words[at : at + 50])}.</p>" for at in range(0, 700, 50)]
    jsonld = ""
    if number % _JSONLD_EVERY == 0:
        data = {"@context": "https://schema.org", "@type": "Article", "headline": f"Report {number}"}
        jsonld = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    links = "".join(f'<li><a href="/page/{number + step}">Report {number + step}</a></li>' for step in range(1, 30))
    body = f"<article><h1>Report {number} of {host}</h1>{''.join(paragraphs)}</article>"
    if number % _SCRIPTED_EVERY == 0:
        script = f"document.getElementById('app').innerHTML={json.dumps(body)}"
        body = (
            (f"<div id=app></div><script>{script}</script>")
            .replace("</article>", "<\\/article>")
            .replace("</p>", "<\\/p>")
            .replace("</h1>", "<\\/h1>")
        )
    return (
        f"<!doctype html><html lang=en><head><title>Report {number}</title>{jsonld}</head>"
        f"<body><nav><ul>{links}</ul></nav>{body}<footer><p>Terms, imprint</p></footer></body></html>"
    )


_WORDS = (
    "harbour ferry wind keeper lighthouse entry figure pilot boat crate lemon bicycle passenger morning "
    "evening report council budget bridge repair winter river market school railway station letter "
    "answer question"
).split()


async def _serve() -> None:
    runner = web.AppRunner(_Site().application(), access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=_BACKLOG).start()
        print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
        await asyncio.to_thread(os.read, sys.stdin.fileno(), 1)
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(runner.cleanup(), _STOP_LIMIT_S)


def _main() -> None:
    argparse.ArgumentParser(description="Serve fifty hosts of plain pages and count the requests.").parse_args()
    asyncio.run(_serve())


if __name__ == "__main__":
    _main()
