"""A hostile page and its neighbour: how much longer does the neighbour's fetch take?

One client reads plain pages, and pages that are nothing without JavaScript, one after the other: first alone,
then while another client's call works on a page that loops, floods, grows, bursts or never ends. A factor is
the ratio of the medians of seconds, `slowest_factor` the largest of all; 3 is the most that is allowed. Each
has a web server of its own, so that it is ours alone which they share.
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

_HOSTILE = (
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
_FEW = ("/loop-microtask", "/request-flood", "/console-flood", "/one-word")
_WAYS = ("http", "browser")
_PATHS = {"http": "/static", "browser": "/spa"}
_ALONE = 7
_BESIDE = 9
_PER_PAGE_S = 20.0
_START_S = 60.0
_REST_S = 0.5
_GOALS = (Goal("slowest_factor", at_most=3),)


@dataclass(slots=True)
class _Street:
    """A hostile page's client, and the one next door."""

    site: Site
    """The neighbour's."""
    hostile_site: Site
    neighbour: WireClient
    hostile: WireClient
    numbers: Iterator[int]

    async def seconds(self, way: str, readings: int, beside: asyncio.Task[object] | None = None) -> list[float]:
        """How long each of so many fetches took; fewer where the hostile call ends sooner."""
        taken: list[float] = []
        begun = time.monotonic()
        while len(taken) < readings and time.monotonic() - begun < _PER_PAGE_S:
            if beside is not None and beside.done() and taken:
                break
            at = time.monotonic()
            url = self.site.direct(f"{_PATHS[way]}/{next(self.numbers)}")
            said = await self.neighbour.call("fetch", {"url": url, "render": way})
            if said.is_error:
                raise RuntimeError(f"The neighbour's own page failed: {said.text[:200]}")
            taken.append(time.monotonic() - at)
        return taken

    async def row(self, path: str, way: str) -> tuple[str, str, float, float, float]:
        """One hostile page beside one kind of neighbour."""
        alone = statistics.median(await self.seconds(way, _ALONE))
        url = self.hostile_site.url(f"{path}{'&' if '?' in path else '?'}for={next(self.numbers)}")
        bad = asyncio.create_task(self.hostile.call("fetch", {"url": url, "render": "browser"}))
        try:
            beside = statistics.median(await self.seconds(way, _BESIDE, bad))
            await bad
        finally:
            bad.cancel()
        await asyncio.sleep(_REST_S)
        return path, way, alone, beside, beside / alone


async def measure(options: Options) -> Figures:
    """Read beside each hostile page."""
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
                street = _Street(site, hostile_site, one, other, itertools.count())
                for way in _WAYS:
                    await street.seconds(way, 3)
                pages = _FEW if options.quick else _HOSTILE
                rows = [await street.row(path, way) for path in pages for way in _WAYS]
    print_table("Beside a hostile page", ("page", "neighbour", "alone s", "beside s", "factor"), rows)
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
