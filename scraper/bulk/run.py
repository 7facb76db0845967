"""A whole job: opened, read by this process or by a cluster, reported."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import importlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from scraper.app import App
from scraper.bulk import report
from scraper.bulk.errors import MissingExtraError
from scraper.bulk.job import BulkJob
from scraper.bulk.model import JobSpec
from scraper.bulk.page_reader import JobPageReader
from scraper.bulk.report import Report
from scraper.bulk.runner import run_here
from scraper.settings import Settings


class JobWatcher(Protocol):
    """Is told how a job goes; all of it returns at once."""

    def say(self, sentence: str) -> None:
        """Something worth a line."""

    def watch(self, job: BulkJob) -> contextlib.AbstractAsyncContextManager[None]:
        """Show how the job stands while the block runs."""


class _Nobody:
    def say(self, sentence: str) -> None:
        """Nothing."""

    @contextlib.asynccontextmanager
    async def watch(self, job: BulkJob) -> AsyncIterator[None]:
        """Nothing."""
        yield


async def bulk(
    order: JobSpec,
    settings: Settings,
    *,
    cluster: str | None = None,
    watcher: JobWatcher | None = None,
    stop: asyncio.Event | None = None,
) -> Report:
    """Read a list of URLs into a folder; the same order goes on where the last one ended.

    `cluster`: the address of a Ray cluster, `auto` for the one of this machine, `local` for one of its own;
    None reads in this process. `stop` ends the job early; what was begun is ended, and written.

    Raises:
        BulkError: the job cannot be begun or gone on with; the text says what to do.
        SettingsError: the browsers cannot be set up so.
    """
    watcher, stop = watcher or _Nobody(), stop or asyncio.Event()
    run_far = None if cluster is None else _cluster_runner()
    async with BulkJob.open(order, tell=watcher.say) as job:
        began = time.monotonic()
        async with watcher.watch(job):
            if run_far is not None:
                await run_far(job, settings_for(order, settings), str(cluster), stop, watcher.say)
            else:
                await _read_here(job, settings_for(order, settings), stop)
            await job.finish()
        return await _reported(job, time.monotonic() - began)


def settings_for(order: JobSpec, settings: Settings) -> Settings:
    """The settings under which a process reads for a job: the browsers take what its pace lets through."""
    pace = order.pace
    wanted = pace.concurrency
    return dataclasses.replace(
        settings,
        peek_slots=settings.peek_slots if wanted is None else wanted,
        render_slots=settings.render_slots if wanted is None else min(settings.render_slots, wanted),
        queue_limit=max(settings.queue_limit, wanted or 0),
        host_pages=pace.per_host,
        host_gap_s=pace.gap_s,
    )


async def _read_here(job: BulkJob, settings: Settings, stop: asyncio.Event) -> None:
    counts = await job.counts()
    if counts.done >= counts.pages:
        # A job at its end needs no browser.
        return
    async with App.open(settings) as app:
        if job.resumed:
            app.fetcher.assume_recent_requests()
        reader = JobPageReader(app.fetcher, app.workers, job.order, keep_snapshots=job.wants_snapshots)
        at_once = job.order.pace.concurrency or settings.peek_slots + settings.render_slots
        heard = settings.robots != "off"
        await run_here(job, reader.read, stop, concurrency=at_once, hosts_are_heard=heard)


async def _reported(job: BulkJob, seconds: float) -> Report:
    tally = job.tally
    this_run = {
        "pages": float(tally.written_now),
        "seconds": round(seconds, 3),
        "pages_per_s": round(tally.written_now / max(seconds, 0.001), 2),
        "tried_again": float(tally.tried_again),
    }
    folder = job.order.folder
    found = await job.ask(functools.partial(report.gathered, folder=folder, this_run=this_run))
    await job.ask(lambda _: report.written(found, folder))
    return found


class _RunsFar(Protocol):
    async def __call__(
        self, job: BulkJob, settings: Settings, address: str, stop: asyncio.Event, say: Callable[[str], None]
    ) -> None: ...


def _cluster_runner() -> _RunsFar:
    try:
        module = importlib.import_module("scraper.bulk.cluster.runner")
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] == "ray":
            raise MissingExtraError("--cluster", "ray") from None
        raise
    run: _RunsFar = module.run_on_cluster
    return run
