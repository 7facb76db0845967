"""Fake browsers, workers and cache whose faults a test can choose."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from browsers.model import Mode, Request, Snapshot, Tier
from scraper.extract import worker_jobs
from scraper.model import Document, Verdict, VerdictKind
from scraper.settings import Settings
from scraper.store.protocols import CacheScope, NullPageStore, PageEntry, PageStore

Enough = Callable[[Snapshot], Awaitable[bool]]

SERVED = "<p>Served.</p>"
SHELL = "<p>THIN</p>"
RENDERED = "<p>Rendered.</p>"


class ScriptedBrowsers:
    """Fake `Browsers`: serve `served` or render to `rendered`; `before` and `while_rendering` are hooks."""

    def __init__(self, served: str = SERVED, rendered: str = RENDERED, **more: Any) -> None:
        self.requests: list[Request] = []
        self.open = 0
        self.before: Callable[[Request], Awaitable[None]] = _nothing
        self.while_rendering: Callable[[Request], Awaitable[None]] = _nothing
        self.installed = frozenset(Tier)
        self.served_to_full: str | None = None
        self._served = served
        self._rendered = rendered
        self._more = more

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
        self.requests.append(request)
        self.open += 1
        try:
            return await self._visit(request, enough)
        finally:
            self.open -= 1

    async def _visit(self, request: Request, enough: Enough | None) -> Snapshot:
        await self.before(request)
        tier = request.tier if request.tier in self.installed else Tier.LIGHT
        served = self._served if tier is Tier.LIGHT else self.served_to_full or self._served
        peek = Snapshot(request.url, request.url, 200, {}, "text/html", served.encode(), served, tier=tier)
        peek = replace(peek, **self._more)
        if request.mode is not Mode.RENDER:
            if request.mode is Mode.PEEK or not peek.is_html:
                return peek
            assert enough is not None
            if await enough(peek):
                return peek
        await self.while_rendering(request)
        return replace(peek, html=self._rendered, rendered=True)


class ScriptedWorkers:
    """Fake workers: THIN, CAPTCHA, LOGIN, DEGRADED or BLANK in a page set the result; `failing` is raised."""

    def __init__(self) -> None:
        self.failing: Exception | None = None
        self.reads = 0

    async def run(self, function: object, snapshot: Snapshot, **limits: float) -> Any:
        self.reads += 1
        await asyncio.sleep(0)
        if self.failing is not None:
            raise self.failing
        html = snapshot.html
        text = "" if "BLANK" in html else html.removeprefix("<p>").removesuffix("</p>")
        document = Document(
            snapshot.url, title="Title", text=text, markdown=text, verdict=_verdict(html), degraded="DEGRADED" in html
        )
        return (document, None, ()) if function is worker_jobs.read_for_job else document


class CountingPages:
    """A cache in memory that records the requested maximum ages."""

    def __init__(self) -> None:
        self.entries: dict[tuple[CacheScope, str, str], PageEntry] = {}
        self.asked: list[float] = []

    async def get(
        self, key: str, *, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        self.asked.append(max_age_s)
        found = [self.entries.get((scope, key, method)) for method in methods]
        return next((entry for entry in found if entry and entry.allowances <= allowed), None)

    def put(self, entry: PageEntry) -> None:
        self.entries[entry.scope, entry.key, entry.reading.method] = entry

    stats = NullPageStore.stats
    close = NullPageStore.close


def _verdict(html: str) -> Verdict:
    if "THIN" in html or "BLANK" in html or not html:
        return Verdict(VerdictKind.THIN, "javascript")
    for reason in ("captcha", "login"):
        if reason.upper() in html:
            return Verdict(VerdictKind.BLOCKED, reason)
    return Verdict()


async def _nothing(request: Request) -> None:
    return


async def for_ever(request: Request) -> None:
    """Never answer."""
    await asyncio.Event().wait()


SETTINGS = Settings()
ANY_PAGES: PageStore = NullPageStore()
