"""Tests for the pauses between the requests of one reader of a site."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import cast

from scraper.call_context import Deadline
from scraper.reading.fetcher import Fetcher
from scraper.reading.robots import RobotsRules
from scraper.site.web_site_reader import WebSiteReader
from scraper.workers import WorkerPool

GAP_S = 0.05


async def test_the_pause_counts_from_the_end_of_a_request() -> None:
    spans: list[tuple[float, float]] = []

    async def load_robots(*_: object) -> RobotsRules:
        began = time.monotonic()
        await asyncio.sleep(2 * GAP_S)
        spans.append((began, time.monotonic()))
        return RobotsRules("User-agent: *")

    politeness = SimpleNamespace(load_robots=load_robots)
    fetcher = cast(Fetcher, SimpleNamespace(visitor=SimpleNamespace(politeness=politeness)))
    reader = WebSiteReader(fetcher, cast(WorkerPool, None), "local", Deadline.within(60), least_gap_s=GAP_S)
    before = time.monotonic()
    reader.keep_gap(GAP_S)
    await asyncio.gather(*(reader.load_robots("https://site.example") for _ in range(3)))
    await reader.wait_for_gap()
    ends = [before, *(end for _, end in spans)]
    begins = [*(began for began, _ in spans), time.monotonic()]
    assert all(began - end >= GAP_S for began, end in zip(begins, ends, strict=True))
