"""Reads what a schedule says, as many pages at once as may be; whoever feeds it, and wherever it runs."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import time
from collections.abc import Awaitable, Callable

from scraper.bulk.model import JobPage, PageOutcome
from scraper.bulk.page_reader import PageResult, row_of_lost
from scraper.bulk.retry_policy import RetryPolicy
from scraper.bulk.schedule import Schedule

GRACE_S = 10.0
"""What is under way may take so long to end when the job is told to stop; the rest is read next time."""

ReadPage = Callable[[JobPage], Awaitable[PageResult]]
Deliver = Callable[[PageOutcome], Awaitable[None]]


class PageRunner:
    """The pages under way in one process."""

    def __init__(
        self,
        schedule: Schedule,
        read: ReadPage,
        deliver: Deliver,
        *,
        concurrency: int,
        on_change: Callable[[], None],
    ) -> None:
        """`on_change`: is told when pages were begun or ended, so that more can be laid at hand."""
        self._schedule = schedule
        self._read = read
        self._deliver = deliver
        self._concurrency = concurrency
        self._on_change = on_change
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._tries = RetryPolicy()
        self._fault: BaseException | None = None
        self._is_over: Callable[[], bool] = lambda: True

    def __len__(self) -> int:
        return len(self._tasks)

    def look(self) -> None:
        """Something changed outside: there are more pages, or it is time to end."""
        self._changed.set()

    def fail(self, fault: BaseException) -> None:
        """End with this."""
        self._fault = self._fault or fault
        self._changed.set()

    async def run(self, over: Callable[[], bool]) -> None:
        """Read until it is `over`; what is under way then is given a little time.

        Raises:
            BaseException: what `deliver` raised, or whom `fail` was told of.
        """
        self._is_over = over
        try:
            while not over():
                if self._fault is not None:
                    raise self._fault
                self._begin()
                await self._something(self._schedule.wait_s(time.monotonic()))
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=GRACE_S)
        finally:
            await self._end()
        if self._fault is not None:
            raise self._fault

    async def _something(self, wait_s: float) -> None:
        """Wait until something changed, or a host may be asked again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if math.isinf(wait_s) else wait_s):
                await self._changed.wait()
        self._changed.clear()

    def _begin(self) -> None:
        now = time.monotonic()
        if self._fault is not None or self._is_over():
            return
        while len(self._tasks) < self._concurrency and (page := self._schedule.take(now)) is not None:
            task = asyncio.create_task(self._one(page), name=f"bulk {page.host}")
            self._tasks.add(task)
            task.add_done_callback(self._over)
            self._on_change()

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = self._fault or fault
        self._changed.set()
        self._on_change()

    async def _one(self, page: JobPage) -> None:
        if (lost := self._tries.lost(page)) is not None:
            await self._over_with(PageResult(PageOutcome(page, row_of_lost(page.url, lost), 0.0), None))
            return
        read = await self._read(page)
        now = time.monotonic()
        pause_s = self._tries.after_s(page, read.error, read.outcome.seconds)
        if pause_s is not None:
            rested = now + pause_s
            self._schedule.again(page, asked_at=read.asked_at, not_before=rested, now=now, gap_s=read.gap_s)
            return
        await self._over_with(read)

    async def _over_with(self, read: PageResult) -> None:
        page, now = read.outcome.page, time.monotonic()
        self._schedule.done(page, asked_at=read.asked_at, now=now, gap_s=read.gap_s)
        # Not by way of `run`: its turn comes after that of everything else.
        self._begin()
        self._changed.set()
        tries = self._tries.of(page)
        await self._deliver(dataclasses.replace(await read.whole(), tries=tries))

    async def _end(self) -> None:
        self._is_over = lambda: True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
