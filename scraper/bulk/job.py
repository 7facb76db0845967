"""Manage a job in its folder: options, remaining pages, and writing of rows.

The pages are read by this process or by a cluster; both take them from here and deliver the outcomes. Every page of the
list is written once, and written rows are never lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from scraper.bulk.errors import BulkError, to_bulk_error
from scraper.bulk.frontier import Frontier, FrontierCounts, HostBacklog
from scraper.bulk.job_setup import open_job_files
from scraper.bulk.model import IdSet, JobPage, JobSpec, PageOutcome
from scraper.bulk.outputs.files import RowOutput
from scraper.bulk.report import ProgressStats

T = TypeVar("T")

_GATHER_S = 0.2
"""Seconds during which rows are collected for one write. A kill loses at most these rows and the running pages."""
BATCH_ROWS = 256
"""Rows that may wait for the disk; with more, no page is started."""
_BATCH_CHARS = 64 << 20
"""Characters of rows that may wait for the disk; with more, no page is started."""


class BulkJob:
    """A job that is open in this process; use it as `async with BulkJob.open(spec)`."""

    def __init__(self, spec: JobSpec, frontier: Frontier, output: RowOutput, thread: ThreadPoolExecutor) -> None:
        """Use open files; `open` calls this in the thread that owns them."""
        self.spec = spec
        self.run_id: str = frontier.get_fact("run")
        """ID of the job; a row is identified by its URL and this ID."""
        self.is_resumed = bool(frontier.get_fact("begun"))
        """True if an earlier process worked on the job."""
        self.stats = ProgressStats()
        self.needs_snapshots = output.needs_snapshots
        self._frontier = frontier
        self._output = output
        self._thread = thread
        self._batch: list[PageOutcome] = []
        """Outcomes that are not yet written."""
        self._batch_chars = 0
        self._has_outcomes = asyncio.Event()
        self._has_space = asyncio.Event()
        self._failure: BulkError | None = None
        self._closing = False
        self._delivered = IdSet()
        self._began = time.monotonic()

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, spec: JobSpec, *, notify: Callable[[str], None] = lambda _: None) -> AsyncIterator[BulkJob]:
        """Start or continue the job; all delivered rows are written at the end of the block.

        Raises:
            BulkError: The job cannot be started, or the disk is full; the message says what to do.
        """
        loop = asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, thread_name_prefix="bulk")
        # One thread does all disk operations in order.
        stack = contextlib.ExitStack()
        is_abandoned = threading.Event()
        try:
            frontier, output = await loop.run_in_executor(
                thread, open_job_files, spec, stack, notify, is_abandoned.is_set
            )
            job = await loop.run_in_executor(thread, cls, spec, frontier, output, thread)
            job.stats.start(await job.counts(), time.monotonic())
            await job.query(lambda frontier: frontier.set_facts({"begun": True}))
            async with job._write_in_background():
                yield job
        finally:
            is_abandoned.set()
            await loop.run_in_executor(thread, stack.close)
            thread.shutdown()

    async def counts(self) -> FrontierCounts:
        """Return the numbers of pages, written pages, lines and repeated lines."""
        return await self._run_in_thread(self._frontier.counts)

    async def hosts(self) -> list[HostBacklog]:
        """Return the hosts with pages that are not done, those with most pages first."""
        return await self._run_in_thread(self._frontier.list_hosts)

    async def list_pages(self, after_by_host: Iterable[tuple[int, int]], *, count: int) -> list[list[JobPage]]:
        """Return up to `count` pages that are not done of each (host number, page number), after that page."""
        requests, list_pending = list(after_by_host), self._frontier.list_pending
        return await self._run_in_thread(
            lambda: [list_pending(host, after=after, count=count) for host, after in requests]
        )

    async def list_start_pages(self) -> list[JobPage]:
        """Return the start pages of a crawl, which are the first pages of the job."""
        return await self._run_in_thread(self._frontier.list_start_pages)

    async def add_pages(self, urls: Sequence[str]) -> list[JobPage | None]:
        """Add pages while the job runs; return None for those that it has already."""
        pages = await self._run_in_thread(lambda: self._frontier.add_pages(urls))
        self.stats.total += sum(page is not None for page in pages)
        return pages

    async def save_crawl(self, waiting: int, left_out: Sequence[tuple[str, int, str]]) -> None:
        """Record for the report how many URLs wait, and what was left out: reason, number, example."""
        await self._run_in_thread(lambda: self._frontier.set_facts({"waiting": waiting, "left_out": left_out}))

    async def deliver(self, outcome: PageOutcome) -> None:
        """Queue an outcome for writing; wait while the queue is full.

        Raises:
            BulkError: Writing failed.
        """
        while self._is_batch_full() and self._failure is None:
            self._has_space.clear()
            await self._has_space.wait()
        if self._failure is not None:
            raise self._failure
        if outcome.page.number in self._delivered:
            # A cluster may read a page twice, but it is written once.
            return
        self._delivered.add(outcome.page.number)
        self.stats.delivered += 1
        self.stats.retried += max(0, outcome.tries - 1)
        self._batch.append(outcome)
        self._batch_chars += len(outcome.row.markdown or "")
        if outcome.snapshot is not None:
            self._batch_chars += len(outcome.snapshot.body) + len(outcome.snapshot.html)
        self._has_outcomes.set()

    def _is_batch_full(self) -> bool:
        return len(self._batch) >= BATCH_ROWS or self._batch_chars >= _BATCH_CHARS

    async def flush(self) -> None:
        """Write all queued outcomes; raise BulkError if that fails."""
        outcomes, self._batch, self._batch_chars = self._batch, [], 0
        self._has_outcomes.clear()
        if outcomes:
            await self._run_in_thread(functools.partial(self._store_rows, outcomes))
            self.stats.count_written(outcomes, time.monotonic())
        self._has_space.set()

    async def finish(self) -> None:
        """Write all queued outcomes, and complete the output if the list is complete; raise BulkError on failure."""
        await self.flush()
        await self._run_in_thread(self._finish)

    async def query(self, query_frontier: Callable[[Frontier], T]) -> T:
        """Run a query on the frontier in its thread, and return its result."""
        return await self._run_in_thread(lambda: query_frontier(self._frontier))

    async def _run_in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except BulkError:
            raise
        except Exception as error:
            # Any error ends the writing, so callers must not wait for it.
            self._failure = self._failure or to_bulk_error(error, self.spec.folder)
            self._has_space.set()
            raise self._failure from error

    @contextlib.asynccontextmanager
    async def _write_in_background(self) -> AsyncIterator[None]:
        """Write queued outcomes while the block runs, and the remaining ones at its end."""
        task = asyncio.create_task(self._write_repeatedly(), name="bulk writer")
        try:
            yield
        finally:
            self._closing = True
            self._has_outcomes.set()
            await asyncio.wait({task})
            if self._failure is None:
                await self.flush()
                await self._run_in_thread(self._add_time_spent)

    async def _write_repeatedly(self) -> None:
        with contextlib.suppress(BulkError):
            while not self._closing:
                await self._has_outcomes.wait()
                if not self._is_batch_full() and not self._closing:
                    await asyncio.sleep(_GATHER_S)
                await self.flush()

    def _store_rows(self, outcomes: list[PageOutcome]) -> None:
        self._frontier.mark_done(outcomes, self._output.append(outcomes))
        if (position := self._output.rotate()) is not None:
            self._frontier.set_position(position)
            self._output.remove_obsolete()

    def _finish(self) -> None:
        counts = self._frontier.counts()
        if counts.done >= counts.pages:
            self._frontier.set_position(self._output.finish())
            self._output.remove_obsolete()
        self._add_time_spent()

    def _add_time_spent(self) -> None:
        spent_s = time.monotonic() - self._began
        self._began = time.monotonic()
        self._frontier.set_facts({"spent_s": (self._frontier.get_fact("spent_s") or 0.0) + spent_s})
