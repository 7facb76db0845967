"""Fake engine, browsers and workers whose answers and faults a test can choose."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from browsers.errors import BrowserGoneError
from browsers.model import Request, Snapshot, Tier
from scraper.engines.model import Engine, EngineOutcome, EngineResponse, EngineResult, SearchQuery


def engine(name: str, family: str = "", spacing_s: float = 0.0) -> Engine:
    """Return an engine whose page has one line for each row: title, URL."""

    def ask(query: SearchQuery, now: datetime) -> Request:
        return Request(f"https://{name}.example/?q={query.text}")

    return Engine(name, family or name, ask, _parse, spacing_s)


def _parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    if snapshot.html == "WALL":
        return EngineResponse(EngineOutcome.BLOCKED, detail="captcha")
    rows = [line.split(" ", 1) for line in snapshot.html.splitlines()]
    results = tuple(EngineResult(n, title, url, f"Snippet of {title}.") for n, (url, title) in enumerate(rows, 1))
    return EngineResponse(EngineOutcome.OK if results else EngineOutcome.NONE, results)


class FakeBrowsers:
    """Fake `Browsers`: serve `pages` by host; `before` is a hook."""

    def __init__(self, **pages: str) -> None:
        self.pages = pages
        self.requests: list[Request] = []
        self.started: list[Tier] = []
        self.known: set[tuple[str, str]] = set()
        """Principals and site profiles that have cookies."""
        self.start_s = 0.0
        """Seconds from the first use until the browser has started."""
        self._start: asyncio.Future[None] | None = None
        self.before: Callable[[Request], Awaitable[None]] = _nothing

    async def visit(self, request: Request, enough: Any = None) -> Snapshot:
        self.requests.append(request)
        if request.site_profile is not None:
            self.known.add((request.principal, request.site_profile))
        try:
            async with asyncio.timeout(request.deadline_s):
                await self.start(request.tier)
        except TimeoutError:
            raise BrowserGoneError("No browser became ready in time.") from None
        await self.before(request)
        html = self.pages[request.url.split("/")[2].removesuffix(".example")]
        return Snapshot(request.url, request.url, 200, {}, "text/html", html.encode(), html)

    async def start(self, tier: Tier) -> None:
        self._start = self._start or asyncio.ensure_future(asyncio.sleep(self.start_s))
        await asyncio.shield(self._start)

    def start_soon(self, tier: Tier) -> None:
        self.started.append(tier)

    def forget(self, principal: str, site_profile: str) -> bool:
        knew = (principal, site_profile) in self.known
        self.known.discard((principal, site_profile))
        return knew


class InlineWorkers:
    """Fake workers that run functions in this process."""

    async def run(self, function: Callable[..., Any], *args: Any, **limits: float) -> Any:
        await asyncio.sleep(0)
        return function(*args)


async def _nothing(request: Request) -> None:
    return
