"""Measure how much a hostile page slows the fetches of another client (a noisy neighbor).

One client reads plain pages and pages that need JavaScript, one after the other. First it runs alone, then while
another client's call reads a page that loops, floods, grows, bursts or never ends. A factor is the ratio of the
median seconds. `slowest_factor` is the largest factor; at most 3 is allowed. Each client has a separate web
server, so that they share only search-mcp.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.wire_client import ERAS, WireClient, wire_client
from tests.scraper.process import browsers_say, serving
from tests.site.running import Site, running_site

HOSTILE = (
    "/loop",
    "/loop-microtask",
    "/loop-worker",
    "/alerts-endless",
    "/popups",
    "/history-loop",
    "/reload-loop",
    "/heap-hog",
    "/dom-growth",
    "/request-flood",
    "/console-flood",
    "/redirect-loop",
    "/endless",
    "/drip",
    "/bomb",
    "/big",
    "/nested/100000",
    "/wide/300000",
    "/attributes/500000",
    "/one-word",
)
_HOSTILE_QUICK = ("/loop-microtask", "/request-flood", "/console-flood", "/one-word")
_RENDER_MODES = ("http", "browser")
_PATHS = {"http": "/static", "browser": "/spa"}
_ALONE = 7
_BESIDE = 9
_PER_PAGE_S = 20.0
_START_S = 60.0
_REST_S = 0.5
_GOALS = (Goal("slowest_factor", at_most=3),)


@dataclass(slots=True)
class _ClientPair:
    """A client that reads a hostile page, and a client that reads normal pages."""

    site: Site
    """Site of the normal pages."""
    hostile_site: Site
    normal: WireClient
    hostile: WireClient
    numbers: Iterator[int]

    async def seconds(self, render: str, readings: int, beside: asyncio.Task[object] | None = None) -> list[float]:
        """Return the seconds of `readings` fetches; fewer if the hostile call or the time ends."""
        durations: list[float] = []
        started = time.monotonic()
        while len(durations) < readings and time.monotonic() - started < _PER_PAGE_S:
            if beside is not None and beside.done() and durations:
                break
            fetch_started = time.monotonic()
            url = self.site.direct(f"{_PATHS[render]}/{next(self.numbers)}")
            outcome = await self.normal.call("fetch", {"url": url, "render": render})
            if outcome.is_error:
                raise RuntimeError(f"The normal page failed: {outcome.text[:200]}")
            durations.append(time.monotonic() - fetch_started)
        return durations

    async def row(self, path: str, render: str) -> tuple[str, str, float, float, float]:
        """Compare normal fetches alone and beside one hostile page."""
        alone = statistics.median(await self.seconds(render, _ALONE))
        url = self.hostile_site.url(f"{path}{'&' if '?' in path else '?'}for={next(self.numbers)}")
        hostile_call = asyncio.create_task(self.hostile.call("fetch", {"url": url, "render": "browser"}))
        try:
            beside = statistics.median(await self.seconds(render, _BESIDE, hostile_call))
            await hostile_call
        finally:
            hostile_call.cancel()
        await asyncio.sleep(_REST_S)
        return path, render, alone, beside, beside / alone


async def measure(options: Options) -> Figures:
    """Measure the fetches beside each hostile page."""
    with (
        running_site() as site,
        running_site() as hostile_site,
        tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder,
    ):
        env = {
            "SEARCH_MCP_TEST_HOSTS": hostile_site.test_hosts_variable,
            "SEARCH_MCP_ALLOW_NETS": "127.0.0.0/8",
            "SEARCH_MCP_DATA": folder,
        }
        async with serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env) as program:
            await browsers_say(program.base, "ready", True, limit_s=_START_S)
            async with wire_client(program.url, ERAS[0]) as one, wire_client(program.url, ERAS[0]) as other:
                pair = _ClientPair(site, hostile_site, one, other, itertools.count())
                for render in _RENDER_MODES:
                    await pair.seconds(render, 3)
                pages = _HOSTILE_QUICK if options.quick else HOSTILE
                rows = [await pair.row(path, render) for path in pages for render in _RENDER_MODES]
    print_table("Fetches beside a hostile page", ("hostile page", "render", "alone s", "beside s", "factor"), rows)
    factors = [row[-1] for row in rows]
    figures: Figures = {
        "pages": len(pages),
        "median_factor": statistics.median(factors),
        "slowest_factor": max(factors),
    }
    print_goals(figures, _GOALS)
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
