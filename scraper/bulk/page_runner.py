"""Read the pages that a schedule selects, with bounded concurrency."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import time
from collections.abc import Awaitable, Callable

from scraper.bulk.model import JobPage, PageOutcome
from scraper.bulk.page_reader import PageResult, make_skipped_row
from scraper.bulk.retry_policy import RetryPolicy
from scraper.bulk.schedule import Schedule

GRACE_S = 10.0
"""Seconds that pages in progress may take after a stop; the others are read by the next run."""

ReadPage = Callable[[JobPage], Awaitable[PageResult]]
Deliver = Callable[[PageOutcome], Awaitable[None]]


class PageRunner:
    """Pages in progress in one process."""

    def __init__(
        self, schedule: Schedule, read: ReadPage, deliver: Deliver, *, concurrency: int, on_change: Callable[[], None]
    ) -> None:
        """Read `concurrency` pages of the schedule at once, and deliver their outcomes.

        `on_change` is called when a page was started or has ended, so that more pages can be added.
        """
        self._schedule = schedule
        self._read = read
        self._deliver = deliver
        self._concurrency = concurrency
        self._on_change = on_change
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._retries = RetryPolicy()
        self._error: BaseException | None = None
        self._is_over: Callable[[], bool] = lambda: True

    def __len__(self) -> int:
        """Return the number of pages in progress."""
        return len(self._tasks)

    def notify(self) -> None:
        """Check the schedule again: there are more pages, or it is time to end."""
        self._changed.set()

    def fail(self, error: BaseException) -> None:
        """End `run` with this exception."""
        self._error = self._error or error
        self._changed.set()

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Read until `is_over` returns True; then give pages in progress a short time to end.

        Raises:
            BaseException: An exception of `deliver`, or the argument of `fail`.
        """
        self._is_over = is_over
        try:
            while not is_over():
                if self._error is not None:
                    raise self._error
                self._start_pages()
                # Wait until something has changed or a paused host may be visited again.
                wait_s = self._schedule.wait_s(time.monotonic())
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(None if math.isinf(wait_s) else wait_s):
                        await self._changed.wait()
                self._changed.clear()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=GRACE_S)
        finally:
            self._is_over = lambda: True
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
        if self._error is not None:
            raise self._error

    def _start_pages(self) -> None:
        now = time.monotonic()
        if self._error is not None or self._is_over():
            return
        while len(self._tasks) < self._concurrency and (page := self._schedule.take_page(now)) is not None:
            task = asyncio.create_task(self._read_page(page), name=f"bulk {page.host}")
            self._tasks.add(task)
            task.add_done_callback(self._on_task_end)
            self._on_change()

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = self._error or error
        self._changed.set()
        self._on_change()

    async def _read_page(self, page: JobPage) -> None:
        if (site_error := self._retries.get_site_error(page)) is not None:
            await self._finish_page(PageResult(PageOutcome(page, make_skipped_row(page.url, site_error), 0.0), None))
            return
        result = await self._read(page)
        now = time.monotonic()
        pause_s = self._retries.get_retry_delay_s(page, result.error, result.outcome.seconds)
        if pause_s is None:
            await self._finish_page(result)
        else:
            self._schedule.retry_page(
                page, requested_at=result.requested_at, not_before=now + pause_s, now=now, gap_s=result.gap_s
            )

    async def _finish_page(self, result: PageResult) -> None:
        page, now = result.outcome.page, time.monotonic()
        self._schedule.finish_page(page, requested_at=result.requested_at, now=now, gap_s=result.gap_s)
        # Start the next page here: `run` would get its turn only after all other tasks.
        self._start_pages()
        self._changed.set()
        tries = self._retries.pop_tries(page)
        await self._deliver(dataclasses.replace(await result.get_outcome(), tries=tries))
