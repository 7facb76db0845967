"""Read blocks of pages in one process of a cluster.

Outcomes go to the collector. Only the process that started the job writes its files.
"""

from __future__ import annotations

import asyncio
import math
import pickle
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from scraper.bulk.cluster.outcome_collector import OutcomeCollector
from scraper.bulk.model import JobPage, JobRate, PageOutcome
from scraper.bulk.page_dispatcher import PageDispatcher, ReadPage
from scraper.bulk.schedule import Schedule

_GATHER_S = 0.2
"""Seconds during which outcomes are gathered before they are submitted."""
_BATCH = 64
"""Outcomes that are submitted without further delay."""
OUTCOMES_LIMIT = 2 * _BATCH
"""Outcomes waiting for submission; with more, no page is started."""
_POLL_S = 2.0
"""Seconds between two checks if the job was stopped."""


class _Block:
    """A block in progress."""

    def __init__(self, pages: int) -> None:
        self.remaining = pages
        self.done = asyncio.Event()
        if not pages:
            self.done.set()

    def count_submitted(self) -> None:
        """Count one submitted page."""
        self.remaining -= 1
        if not self.remaining:
            self.done.set()


class BlockRunner:
    """Read all blocks of this process in one schedule, so that the limits per host apply to all of them."""

    def __init__(
        self,
        collector: OutcomeCollector,
        read: ReadPage,
        rate: JobRate,
        *,
        concurrency: Callable[[], int],
        respects_robots: bool = False,
        on_restarted_block: Callable[[], None] = lambda: None,
        keeps_hosts: bool = False,
    ) -> None:
        """Read `concurrency()` pages at once.

        `on_restarted_block` is called for a block that another process has started. With `respects_robots`, a host may
        require a gap between requests. With `keeps_hosts`, a host may be in several blocks.
        """
        self._collector = collector
        self._rate = rate
        self._on_restarted_block = on_restarted_block
        self._schedule = Schedule(rate, respects_robots=respects_robots, keeps_hosts=keeps_hosts)
        self._pages = PageDispatcher(
            self._schedule, read, self._deliver, concurrency=concurrency, on_change=lambda: None
        )
        self._blocks: dict[int, _Block] = {}
        """Block by page number."""
        self._outcomes: list[PageOutcome] = []
        self._has_outcomes = asyncio.Event()
        self._has_space = asyncio.Event()
        self._is_stopped = False
        self._is_over = False
        """True after the run was stopped or failed."""
        self._error: BaseException | None = None

    async def run(self) -> None:
        """Read the pages of all blocks until canceled or stopped."""
        tasks = [asyncio.create_task(self._submit_repeatedly()), asyncio.create_task(self._poll_running())]
        for task in tasks:
            task.add_done_callback(self._on_task_end)
        try:
            await self._pages.run(lambda: self._is_stopped)
            await self._flush()
        except BaseException as error:
            self._error = error
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self._is_over = True
            for block in self._blocks.values():
                block.done.set()

    async def read(self, number: int, pages: Sequence[JobPage]) -> int:
        """Read one block and return how many of its pages this process has read.

        Raises:
            BaseException: The run failed.
        """
        start = await self._collector.start_block(number, tuple(page.number for page in pages))
        if self._is_over:
            return self._check_error(0)
        if start.was_started:
            self._on_restarted_block()
        remaining = set(start.remaining)
        requested = [page for page in pages if page.number in remaining]
        block = _Block(len(requested))
        self._add_pages(requested, block, pauses_hosts=start.was_started)
        await block.done.wait()
        return self._check_error(len(requested) - block.remaining)

    def _check_error(self, read: int) -> int:
        if self._error is not None:
            raise self._error
        return read

    def _add_pages(self, pages: Sequence[JobPage], block: _Block, *, pauses_hosts: bool) -> None:
        by_host: dict[str, list[JobPage]] = defaultdict(list)
        for page in pages:
            by_host[page.host].append(page)
            self._blocks[page.number] = block
        now = time.monotonic()
        for host, host_pages in by_host.items():
            free_at = now + self._rate.gap_s if pauses_hosts else -math.inf
            self._schedule.add_more_pages(host, host_pages, now=now, free_at=free_at)
        self._schedule.pop_hosts_needing_pages()
        self._pages.notify()

    async def _deliver(self, outcome: PageOutcome) -> None:
        # If submitting ends, the tasks that wait here are canceled.
        while len(self._outcomes) >= OUTCOMES_LIMIT:
            self._has_space.clear()
            await self._has_space.wait()
        self._outcomes.append(outcome)
        self._has_outcomes.set()

    async def _submit_repeatedly(self) -> None:
        while True:
            await self._has_outcomes.wait()
            if len(self._outcomes) < _BATCH:
                await asyncio.sleep(_GATHER_S)
            await self._flush()

    async def _flush(self) -> None:
        outcomes, self._outcomes = self._outcomes, []
        self._has_outcomes.clear()
        self._has_space.set()
        if not outcomes:
            return
        numbers = tuple(outcome.page.number for outcome in outcomes)
        packed = await asyncio.to_thread(pickle.dumps, outcomes, pickle.HIGHEST_PROTOCOL)
        if not await self._collector.submit(numbers, packed):
            self._stop()
        for number in numbers:
            self._blocks.pop(number).count_submitted()

    async def _poll_running(self) -> None:
        while not self._is_stopped:
            await asyncio.sleep(_POLL_S)
            if not await self._collector.is_running():
                self._stop()

    def _stop(self) -> None:
        self._is_stopped = True
        self._pages.notify()

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._pages.fail(error)
