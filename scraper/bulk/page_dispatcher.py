"""Start the pages that a schedule selects, with limited concurrency, and retry or deliver them when they end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import math
import time
from collections.abc import Awaitable, Callable

from scraper import errors
from scraper.bulk.model import JobPage, PageOutcome
from scraper.bulk.page_reader import PageResult, make_skipped_row
from scraper.bulk.retry_policy import NETWORK_PAUSE_S, RetryPolicy
from scraper.bulk.schedule import Schedule

log = logging.getLogger(__name__)

GRACE_S = 10.0
"""Seconds for running pages to finish after a stop; the next run reads the unfinished ones."""

_CHECK_S = 0.5
"""Seconds between two checks of the allowed concurrency."""

ReadPage = Callable[[JobPage], Awaitable[PageResult]]
"""Read one page. It must not raise errors of the page."""
Deliver = Callable[[PageOutcome], Awaitable[None]]
"""Receive the outcome of a page; wait while the receiver is busy."""


class PageDispatcher:
    """Read pages concurrently in one process."""

    def __init__(
        self,
        schedule: Schedule,
        read: ReadPage,
        deliver: Deliver,
        *,
        concurrency: Callable[[], int],
        on_change: Callable[[], None],
    ) -> None:
        """Read `concurrency()` pages of the schedule at once, and deliver their outcomes.

        `on_change` is called after a page started or ended, so that more pages can be added.
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
        self._no_network_until: float | None = None
        """Monotonic time at which a page is tried again; None while the network works."""
        self._is_over: Callable[[], bool] = lambda: True

    def __len__(self) -> int:
        """Return the number of running pages."""
        return len(self._tasks)

    @property
    def has_network(self) -> bool:
        """False while pages wait because this machine has no network."""
        return self._no_network_until is None

    def notify(self) -> None:
        """Wake up `run`, because pages were added or the job may end."""
        self._changed.set()

    def fail(self, error: BaseException) -> None:
        """Let `run` raise this exception."""
        self._error = self._error or error
        self._changed.set()

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Read pages until `is_over` returns True; then give running pages a short time to finish.

        Raises:
            BaseException: An exception of `read` or `deliver`, or the argument of `fail`.
        """
        self._is_over = is_over
        try:
            while not is_over():
                if self._error is not None:
                    raise self._error
                self._start_pages()
                # Wait until something has changed or a paused host may be visited again.
                wait_s = self._get_wait_s(time.monotonic())
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

    def _get_wait_s(self, now: float) -> float:
        """Return the seconds until the next page may start; infinity if only an event can allow it."""
        if self._no_network_until is None:
            return min(self._schedule.wait_s(now), _CHECK_S)
        if now < self._no_network_until:
            return self._no_network_until - now
        return math.inf if self._tasks else self._schedule.wait_s(now)

    def _get_free_slots(self, now: float) -> int:
        if self._no_network_until is None:
            return self._concurrency() - len(self._tasks)
        return int(now >= self._no_network_until and not self._tasks)

    def _start_pages(self) -> None:
        now = time.monotonic()
        if self._error is not None or self._is_over():
            return
        while self._get_free_slots(now) > 0 and (page := self._schedule.take_page(now)) is not None:
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
        self._note_network(result, now)
        if pause_s is None:
            await self._finish_page(result)
        else:
            self._schedule.retry_page(
                page, requested_at=result.requested_at, not_before=now + pause_s, now=now, gap_s=result.gap_s
            )

    def _note_network(self, result: PageResult, now: float) -> None:
        """Pause the job while there is no network, and resume it when a page has reached its host."""
        if isinstance(result.error, errors.OfflineError):
            if self._no_network_until is None:
                log.warning("%s Pages wait until the network is back.", result.error)
            self._no_network_until = now + NETWORK_PAUSE_S
        elif self._no_network_until is not None and result.requested_at is not None:
            log.warning("The network is back.")
            self._no_network_until = None

    async def _finish_page(self, result: PageResult) -> None:
        page, now = result.outcome.page, time.monotonic()
        self._schedule.finish_page(page, requested_at=result.requested_at, now=now, gap_s=result.gap_s)
        # Start the next page here: `run` would get its turn only after all other tasks.
        self._start_pages()
        self._changed.set()
        tries = self._retries.pop_tries(page)
        await self._deliver(dataclasses.replace(await result.get_outcome(), tries=tries))
