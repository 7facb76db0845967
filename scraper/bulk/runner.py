"""Reads a job's pages in this process: as many at once as may be, each host at its own pace."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from scraper.bulk.again import after_s
from scraper.bulk.feed import Feed
from scraper.bulk.job import BulkJob
from scraper.bulk.model import Page
from scraper.bulk.page_reader import Read
from scraper.bulk.schedule import Schedule

__all__ = ["run_here"]

GRACE_S = 10.0
"""What is under way may take so long to end when the job is told to stop; the rest is read next time."""

ReadPage = Callable[[Page], Awaitable[Read]]


async def run_here(job: BulkJob, read: ReadPage, stop: asyncio.Event) -> None:
    """Read until the list is at its end or `stop` is set.

    Raises:
        BulkError: what is read cannot be written.
    """
    await _Runner(job, read, stop).run()


class _Runner:
    def __init__(self, job: BulkJob, read: ReadPage, stop: asyncio.Event) -> None:
        self._job = job
        self._read = read
        self._stop = stop
        self._changed = asyncio.Event()
        self._schedule = Schedule(job.order.pace)
        job.tally.at_least_s = self._schedule.longest_s
        self._feed = Feed(job, self._schedule, on_supply=self._changed.set)
        self._under_way: set[asyncio.Task[None]] = set()
        self._tries: Counter[int] = Counter()
        self._fault: BaseException | None = None

    async def run(self) -> None:
        """All of it."""
        feeding = asyncio.create_task(self._feed.run(), name="bulk feed")
        stopping = asyncio.create_task(self._wake_at_stop())
        feeding.add_done_callback(lambda _: self._changed.set())
        try:
            while not self._ended() and not self._stop.is_set():
                if feeding.done():
                    feeding.result()
                if self._fault is not None:
                    raise self._fault
                self._begin_pages()
                await self._something(self._schedule.wait_s(time.monotonic()))
        finally:
            stopping.cancel()
            feeding.cancel()
            await asyncio.wait({stopping, feeding})
            await self._end_pages()
        self._job.check()

    def _ended(self) -> bool:
        return self._feed.exhausted and not self._schedule and not self._under_way

    async def _wake_at_stop(self) -> None:
        await self._stop.wait()
        self._changed.set()

    async def _something(self, wait_s: float) -> None:
        """Wait until something changed, or a host may be asked again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if math.isinf(wait_s) else wait_s):
                await self._changed.wait()
        self._changed.clear()

    def _begin_pages(self) -> None:
        now = time.monotonic()
        while len(self._under_way) < self._job.order.pace.concurrency:
            page = self._schedule.take(now)
            if page is None:
                break
            task = asyncio.create_task(self._one(page), name=f"bulk {page.host}")
            self._under_way.add(task)
            task.add_done_callback(self._over)
        self._feed.look()

    def _over(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = self._fault or fault
        self._changed.set()

    async def _one(self, page: Page) -> None:
        read = await self._read(page)
        now = time.monotonic()
        if read.error is not None:
            self._tries[page.number] += 1
            pause_s = after_s(read.error, self._tries[page.number])
            if pause_s is not None:
                self._job.tally.tried_again += 1
                self._schedule.again(page, not_before=now + pause_s, now=now)
                return
            del self._tries[page.number]
        self._schedule.done(page, asked_at=read.asked_at, now=now)
        self._changed.set()
        await self._job.deliver(read.outcome)

    async def _end_pages(self) -> None:
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=GRACE_S)
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)
