"""Add the pages that a planner chooses to the schedule of a job, while its pages are read."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from scraper.bulk.crawl.planner import CrawlPlanner
from scraper.bulk.job import BulkJob
from scraper.bulk.model import JobPage, PageOutcome
from scraper.bulk.schedule import Schedule


class CrawlFeeder:
    """Keep a few pages of each site in the schedule. With fewer, more links are known when a page is chosen."""

    def __init__(
        self, job: BulkJob, planner: CrawlPlanner, schedule: Schedule, *, on_pages: Callable[[], None]
    ) -> None:
        """Create a feeder; `on_pages` is called when pages were added, or when there are no more."""
        self._job = job
        self._planner = planner
        self._schedule = schedule
        self._on_pages = on_pages
        self._changed = asyncio.Event()
        self._changed.set()
        self._per_site = 2 * job.spec.rate.per_host
        # The interrupted run may have visited any host just now.
        is_paused = job.is_resumed and job.spec.rate.gap_s > 0
        self._free_at = time.monotonic() + job.spec.rate.gap_s if is_paused else -math.inf
        self.is_done = False
        """True if no page is being read and none is left that is worth a visit."""

    def notify(self) -> None:
        """Wake up `run`, because the schedule may need more pages."""
        self._changed.set()

    async def deliver(self, outcome: PageOutcome) -> None:
        """Add the links of a page to the planner, queue its row for writing, and wake up `run`."""
        await self._job.deliver(self._planner.take(outcome))
        self._changed.set()

    async def run(self) -> None:
        """Add pages until canceled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            added = [
                page
                for site in self._planner.sites()
                for page in await choose_pages(
                    self._job, self._planner, site, self._per_site - self._planner.count_reading(site)
                )
            ]
            now = time.monotonic()
            for page in added:
                self._schedule.add_more_pages(page.host, [page], now=now, free_at=self._free_at)
            self.is_done = not added and not self._planner.reading_count and not self._planner.has_next()
            if added or self.is_done:
                self._on_pages()


async def choose_pages(job: BulkJob, planner: CrawlPlanner, site: int, count: int) -> list[JobPage]:
    """Choose up to `count` further pages of a site, add them to the job and return them; first only its start page."""
    if count <= 0:
        return []
    start = planner.release_start(site)
    if start is not None:
        return [start]
    pages: list[JobPage] = []
    while len(pages) < count and (urls := planner.choose(site, count - len(pages))):
        for url, page in zip(urls, await job.add_pages(urls), strict=True):
            if page is None:
                planner.refuse(site, url)
            else:
                pages.append(planner.add(site, page))
    return pages


async def open_planner(job: BulkJob) -> CrawlPlanner:
    """Return the planner of a crawl, restored from the pages that are already written."""
    options = job.spec.crawl
    assert options is not None
    start_pages = await job.list_start_pages()
    planner = CrawlPlanner(options, start_pages)
    await job.query(lambda frontier: planner.restore(frontier.iter_crawled()))
    return planner
