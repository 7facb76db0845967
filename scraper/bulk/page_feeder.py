"""Keeps pages at hand: hosts are taken up as others end, and their pages laid ready before they run out."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

from scraper.bulk.frontier import HostLeft
from scraper.bulk.job import BulkJob
from scraper.bulk.schedule import Schedule

HOSTS = 2_000
"""Hosts under work at once: more than can be asked at once, few enough to be held in memory."""
PAGES = 64
"""Of a host, laid at hand in one go."""
AT_ONCE = 200
"""Hosts looked up in one go: other work of the disk gets its turn in between."""


class PageFeeder:
    """Supplies a schedule from a job."""

    def __init__(self, job: BulkJob, schedule: Schedule, *, on_supply: Callable[[], None]) -> None:
        self._job = job
        self._schedule = schedule
        self._on_supply = on_supply
        self._coming: deque[HostLeft] = deque()
        self._numbers: dict[str, int] = {}
        """The hosts under work, by name."""
        self._last: dict[str, int] = {}
        self._wanted = asyncio.Event()
        self._read = self._said = False
        # Whoever was cut off may have asked any host just now.
        rested = job.resumed and job.order.pace.gap_s > 0
        self._free_at = time.monotonic() + job.order.pace.gap_s if rested else -math.inf

    @property
    def exhausted(self) -> bool:
        """Whether every host has been taken up."""
        return self._read and not self._coming

    def look(self) -> None:
        """Something was taken, or has ended: see whether more is wanted."""
        self._wanted.set()

    async def run(self) -> None:
        """Feed until cancelled."""
        self._coming.extend(await self._job.hosts())
        self._read = True
        self._wanted.set()
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._take_up()
            names = self._schedule.wanting()
            for start in range(0, len(names), AT_ONCE):
                await self._lay_out(names[start : start + AT_ONCE])
            if self.exhausted and not self._said:
                # The end may be here already: nobody would say so.
                self._said = True
                self._on_supply()

    def _take_up(self) -> None:
        while self._coming and len(self._schedule) < HOSTS:
            host = self._coming.popleft()
            self._numbers[host.name], self._last[host.name] = host.number, 0
            self._schedule.enter(host.name, host.waiting, free_at=self._free_at)

    async def _lay_out(self, names: list[str]) -> None:
        wanted = [(self._numbers[name], self._last[name]) for name in names]
        found = await self._job.waiting(wanted, count=PAGES)
        now = time.monotonic()
        for name, pages in zip(names, found, strict=True):
            if pages:
                self._last[name] = pages[-1].number
                self._schedule.supply(name, pages, now=now)
        self._on_supply()
