"""A whole job: opened, read by this process or by a cluster, reported."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import importlib
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from scraper.app import App
from scraper.bulk import report
from scraper.bulk.errors import MissingExtraError
from scraper.bulk.frontier import HostBacklog
from scraper.bulk.job import BulkJob
from scraper.bulk.model import JobSpec
from scraper.bulk.page_reader import JobPageReader
from scraper.bulk.page_runner import PageRunner, ReadPage
from scraper.bulk.report import Report
from scraper.bulk.schedule import Schedule
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


async def run_here(
    job: BulkJob,
    read: ReadPage,
    stop: asyncio.Event,
    *,
    concurrency: int,
    hosts_are_heard: bool = False,
) -> None:
    """Read until the list is at its end or `stop` is set; `hosts_are_heard`: each says how often it is asked.

    Raises:
        BulkError: what is read cannot be written.
    """
    schedule = Schedule(job.order.pace, hosts_are_heard=hosts_are_heard, left=lambda: job.tally.left)
    job.tally.at_least_s = schedule.longest_s
    feed = PageFeeder(job, schedule, on_supply=lambda: pages.look())
    pages = PageRunner(schedule, read, job.deliver, concurrency=concurrency, on_change=feed.look)
    feeding = asyncio.create_task(feed.run(), name="bulk feed")
    feeding.add_done_callback(lambda task: _tell(task, pages))
    stopping = asyncio.create_task(_look_at_stop(stop, pages), name="bulk stop")
    try:
        await pages.run(lambda: stop.is_set() or (feed.exhausted and not schedule and not len(pages)))
    finally:
        for task in (stopping, feeding):
            task.cancel()
        await asyncio.wait({stopping, feeding})


async def _look_at_stop(stop: asyncio.Event, pages: PageRunner) -> None:
    await stop.wait()
    pages.look()


def _tell(feeding: asyncio.Task[None], pages: PageRunner) -> None:
    if not feeding.cancelled() and (fault := feeding.exception()) is not None:
        pages.fail(fault)


HOSTS = 2_000
"""Hosts under work at once: more than can be asked at once, few enough to be held in memory."""
PAGES = 64
"""Of a host, laid at hand in one go."""
AT_ONCE = 200
"""Hosts looked up in one go: other work of the disk gets its turn in between."""


class PageFeeder:
    """Supplies a schedule from a job."""

    def __init__(self, job: BulkJob, schedule: Schedule, *, on_supply: Callable[[], None]) -> None:
        self._job = job
        self._schedule = schedule
        self._on_supply = on_supply
        self._coming: deque[HostBacklog] = deque()
        self._numbers: dict[str, int] = {}
        """The hosts under work, by name."""
        self._last: dict[str, int] = {}
        self._wanted = asyncio.Event()
        self._read = self._said = False
        # Whoever was cut off may have asked any host just now.
        rested = job.resumed and job.order.pace.gap_s > 0
        self._free_at = time.monotonic() + job.order.pace.gap_s if rested else -math.inf

    @property
    def exhausted(self) -> bool:
        """Whether every host has been taken up."""
        return self._read and not self._coming

    def look(self) -> None:
        """Something was taken, or has ended: see whether more is wanted."""
        self._wanted.set()

    async def run(self) -> None:
        """Feed until cancelled."""
        self._coming.extend(await self._job.hosts())
        self._read = True
        self._wanted.set()
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._take_up()
            names = self._schedule.wanting()
            for start in range(0, len(names), AT_ONCE):
                await self._lay_out(names[start : start + AT_ONCE])
            if self.exhausted and not self._said:
                # The end may be here already: nobody would say so.
                self._said = True
                self._on_supply()

    def _take_up(self) -> None:
        while self._coming and len(self._schedule) < HOSTS:
            host = self._coming.popleft()
            self._numbers[host.name], self._last[host.name] = host.number, 0
            self._schedule.enter(host.name, host.waiting, free_at=self._free_at)

    async def _lay_out(self, names: list[str]) -> None:
        wanted = [(self._numbers[name], self._last[name]) for name in names]
        found = await self._job.waiting(wanted, count=PAGES)
        now = time.monotonic()
        for name, pages in zip(names, found, strict=True):
            if pages:
                self._last[name] = pages[-1].number
                self._schedule.supply(name, pages, now=now)
        self._on_supply()
