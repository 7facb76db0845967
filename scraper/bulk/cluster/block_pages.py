"""Reads blocks in one process of a cluster: all their pages in one schedule, each host at its own pace."""

from __future__ import annotations

import asyncio
import math
import pickle
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from scraper.bulk.cluster.row_collector import StartedBlock
from scraper.bulk.model import CrawlRate, JobPage, PageOutcome
from scraper.bulk.page_runner import PageRunner, ReadPage
from scraper.bulk.schedule import Schedule

GATHER_S = 0.2
"""How long outcomes are gathered before they are handed in."""
GATHERED = 64
HELD = 2 * GATHERED
"""Outcomes that may wait while others are handed in; beyond, no page is begun."""
ASK_S = 2.0
"""Between two looks whether the job was told to stop."""


class RowCollectorCalls(Protocol):
    """The desk, from afar."""

    def begin(self, block: int, numbers: tuple[int, ...]) -> Awaitable[StartedBlock]: ...

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
        desk: RowCollectorCalls,
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
