"""Reads the best pages at once; a later one takes the place of one that fails or keeps everyone waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scraper import errors
from scraper.caching.single_flight import LANDING_LIMIT_S
from scraper.deadline import Deadline
from scraper.model import Reading
from scraper.reading.batch import LAST_WORD_S, Outcome, Read, outcome_of
from scraper.urls import host_of

Told = Callable[[int, str], None]
"""Told how many pages are read, and the host of the last one tried."""

PATIENCE_S = 8.0
"""A page that takes longer gets a rival, the next in the list; whichever is read first counts."""
TICK_S = 0.01
"""So that a page is late, not nearly late, when it is looked at."""


async def read_best(
    read: Read,
    urls: Sequence[str],
    wanted: int,
    deadline: Deadline,
    *,
    patience_s: float = PATIENCE_S,
    told: Told | None = None,
) -> dict[str, Outcome]:
    """What reading came to, by URL, of as many as were tried: until `wanted` are read or time is up."""
    race = _Race(read, urls, wanted, deadline, patience_s, told)
    try:
        await race.run()
    finally:
        await race.end()
    return race.outcomes


@dataclass(frozen=True, slots=True)
class _Try:
    """One page being read, and when it becomes late."""

    url: str
    late_at: float


class _Race:
    def __init__(
        self,
        read: Read,
        urls: Sequence[str],
        wanted: int,
        deadline: Deadline,
        patience_s: float,
        told: Told | None,
    ) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self._read = read
        self._waiting = list(reversed(urls))
        self._wanted = wanted
        self._deadline = deadline
        self._patience_s = patience_s
        self._told = told
        self._running: dict[asyncio.Task[Reading], _Try] = {}

    async def run(self) -> None:
        """Until enough is read, nothing is left to try, or time is up."""
        while self._missing > 0 and self._deadline.left_s() > 0:
            self._start()
            if not self._running:
                return
            done, _ = await asyncio.wait(
                self._running, timeout=self._next_look_s(), return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                self._finish(task)

    async def end(self) -> None:
        """Give back what is still being read; where it is missed, it counts as not read in time."""
        running = [task for task in self._running if not task.done()]
        for task in running:
            task.cancel()
            if self._missing > 0:
                self.outcomes[self._running[task].url] = _not_in_time(self._running[task].url)
        if running:
            await asyncio.wait(running, timeout=LANDING_LIMIT_S)

    @property
    def _missing(self) -> int:
        return self._wanted - sum(isinstance(outcome, Reading) for outcome in self.outcomes.values())

    def _start(self) -> None:
        """As many as are missing, and a rival for each that is late."""
        now = time.monotonic()
        in_time = sum(one.late_at > now for one in self._running.values())
        for _ in range(self._missing - in_time):
            if self._waiting:
                url = self._waiting.pop()
                left_s = self._deadline.left_s(reserve_s=LAST_WORD_S)
                task = asyncio.ensure_future(self._read(url, left_s))
                self._running[task] = _Try(url, now + self._patience_s)

    def _next_look_s(self) -> float:
        """Until the next page is late, or time is up."""
        now = time.monotonic()
        waits = [one.late_at - now for one in self._running.values() if one.late_at > now]
        return min([*waits, self._deadline.left_s()]) + TICK_S

    def _finish(self, task: asyncio.Task[Reading]) -> None:
        url = self._running.pop(task).url
        self.outcomes[url] = outcome_of(task, url)
        if self._told is not None:
            self._told(self._wanted - self._missing, host_of(url))


def _not_in_time(url: str) -> errors.FetchTimeoutError:
    return errors.FetchTimeoutError(
        f"The page at {host_of(url)} was not read before the time for the whole answer was up.",
        target=url,
        next_step="Fetch it by itself.",
    )
