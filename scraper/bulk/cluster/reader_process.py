"""Read pages in one process of a cluster: a Ray actor that opens the services once."""

import asyncio
import contextlib
import functools
import logging
import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from scraper.bulk.crawl import CrawlPageReader
from scraper.bulk.model import JobPage, JobSpec, PageOutcome
from scraper.bulk.page_dispatcher import PageDispatcher, ReadPage, count_pages_at_once
from scraper.bulk.page_reader import JobPageReader
from scraper.bulk.schedule import Schedule
from scraper.services import Services
from scraper.settings import Settings

OUTCOMES_LIMIT = 128
"""Outcomes that are not collected; with more, no page is started."""
_GATHER_S = 0.2
"""Seconds during which outcomes are gathered after the first one."""


class ReaderProcess:
    """Read all pages of one process in one schedule, so that the limits per host apply to all of them."""

    def __init__(self, spec: JobSpec, settings: Settings, *, keep_snapshots: bool) -> None:
        """Create a reader; call `open` before the other methods."""
        # Ray logs many lines; failed pages are in the output.
        logging.basicConfig(level=logging.ERROR)
        self._spec = spec
        self._settings = settings
        self._keep_snapshots = keep_snapshots
        self._services = contextlib.AsyncExitStack()
        self._schedule = Schedule(
            spec.rate, respects_robots=settings.robots != "off", keeps_hosts=spec.crawl is not None
        )
        self._outcomes: list[PageOutcome] = []
        self._has_outcomes = asyncio.Event()
        self._has_space = asyncio.Event()
        self._is_stopped = False

    async def open(self) -> None:
        """Open the services and begin to read.

        Raises:
            SettingsError: The browsers cannot be configured.
        """
        app = await self._services.enter_async_context(Services.open(self._settings))
        make_reader = JobPageReader if self._spec.crawl is None else CrawlPageReader
        reader = make_reader(app.fetcher, app.workers, self._spec, keep_snapshots=self._keep_snapshots)
        concurrency = functools.partial(count_pages_at_once, self._spec.rate, app.browsers)
        self.begin(reader.read, concurrency, app.fetcher.assume_recent_requests)

    def begin(self, read: ReadPage, concurrency: Callable[[], int], on_restart: Callable[[], None]) -> None:
        """Read `concurrency()` pages at once; `on_restart` is called for pages that another process has started."""
        self._on_restart = on_restart
        self._pages = PageDispatcher(
            self._schedule, read, self._deliver, concurrency=concurrency, on_change=lambda: None
        )
        self._reading = asyncio.create_task(self._pages.run(lambda: self._is_stopped))
        self._reading.add_done_callback(lambda _: self._has_outcomes.set())

    async def add(self, pages: Sequence[JobPage], *, is_restarted: bool) -> None:
        """Add pages; `is_restarted` is True if another process or run may have requested their hosts recently."""
        if is_restarted:
            self._on_restart()
        by_host: defaultdict[str, list[JobPage]] = defaultdict(list)
        for page in pages:
            by_host[page.host].append(page)
        now = time.monotonic()
        free_at = now + self._spec.rate.gap_s if is_restarted else -math.inf
        for host, host_pages in by_host.items():
            self._schedule.add_more_pages(host, host_pages, now=now, free_at=free_at)
        self._schedule.pop_hosts_needing_pages()
        self._pages.notify()

    async def collect(self, wait_s: float) -> list[PageOutcome]:
        """Return the outcomes since the last call; wait up to `wait_s` seconds for the first one.

        Raises:
            Exception: Reading failed because of an internal error.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._has_outcomes.wait()
                await asyncio.sleep(_GATHER_S)
        if self._reading.done():
            self._reading.result()
        outcomes, self._outcomes = self._outcomes, []
        self._has_outcomes.clear()
        self._has_space.set()
        return outcomes

    async def stop(self) -> list[PageOutcome]:
        """Start no more pages; return the outcomes when the running ones have ended."""
        self._is_stopped = True
        self._has_space.set()
        self._pages.notify()
        await asyncio.wait({self._reading})
        return await self.collect(0.0)

    async def close(self) -> None:
        """Close the services."""
        await self._services.aclose()

    async def _deliver(self, outcome: PageOutcome) -> None:
        while len(self._outcomes) >= OUTCOMES_LIMIT and not self._is_stopped:
            self._has_space.clear()
            await self._has_space.wait()
        self._outcomes.append(outcome)
        self._has_outcomes.set()
