"""A job in its folder: what it was asked for, what is left of it, and the one way by which rows get written.

Whoever reads the pages (this process, or a cluster) takes them from here and delivers what they came to; the
rest is the same: every page of the list is written once, and what was written stays written.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from scraper.bulk.errors import BulkError, told
from scraper.bulk.frontier import Frontier, FrontierCounts, HostBacklog
from scraper.bulk.job_setup import opened
from scraper.bulk.model import IdSet, JobPage, JobSpec, PageOutcome
from scraper.bulk.outputs.files import Output
from scraper.bulk.report import ProgressStats

T = TypeVar("T")

GATHER_S = 0.2
"""How long rows are gathered for one write: what a kill costs at the most, beside the pages under way."""
BEHIND_ROWS = 256
BEHIND_CHARS = 64 << 20
"""Rows, and their size, that may wait for the disk; beyond, no page is begun."""


@dataclass(slots=True)
class _Waiting:
    """Rows that are not written yet."""

    outcomes: list[PageOutcome] = field(default_factory=list)
    chars: int = 0

    def add(self, outcome: PageOutcome) -> None:
        """Take one in."""
        self.outcomes.append(outcome)
        self.chars += _chars(outcome)

    @property
    def many(self) -> bool:
        """Whether no more should come for now."""
        return len(self.outcomes) >= BEHIND_ROWS or self.chars >= BEHIND_CHARS


class BulkJob:
    """One job; `async with BulkJob.open(order)`."""

    def __init__(
        self, order: JobSpec, frontier: Frontier, output: Output, thread: ThreadPoolExecutor
    ) -> None:
        self.order = order
        self.run: str = frontier.fact("run")
        """Names the job: a row is known by its URL and this."""
        self.resumed = bool(frontier.fact("begun"))
        """Somebody has worked on it before."""
        self.tally = ProgressStats()
        self.wants_snapshots = output.wants_snapshots
        self._frontier = frontier
        self._output = output
        self._thread = thread
        self._waiting = _Waiting()
        self._some = asyncio.Event()
        self._room = asyncio.Event()
        self._failure: BulkError | None = None
        self._closing = False
        self._delivered = IdSet()
        self._began = time.monotonic()

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, order: JobSpec, *, tell: Callable[[str], None] = lambda _: None
    ) -> AsyncIterator[BulkJob]:
        """Begin the job, or go on with it; what is delivered is written by the end of the block.

        Raises:
            BulkError: it cannot be begun, or the disk is full; the text says what to do.
        """
        loop = asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, thread_name_prefix="bulk")
        # One thread does all that touches the disk, in the order of asking.
        stack = contextlib.ExitStack()
        left = threading.Event()
        try:
            frontier, output = await loop.run_in_executor(thread, opened, order, stack, tell, left.is_set)
            job = await loop.run_in_executor(thread, cls, order, frontier, output, thread)
            job.tally.begin(await job.counts(), time.monotonic())
            await job.ask(lambda frontier: frontier.note({"begun": True}))
            async with job._writing():
                yield job
        finally:
            left.set()
            await loop.run_in_executor(thread, stack.close)
            thread.shutdown()

    async def counts(self) -> FrontierCounts:
        """How many pages there are, and how many are written."""
        return await self._do(self._frontier.counts)

    async def hosts(self) -> list[HostBacklog]:
        """The hosts that have pages left, most first."""
        return await self._do(lambda: list(self._frontier.hosts()))

    async def waiting(self, wanted: Iterable[tuple[int, int]], *, count: int) -> list[list[JobPage]]:
        """For each host and the last of its pages that is known: the pages that follow."""
        asked = list(wanted)
        waiting = self._frontier.waiting
        return await self._do(lambda: [waiting(host, after=after, count=count) for host, after in asked])

    async def deliver(self, outcome: PageOutcome) -> None:
        """Have an outcome written soon; waits while the disk is behind.

        Raises:
            BulkError: nothing can be written any more.
        """
        while self._waiting.many and self._failure is None:
            self._room.clear()
            await self._room.wait()
        self.check()
        if outcome.page.number in self._delivered:
            # A cluster may read a page twice; it is written once.
            return
        self._delivered.add(outcome.page.number)
        self.tally.delivered += 1
        self.tally.tried_again += max(0, outcome.tries - 1)
        self._waiting.add(outcome)
        self._some.set()

    def check(self) -> None:
        """Whether rows can be written.

        Raises:
            BulkError: they cannot.
        """
        if self._failure is not None:
            raise self._failure

    async def settled(self) -> None:
        """Wait until what was delivered is written.

        Raises:
            BulkError: it cannot be written.
        """
        await self._write()

    async def finish(self) -> None:
        """Write what is delivered and, where the list is at its end, make everything readable.

        Raises:
            BulkError: it cannot be written.
        """
        await self._write()
        await self._do(self._finish)

    async def ask(self, question: Callable[[Frontier], T]) -> T:
        """What the frontier says, in its own thread."""
        return await self._do(lambda: question(self._frontier))

    async def _do(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except BulkError:
            raise
        except Exception as error:
            # Whatever it is: nobody may wait for a writer that is gone.
            self._failure = self._failure or told(error, self.order.folder)
            self._room.set()
            raise self._failure from error

    @contextlib.asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        """Write what is delivered while the block runs, and what is left at its end."""
        task = asyncio.create_task(self._keep_writing(), name="bulk writer")
        try:
            yield
        finally:
            self._closing = True
            self._some.set()
            await asyncio.wait({task})
            if self._failure is None:
                await self._write()
                await self._do(self._note_time)

    async def _keep_writing(self) -> None:
        with contextlib.suppress(BulkError):
            while not self._closing:
                await self._some.wait()
                if not self._waiting.many and not self._closing:
                    await asyncio.sleep(GATHER_S)
                await self._write()

    async def _write(self) -> None:
        waiting, self._waiting = self._waiting, _Waiting()
        self._some.clear()
        if waiting.outcomes:
            await self._do(functools.partial(self._keep, waiting.outcomes))
            self.tally.written(waiting.outcomes, time.monotonic())
        self._room.set()

    def _keep(self, outcomes: list[PageOutcome]) -> None:
        self._frontier.finish(outcomes, self._output.append(outcomes))
        if (turned := self._output.turned()) is not None:
            self._frontier.move_to(turned)
            self._output.tidied()

    def _finish(self) -> None:
        counts = self._frontier.counts()
        if counts.done >= counts.pages:
            self._frontier.move_to(self._output.finished())
            self._output.tidied()
        self._note_time()

    def _note_time(self) -> None:
        spent_s = time.monotonic() - self._began
        self._began = time.monotonic()
        self._frontier.note({"spent_s": (self._frontier.fact("spent_s") or 0.0) + spent_s})


def _chars(outcome: PageOutcome) -> int:
    chars = len(outcome.row.markdown or "")
    if outcome.snapshot is not None:
        chars += len(outcome.snapshot.body) + len(outcome.snapshot.html)
    return chars
