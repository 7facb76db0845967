"""A job in its folder: what it was asked for, what is left of it, and the one way by which rows get written.

Whoever reads the pages (this process, or a cluster) takes them from here and delivers what they came to; the
rest is the same: every page of the list is written once, and what was written stays written.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import functools
import importlib
import os
import resource
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import apsw

from scraper.bulk import lists
from scraper.bulk.errors import BulkError, DiskFull, InUse, OtherJob
from scraper.bulk.frontier import FILE_NAME, Counts, Frontier, HostLeft
from scraper.bulk.lists import Line
from scraper.bulk.model import STDIN, Format, Order, Outcome, Page
from scraper.bulk.numbers import Numbers
from scraper.bulk.outputs.protocol import Output
from scraper.bulk.tally import Tally

__all__ = ["BulkJob"]

T = TypeVar("T")

GATHER_S = 0.2
"""How long rows are gathered for one write: what a kill costs at the most, beside the pages under way."""
BEHIND_ROWS = 256
BEHIND_CHARS = 64 << 20
"""Rows, and their size, that may wait for the disk; beyond, no page is begun."""
LEAST_ROOM_BYTES = 1 << 20
_LOCK = "lock"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_OUTPUTS = {
    Format.JSONL: ("jsonl", "JsonlOutput"),
    Format.PARQUET: ("parquet", "ParquetOutput"),
    Format.WARC: ("warc", "WarcOutput"),
}


@dataclass(slots=True)
class _Waiting:
    """Rows that are not written yet."""

    outcomes: list[Outcome] = field(default_factory=list)
    chars: int = 0

    def add(self, outcome: Outcome) -> None:
        """Take one in."""
        self.outcomes.append(outcome)
        self.chars += _chars(outcome)

    @property
    def many(self) -> bool:
        """Whether no more should come for now."""
        return len(self.outcomes) >= BEHIND_ROWS or self.chars >= BEHIND_CHARS


class BulkJob:
    """One job; `async with BulkJob.open(order)`."""

    def __init__(self, order: Order, frontier: Frontier, output: Output, thread: ThreadPoolExecutor) -> None:
        self.order = order
        self.run: str = frontier.fact("run")
        """Names the job: a row is known by its URL and this."""
        self.resumed = bool(frontier.fact("begun"))
        """Somebody has worked on it before."""
        self.tally = Tally()
        self.wants_snapshots = output.wants_snapshots
        self._frontier = frontier
        self._output = output
        self._thread = thread
        self._waiting = _Waiting()
        self._some = asyncio.Event()
        self._room = asyncio.Event()
        self._failure: BulkError | None = None
        self._closing = False
        self._delivered = Numbers()
        self._began = time.monotonic()

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, order: Order, *, tell: Callable[[str], None] = lambda _: None
    ) -> AsyncIterator[BulkJob]:
        """Begin the job, or go on with it; what is delivered is written by the end of the block.

        Raises:
            BulkError: it cannot be begun, or the disk is full; the text says what to do.
        """
        loop = asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, thread_name_prefix="bulk")
        # One thread does all that touches the disk, in the order of asking.
        stack = contextlib.ExitStack()
        try:
            frontier, output = await loop.run_in_executor(thread, _opened, order, stack, tell)
            job = await loop.run_in_executor(thread, cls, order, frontier, output, thread)
            job.tally.begin(await job.counts())
            await job.ask(lambda frontier: frontier.note({"begun": True}))
            async with job._writing():
                yield job
        finally:
            await loop.run_in_executor(thread, stack.close)
            thread.shutdown()

    async def counts(self) -> Counts:
        """How many pages there are, and how many are written."""
        return await self._do(self._frontier.counts)

    async def hosts(self) -> list[HostLeft]:
        """The hosts that have pages left, most first."""
        return await self._do(lambda: list(self._frontier.hosts()))

    async def waiting(self, wanted: Iterable[tuple[int, int]], *, count: int) -> list[list[Page]]:
        """For each host and the last of its pages that is known: the pages that follow."""
        asked = list(wanted)
        waiting = self._frontier.waiting
        return await self._do(lambda: [waiting(host, after=after, count=count) for host, after in asked])

    async def deliver(self, outcome: Outcome) -> None:
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
        except (OSError, apsw.Error) as error:
            self._failure = self._failure or _told(error, self.order)
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
            self.tally.written(waiting.outcomes)
        self._room.set()

    def _keep(self, outcomes: list[Outcome]) -> None:
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


def _opened(
    order: Order, stack: contextlib.ExitStack, tell: Callable[[str], None]
) -> tuple[Frontier, Output]:
    try:
        order.folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(_locked(order))
        _refuse_strangers(order)
        frontier = Frontier(order.folder, limit=order.limit)
        stack.callback(frontier.close)
        _agree(order, frontier)
        if not frontier.filled:
            frontier.add(_told_lines(lists.read(order.source), tell))
        module, name = _OUTPUTS[order.format]
        make = getattr(importlib.import_module(f"scraper.bulk.outputs.{module}"), name)
        output: Output = make(order.folder, frontier.place)
        stack.callback(output.close)
    except (OSError, apsw.Error) as error:
        raise _told(error, order) from error
    return frontier, output


@contextlib.contextmanager
def _locked(order: Order) -> Iterator[None]:
    """One process works on a folder."""
    lock = os.open(order.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"Another process is at work in {order.folder}: let it end first.") from None
        yield
    finally:
        os.close(lock)


def _refuse_strangers(order: Order) -> None:
    """Files that look like output and belong to no job here would be cut off."""
    if not (order.folder / FILE_NAME).exists() and any(order.folder.glob("pages-*")):
        raise OtherJob(f"{order.folder} holds pages, but not the job that wrote them: give another folder.")


def _agree(order: Order, frontier: Frontier) -> None:
    """Note what was asked for, or hold it against what was asked for the first time."""
    asked = {
        "--format": order.format.value,
        "--render": order.render,
        "list": lists.fingerprint(order.source),
    }
    begun = frontier.fact("order")
    if begun is None:
        run = time.strftime("%Y%m%dT%H%M%S-", time.gmtime()) + uuid.uuid4().hex[:8]
        frontier.note({"order": asked, "run": run, "source": order.source})
        return
    differing = [name for name in asked if begun[name] != asked[name]]
    if order.source == STDIN and frontier.filled and "list" in differing:
        # What came by standard input once, or from a file, is all in the folder.
        differing.remove("list")
    if differing:
        raise OtherJob(_difference(order, begun, asked, differing, str(frontier.fact("source"))))


def _difference(
    order: Order, begun: dict[str, str], asked: dict[str, str], names: list[str], source: str
) -> str:
    parts = [
        f"its list ({source}) was another, or has changed since"
        if name == "list"
        else f"it was begun with {name} {begun[name]}, not {asked[name]}"
        for name in names
    ]
    return (
        f"{order.folder} holds another job: {'; '.join(parts)}. "
        "Ask for the same again to go on with it, or give another folder."
    )


def _told_lines(lines: Iterable[Line], tell: Callable[[str], None]) -> Iterable[Line]:
    told_at = time.monotonic()
    for number, line in enumerate(lines, start=1):
        if not number % 1_000 and time.monotonic() - told_at > 2.0:
            told_at = time.monotonic()
            tell(f"taking in the list: {number:,} lines")
        yield line


def _told(error: OSError | apsw.Error, order: Order) -> BulkError:
    full = isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno in _FULL)
    if full or (isinstance(error, apsw.IOError) and _cannot_grow(order)):
        return DiskFull(
            f"There is no room left in {order.folder}. What was written is safe: make room, "
            "and the same command goes on."
        )
    reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
    return BulkError(f"{order.folder} cannot be used: {reason}.")


def _cannot_grow(order: Order) -> bool:
    """Whether files may not grow there; SQLite tells of quotas and limits as of a broken disk."""
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return True
    with contextlib.suppress(OSError):
        found = os.statvfs(order.folder)
        return found.f_bavail * found.f_frsize < LEAST_ROOM_BYTES
    return False


def _chars(outcome: Outcome) -> int:
    chars = len(outcome.row.markdown or "")
    if outcome.snapshot is not None:
        chars += len(outcome.snapshot.body) + len(outcome.snapshot.html)
    return chars
