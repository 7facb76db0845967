"""Run a job: open it, read its pages in this process or on a cluster, and write the report."""

import asyncio
import contextlib
import dataclasses
import functools
import math
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable

from scraper.background_tasks import run_in_background
from scraper.bulk import report
from scraper.bulk.crawl import CrawlPageReader, CrawlPlanner, is_complete, open_planner
from scraper.bulk.job import BulkJob
from scraper.bulk.job_database import JobDatabase
from scraper.bulk.model import JobSpec, MissingExtraError, PageOutcome
from scraper.bulk.page_dispatcher import PageDispatcher, ReadPage, count_pages_at_once
from scraper.bulk.page_reader import JobPageReader
from scraper.bulk.report import JobReport
from scraper.bulk.schedule import Schedule
from scraper.services import Services
from scraper.settings import Settings


async def run_bulk(
    spec: JobSpec,
    settings: Settings,
    *,
    cluster: str | None = None,
    stop: asyncio.Event | None = None,
    notify: Callable[[str], None] = lambda _: None,
    watch: Callable[[BulkJob], contextlib.AbstractAsyncContextManager[None]] = lambda _: contextlib.nullcontext(),
) -> JobReport:
    """Read a list of URLs, or crawl sites, into a folder; running the same job again continues it.

    Args:
        spec: The job.
        settings: Settings of the reading process.
        cluster: Address of a Ray cluster, `auto` for that of this machine, `local` for a new one; None
            reads in this process.
        stop: Ends the job early; running pages are finished and written.
        notify: Shows a message to the user.
        watch: Context manager that shows the progress.

    Raises:
        BulkError: The job cannot be started or continued; the message says what to do.
        SettingsError: The browsers cannot be configured.
    """
    stop = stop or asyncio.Event()
    if cluster is not None:
        try:
            from scraper.bulk.cluster.runner import run_on_cluster
        except ImportError as error:
            if error.name is not None and error.name.split(".")[0] == "ray":
                raise MissingExtraError("--cluster", "ray") from None
            raise
    async with BulkJob.open(spec, notify=notify) as job:
        began = time.monotonic()
        async with watch(job):
            if cluster is not None:
                await run_on_cluster(job, make_job_settings(spec, settings), cluster, stop, notify)
            else:
                await _run_here(job, make_job_settings(spec, settings), stop)
            await job.finish()
        return await _write_report(job, time.monotonic() - began)


def make_job_settings(spec: JobSpec, settings: Settings) -> Settings:
    """Return the settings for a process of the job, with its concurrency and limits per host.

    Crawls obey robots.txt.
    """
    settings = dataclasses.replace(settings, host_pages=spec.rate.per_host, host_gap_s=spec.rate.gap_s)
    if spec.crawl is not None:
        # The URLs were not chosen by a person.
        settings = dataclasses.replace(settings, robots="obey")
    if (concurrency := spec.rate.concurrency) is None:
        return settings
    return dataclasses.replace(
        settings,
        peek_slots=concurrency,
        render_slots=min(settings.render_slots, concurrency),
        max_slots=concurrency,
        queue_limit=max(settings.queue_limit, concurrency),
    )


async def _run_here(job: BulkJob, settings: Settings, stop: asyncio.Event) -> None:
    planner = None if job.spec.crawl is None else await open_planner(job)
    if is_complete(job, planner):
        # A complete job needs no browser.
        return
    async with Services.open(settings) as app:
        if job.is_resumed:
            app.fetcher.assume_recent_requests()
        make_reader = JobPageReader if planner is None else CrawlPageReader
        reader = make_reader(app.fetcher, app.workers, job.spec, keep_snapshots=job.needs_snapshots)
        concurrency = functools.partial(count_pages_at_once, job.spec.rate, app.browsers)
        respects_robots = settings.robots != "off"
        await read_locally(
            job, reader.read, stop, concurrency=concurrency, respects_robots=respects_robots, planner=planner
        )
    if planner is not None:
        await planner.save(job)


HOSTS_AT_ONCE = 2_000
"""Hosts in the schedule: more than can be visited at once, but few enough for the memory."""
PAGES_AT_ONCE = 64
_LOOKUPS_AT_ONCE = 200
"""Hosts looked up in one query, so that other disk operations are not delayed."""


async def read_locally(
    job: BulkJob,
    read: ReadPage,
    stop: asyncio.Event,
    *,
    concurrency: Callable[[], int],
    respects_robots: bool = False,
    planner: CrawlPlanner | None = None,
) -> None:
    """Read `concurrency()` pages at once in this process, until the job is complete or `stop` is set.

    With `respects_robots`, a host may require a gap between requests, which is known after its first page. With a
    `planner`, each page adds further pages.

    Raises:
        BulkError: Rows cannot be written.
    """
    rate, changed = job.spec.rate, asyncio.Event()
    # The interrupted run may have visited any host just now.
    free_at = time.monotonic() + rate.gap_s if job.is_resumed and rate.gap_s else -math.inf

    async def deliver(outcome: PageOutcome) -> None:
        await job.deliver(outcome if planner is None else planner.take(outcome))
        changed.set()

    if planner is None:
        schedule = Schedule(rate, respects_robots=respects_robots, count_left=lambda: job.stats.remaining)
        job.stats.minimum_s = schedule.minimum_s
        feed = feed_list(job, schedule, changed, free_at)
    else:
        schedule = Schedule(rate, respects_robots=respects_robots, keeps_hosts=True)
        feed = feed_crawl(job, planner, schedule, changed, free_at)
    pages = PageDispatcher(schedule, read, deliver, concurrency=concurrency, on_change=changed.set)
    job.stats.has_network = lambda: pages.has_network

    async def add_pages() -> None:
        try:
            async for _ in feed:
                pages.notify()
        except Exception as error:
            pages.fail(error)

    def is_over() -> bool:
        return stop.is_set() or (not len(pages) and is_complete(job, planner))

    stopping = asyncio.create_task(stop.wait(), name="bulk stop")
    stopping.add_done_callback(lambda _: pages.notify())
    async with run_in_background(add_pages()), run_in_background(stopping):
        await pages.run(is_over)


async def feed_list(job: BulkJob, schedule: Schedule, changed: asyncio.Event, free_at: float) -> AsyncIterator[None]:
    """Add the hosts of a list, which are free at `free_at`, and their pages before the schedule runs out of them.

    Yield after each change of the schedule; wait until `changed` is set.
    """
    pending = deque(await job.query(JobDatabase.list_hosts))
    ids: dict[str, int] = {}
    last_pages: Counter[str] = Counter()
    while True:
        while pending and len(schedule) < HOSTS_AT_ONCE:
            host = pending.popleft()
            ids[host.name] = host.number
            schedule.add_host(host.name, host.pending, free_at=free_at)
        names = schedule.pop_hosts_needing_pages()
        for start in range(0, len(names), _LOOKUPS_AT_ONCE):
            part = names[start : start + _LOOKUPS_AT_ONCE]
            found = await job.list_pages([(ids[name], last_pages[name]) for name in part], count=PAGES_AT_ONCE)
            now = time.monotonic()
            for name, pages in zip(part, found, strict=True):
                if pages:
                    last_pages[name] = pages[-1].number
                    schedule.add_pages(name, pages, now=now)
            yield
        await changed.wait()
        changed.clear()


async def feed_crawl(
    job: BulkJob, planner: CrawlPlanner, schedule: Schedule, changed: asyncio.Event, free_at: float
) -> AsyncIterator[None]:
    """Add pages as `feed_list`, but few of each site. With fewer, more links are known when a page is chosen."""
    per_site = 2 * job.spec.rate.per_host
    while True:
        for site in planner.sites():
            for page in await planner.choose(job, site, per_site - planner.count_reading(site)):
                schedule.add_more_pages(page.host, [page], now=time.monotonic(), free_at=free_at)
        yield
        await changed.wait()
        changed.clear()


async def _write_report(job: BulkJob, seconds: float) -> JobReport:
    stats = job.stats
    this_run = {
        "pages": float(stats.written_now),
        "seconds": round(seconds, 3),
        "pages_per_s": round(stats.written_now / max(seconds, 0.001), 2),
        "tried_again": float(stats.retried),
    }
    folder = job.spec.folder
    found = await job.query(functools.partial(report.build_report, folder=folder, this_run=this_run))
    await job.query(lambda _: report.write_report(found, folder))
    return found
