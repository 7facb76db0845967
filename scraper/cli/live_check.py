"""Ask every search engine and source once, for `doctor --live`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from scraper.errors import ScraperError
from scraper.model import REFRESH, SearchRequest
from scraper.settings import Settings

AT_ONCE = 4
"""Engines that are asked at once."""
LIMIT_S = 30.0
_QUERY = "tidal power"
_QUERIES = {"package": "requests", "code": "requests"}
"""Query by category: an index of packages knows names rather than subjects."""
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
class LiveResult:
    """Answer of one engine or source."""

    name: str
    kind: str
    """`page`, `json` or `atom`."""
    category: str
    """Category of a source; "" for a search engine."""
    state: str
    """`answered`, `found nothing`, `changed its format`, `blocked the request` or `did not answer`."""
    reason: str
    """Named reason of a failure, such as `rate_limited`; "" without one."""
    rows: int
    seconds: float


async def ask_all(settings: Settings, on_result: Callable[[LiveResult], None]) -> list[LiveResult]:
    """Ask every engine and source; `on_result` receives each result when it is known."""
    from scraper.engines.registry import ENGINES
    from scraper.engines.sources.registry import SOURCES
    from scraper.services import Services

    results: list[LiveResult] = []
    async with Services.open(settings) as services:
        slots = asyncio.Semaphore(AT_ONCE)

        async def ask(name: str) -> None:
            engine = SOURCES.get(name) or ENGINES[name]
            query = _QUERIES.get(engine.category or "", _QUERY)
            rows, reason = 0, None
            async with slots:
                began = time.monotonic()
                try:
                    request = SearchRequest(query, engines=[name], max_results=5, cache=REFRESH, deadline_s=LIMIT_S)
                    answer = await services.searcher.search(request)
                    rows, reason = len(answer.results), answer.errors.get(name)
                except ScraperError as error:
                    reason = error.code
            state = _STATES.get(reason, "did not answer")
            if reason is None and not rows:
                state = "found nothing"
            seconds = round(time.monotonic() - began, 1)
            result = LiveResult(name, str(engine.kind), engine.category or "", state, reason or "", rows, seconds)
            results.append(result)
            on_result(result)

        await asyncio.gather(*(ask(name) for name in (*ENGINES, *SOURCES)))
    order = [*ENGINES, *SOURCES]
    return sorted(results, key=lambda result: order.index(result.name))
