"""Run a job: open it, read its pages in this process or on a cluster, and write the report."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import time
from collections.abc import Awaitable, Callable

from scraper.bulk import report
from scraper.bulk.crawl import CrawlPageReader, open_planner
from scraper.bulk.job import BulkJob
from scraper.bulk.local_reading import count_pages_at_once, read_locally
from scraper.bulk.model import JobSpec, MissingExtraError
from scraper.bulk.page_reader import JobPageReader
from scraper.bulk.report import JobReport
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
    run_on_cluster = None if cluster is None else _import_cluster_runner()
    async with BulkJob.open(spec, notify=notify) as job:
        began = time.monotonic()
        async with watch(job):
            if run_on_cluster is not None:
                await run_on_cluster(job, make_job_settings(spec, settings), str(cluster), stop, notify)
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
    counts = await job.counts()
    if counts.done >= counts.pages and (planner is None or not planner.has_next()):
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


def _import_cluster_runner() -> Callable[
    [BulkJob, Settings, str, asyncio.Event, Callable[[str], None]], Awaitable[None]
]:
    try:
        from scraper.bulk.cluster.runner import run_on_cluster
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] == "ray":
            raise MissingExtraError("--cluster", "ray") from None
        raise
    return run_on_cluster
