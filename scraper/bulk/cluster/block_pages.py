"""Reads blocks in one process of a cluster: all their pages in one schedule, each host at its own pace."""

from __future__ import annotations

import asyncio
import contextlib
import math
import pickle
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from scraper.bulk.model import CrawlRate, IdSet, JobPage, PageOutcome
from scraper.bulk.page_runner import PageRunner, ReadPage
from scraper.bulk.schedule import Schedule

WAITING_BYTES = 128 << 20
"""Handed in and not collected; beyond, whoever hands in waits."""


@dataclass(frozen=True, slots=True)
class BlockStart:
    """What of a block is to be read."""

    left: tuple[int, ...]
    again: bool
    """Somebody has begun it before, and may have asked its hosts just now."""


class RowCollector:
    """Its methods are called over the network, several at once, in one event loop."""

    def __init__(self, rest_s: float = 0.0) -> None:
        """`rest_s`: so long hosts are to be left alone, because somebody may have asked them just now."""
        self._rested_at = time.monotonic() + rest_s
        self._handed_in = IdSet()
        self._begun = IdSet()
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._changed = asyncio.Condition()
        self._stopped = False

    async def begin(self, block: int, numbers: tuple[int, ...]) -> BlockStart:
        """Begin a block, or go on with it; nothing is left when the job was told to stop."""
        again = block in self._begun or time.monotonic() < self._rested_at
        self._begun.add(block)
        left = () if self._stopped else tuple(one for one in numbers if one not in self._handed_in)
        return BlockStart(left, again)

    async def hand_in(self, numbers: tuple[int, ...], packed: bytes) -> bool:
        """Take outcomes, packed; whether to go on."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._bytes < WAITING_BYTES or self._stopped)
            for number in numbers:
                self._handed_in.add(number)
            self._waiting.append(packed)
            self._bytes += len(packed)
            self._changed.notify_all()
        return not self._stopped

    async def collect(self, wait_s: float) -> list[bytes]:
        """What was handed in since the last time; waits for the first."""
        async with self._changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait_for(lambda: bool(self._waiting))
            found = list(self._waiting)
            self._waiting.clear()
            self._bytes = 0
            self._changed.notify_all()
        return found

    async def going_on(self) -> bool:
        """Whether pages are to be read."""
        return not self._stopped

    async def stop(self) -> None:
        """Let everybody end what is under way, and no more."""
        async with self._changed:
            self._stopped = True
            self._changed.notify_all()


GATHER_S = 0.2
"""How long outcomes are gathered before they are handed in."""
GATHERED = 64
HELD = 2 * GATHERED
"""Outcomes that may wait while others are handed in; beyond, no page is begun."""
ASK_S = 2.0
"""Between two looks whether the job was told to stop."""


class RowCollectorClient(Protocol):
    """The desk, from afar."""

    def begin(self, block: int, numbers: tuple[int, ...]) -> Awaitable[BlockStart]: ...

    def hand_in(self, numbers: tuple[int, ...], packed: bytes) -> Awaitable[bool]: ...

    def going_on(self) -> Awaitable[bool]: ...


class _Block:
    """A block under work."""

    def __init__(self, pages: int) -> None:
        self.left = pages
        self.done = asyncio.Event()
        if not pages:
            self.done.set()

    def handed_in(self) -> None:
        """One page less."""
        self.left -= 1
        if not self.left:
            self.done.set()


class BlockPageRunner:
    """All blocks of this process."""

    def __init__(
        self,
        desk: RowCollectorClient,
        read: ReadPage,
        pace: CrawlRate,
        *,
        concurrency: int,
        hosts_are_heard: bool = False,
        on_again: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_again`: is told when a block comes that somebody else has begun."""
        self._desk = desk
        self._pace = pace
        self._on_again = on_again
        self._schedule = Schedule(pace, hosts_are_heard=hosts_are_heard)
        self._pages = PageRunner(
            self._schedule, read, self._deliver, concurrency=concurrency, on_change=lambda: None
        )
        self._blocks: dict[int, _Block] = {}
        """By page."""
        self._gathered: list[PageOutcome] = []
        self._some = asyncio.Event()
        self._room = asyncio.Event()
        self._stopped = False
        self._over = False
        """Nobody reads any more: stopped, or failed."""
        self._fault: BaseException | None = None

    async def run(self) -> None:
        """Read what blocks bring, until cancelled or stopped."""
        beside = [asyncio.create_task(self._hand_in()), asyncio.create_task(self._look())]
        for task in beside:
            task.add_done_callback(self._on_end)
        try:
            await self._pages.run(lambda: self._stopped)
            await self._flush()
        except BaseException as fault:
            self._fault = fault
            raise
        finally:
            for task in beside:
                task.cancel()
            await asyncio.wait(beside)
            self._over = True
            for block in self._blocks.values():
                block.done.set()

    async def read(self, number: int, pages: Sequence[JobPage]) -> int:
        """Read one block to its end; how many of its pages this process read.

        Raises:
            BaseException: it cannot be read here.
        """
        begun = await self._desk.begin(number, tuple(page.number for page in pages))
        if self._over:
            return self._result(0)
        if begun.again:
            self._on_again()
        left = set(begun.left)
        wanted = [page for page in pages if page.number in left]
        block = _Block(len(wanted))
        self._take_up(wanted, block, rest=begun.again)
        await block.done.wait()
        return self._result(len(wanted) - block.left)

    def _result(self, read: int) -> int:
        if self._fault is not None:
            raise self._fault
        return read

    def _take_up(self, pages: Sequence[JobPage], block: _Block, *, rest: bool) -> None:
        by_host: dict[str, list[JobPage]] = defaultdict(list)
        for page in pages:
            by_host[page.host].append(page)
            self._blocks[page.number] = block
        now = time.monotonic()
        for host, of_host in by_host.items():
            self._schedule.enter(host, len(of_host), free_at=now + self._pace.gap_s if rest else -math.inf)
            self._schedule.supply(host, of_host, now=now)
        self._schedule.wanting()
        self._pages.look()

    async def _deliver(self, outcome: PageOutcome) -> None:
        # Where nobody hands in any more, whoever waits here is cancelled.
        while len(self._gathered) >= HELD:
            self._room.clear()
            await self._room.wait()
        self._gathered.append(outcome)
        self._some.set()

    async def _hand_in(self) -> None:
        while True:
            await self._some.wait()
            if len(self._gathered) < GATHERED:
                await asyncio.sleep(GATHER_S)
            await self._flush()

    async def _flush(self) -> None:
        outcomes, self._gathered = self._gathered, []
        self._some.clear()
        self._room.set()
        if not outcomes:
            return
        numbers = tuple(outcome.page.number for outcome in outcomes)
        packed = await asyncio.to_thread(pickle.dumps, outcomes, pickle.HIGHEST_PROTOCOL)
        if not await self._desk.hand_in(numbers, packed):
            self._stop()
        for number in numbers:
            self._blocks.pop(number).handed_in()

    async def _look(self) -> None:
        while not self._stopped:
            await asyncio.sleep(ASK_S)
            if not await self._desk.going_on():
                self._stop()

    def _stop(self) -> None:
        self._stopped = True
        self._pages.look()

    def _on_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._pages.fail(fault)
