"""Read the pages of a job in this process."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

from browsers import Browsers
from scraper.bulk.crawl import CrawlFeeder, CrawlPlanner
from scraper.bulk.job import BulkJob
from scraper.bulk.job_database import HostBacklog, JobDatabase
from scraper.bulk.model import JobRate
from scraper.bulk.page_dispatcher import PageDispatcher, ReadPage
from scraper.bulk.schedule import Schedule

HOSTS_AT_ONCE = 2_000
"""Hosts in the schedule: more than can be visited at once, but few enough for the memory."""
PAGES_AT_ONCE = 64
"""Pages of a host that are added at once."""
_LOOKUPS_AT_ONCE = 200
"""Hosts looked up in one query, so that other disk operations are not delayed."""


def count_pages_at_once(rate: JobRate, browsers: Browsers) -> int:
    """Return the number of pages to read at once: that of the job, or as many as the browsers have slots now."""
    status = browsers.status()
    return rate.concurrency or status.peek_slots + status.render_slots


async def read_locally(
    job: BulkJob,
    read: ReadPage,
    stop: asyncio.Event,
    *,
    concurrency: Callable[[], int],
    respects_robots: bool = False,
    planner: CrawlPlanner | None = None,
) -> None:
    """Read `concurrency()` pages at once in this process, until the list is complete or `stop` is set.

    With `respects_robots`, a host may require a gap between requests, which is known after its first page. With a
    `planner`, each page adds further pages.

    Raises:
        BulkError: Rows cannot be written.
    """
    feeder: PageFeeder | CrawlFeeder
    if planner is None:
        schedule = Schedule(job.spec.rate, respects_robots=respects_robots, count_left=lambda: job.stats.remaining)
        job.stats.minimum_s = schedule.minimum_s
        feeder = PageFeeder(job, schedule, on_pages=lambda: pages.notify())
        deliver = job.deliver
    else:
        schedule = Schedule(job.spec.rate, respects_robots=respects_robots, keeps_hosts=True)
        feeder = CrawlFeeder(job, planner, schedule, on_pages=lambda: pages.notify())
        deliver = feeder.deliver
    pages = PageDispatcher(schedule, read, deliver, concurrency=concurrency, on_change=feeder.notify)
    job.stats.has_network = lambda: pages.has_network
    feeding = asyncio.create_task(feeder.run(), name="bulk feed")
    feeding.add_done_callback(lambda task: _fail_on_error(task, pages))
    stopping = asyncio.create_task(stop.wait(), name="bulk stop")
    stopping.add_done_callback(lambda _: pages.notify())
    try:
        await pages.run(lambda: stop.is_set() or (feeder.is_done and not len(pages)))
    finally:
        for task in (stopping, feeding):
            task.cancel()
        await asyncio.wait({stopping, feeding})


def _fail_on_error(feeding: asyncio.Task[None], pages: PageDispatcher) -> None:
    if not feeding.cancelled() and (error := feeding.exception()) is not None:
        pages.fail(error)


class PageFeeder:
    """Add hosts and pages of a job to a schedule before it runs out of them."""

    def __init__(self, job: BulkJob, schedule: Schedule, *, on_pages: Callable[[], None]) -> None:
        """Create a feeder; `on_pages` is called after pages were added."""
        self._job = job
        self._schedule = schedule
        self._on_pages = on_pages
        self._pending_hosts: deque[HostBacklog] = deque()
        self._host_ids: dict[str, int] = {}
        """Number of each host in the schedule, by name."""
        self._last_page: dict[str, int] = {}
        self._changed = asyncio.Event()
        self._has_hosts = self._is_end_reported = False
        # The interrupted run may have visited any host just now.
        is_paused = job.is_resumed and job.spec.rate.gap_s > 0
        self._free_at = time.monotonic() + job.spec.rate.gap_s if is_paused else -math.inf

    @property
    def is_exhausted(self) -> bool:
        """True if every host was added to the schedule."""
        return self._has_hosts and not self._pending_hosts

    @property
    def is_done(self) -> bool:
        """True if every page has been started."""
        return self.is_exhausted and not self._schedule

    def notify(self) -> None:
        """Wake up `run`, because the schedule may need more pages."""
        self._changed.set()

    async def run(self) -> None:
        """Add pages until canceled."""
        self._pending_hosts.extend(await self._job.query(JobDatabase.list_hosts))
        self._has_hosts = True
        self._changed.set()
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._add_hosts()
            names = self._schedule.pop_hosts_needing_pages()
            for start in range(0, len(names), _LOOKUPS_AT_ONCE):
                await self._add_pages(names[start : start + _LOOKUPS_AT_ONCE])
            if self.is_exhausted and not self._is_end_reported:
                # The list may already be complete; no other event would report that.
                self._is_end_reported = True
                self._on_pages()

    def _add_hosts(self) -> None:
        while self._pending_hosts and len(self._schedule) < HOSTS_AT_ONCE:
            host = self._pending_hosts.popleft()
            self._host_ids[host.name], self._last_page[host.name] = host.number, 0
            self._schedule.add_host(host.name, host.pending, free_at=self._free_at)

    async def _add_pages(self, names: list[str]) -> None:
        requests = [(self._host_ids[name], self._last_page[name]) for name in names]
        found = await self._job.list_pages(requests, count=PAGES_AT_ONCE)
        now = time.monotonic()
        for name, pages in zip(names, found, strict=True):
            if pages:
                self._last_page[name] = pages[-1].number
                self._schedule.add_pages(name, pages, now=now)
        self._on_pages()
