"""Read several pages at once, within one deadline."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scraper import errors
from scraper.caching.single_flight import CANCEL_LIMIT_S
from scraper.call_context import Deadline, ProgressCallback
from scraper.model import Reading
from scraper.urls import cache_key, host_of, parse_target

log = logging.getLogger(__name__)

PageOutcome = Reading | errors.ScraperError
ReadUrl = Callable[[str, float], Awaitable[Reading]]
"""Read one URL within so many seconds."""

LAST_RESERVE_S = 0.5
"""Seconds of the deadline reserved, so that a page that runs out of time still returns what it has."""
PATIENCE_S = 8.0
"""Seconds. A page that takes longer gets a competitor, the next in the list; the first one read counts."""
TICK_S = 0.01
"""Seconds added to a wait, so that a page is late, not nearly late, when it is checked."""


def repeated_hosts(urls: Iterable[str]) -> frozenset[str]:
    """Return the hosts of more than one of the URLs."""
    pages = Counter(map(host_of, set(urls)))
    return frozenset(host for host, count in pages.items() if host and count > 1)


async def read_all(
    read: ReadUrl, urls: Sequence[str], *, concurrency: int, deadline: Deadline, progress: ProgressCallback | None
) -> list[PageOutcome]:
    """Return a reading or an error for each URL, in their order; a repeated URL is read once."""
    batch = _Batch(read, concurrency, deadline, progress)
    keys = [batch.add(url) for url in urls]
    await batch.run()
    return [batch.outcomes[key] for key in keys]


class _Batch:
    def __init__(self, read: ReadUrl, concurrency: int, deadline: Deadline, progress: ProgressCallback | None) -> None:
        self.outcomes: dict[str, PageOutcome] = {}
        self._read = read
        self._slots = asyncio.Semaphore(concurrency)
        self._deadline = deadline
        self._progress = progress
        self._targets: dict[str, str] = {}
        self._done = 0

    def add(self, url: str) -> str:
        """Add a URL, and return the key of its outcome."""
        try:
            target = parse_target(url)
        except errors.InvalidUrlError as error:
            self.outcomes[url] = error
            return url
        key = cache_key(target)
        self._targets.setdefault(key, target)
        return key

    async def run(self) -> None:
        """Read the URLs until the deadline."""
        # No task group: a bug in one page must not cancel the others.
        tasks = {
            key: asyncio.create_task(self._read_one(target), name=f"batch {host_of(target)}")
            for key, target in self._targets.items()
        }
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=self._deadline.left_s())
        finally:
            await _cancel(tasks.values())
        for key, task in tasks.items():
            target = self._targets[key]
            is_late = not task.done() or task.cancelled()
            self.outcomes[key] = _batch_timeout_error(target) if is_late else _task_outcome(task, target)

    async def _read_one(self, target: str) -> PageOutcome:
        outcome: PageOutcome
        async with self._slots:
            try:
                outcome = await self._read(target, self._deadline.left_s(reserve_s=LAST_RESERVE_S))
            except errors.ScraperError as error:
                outcome = error
        self._done += 1
        if self._progress is not None:
            total = len(self._targets)
            self._progress(self._done, total, f"read {self._done} of {total}: {host_of(target)}")
        return outcome


async def read_best(
    read: ReadUrl,
    urls: Sequence[str],
    count: int,
    deadline: Deadline,
    *,
    patience_s: float = PATIENCE_S,
    on_read: Callable[[int, str], None] | None = None,
) -> dict[str, PageOutcome]:
    """Read the first `count` URLs at once, and later ones in place of those that fail or are late.

    Args:
        read: Reads one URL.
        urls: URLs, best first.
        count: Readings to return.
        deadline: End of the call.
        patience_s: Seconds after which a page is late and gets a competitor.
        on_read: Receives the number of readings so far and the host of the last page tried.

    Returns:
        The outcome of each URL that was tried.
    """
    race = _HedgedReads(read, urls, count, deadline, patience_s, on_read)
    try:
        await race.run()
    finally:
        await race.close()
    return race.outcomes


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One page that is being read."""

    url: str
    late_at: float
    """Seconds of the monotonic clock."""


class _HedgedReads:
    def __init__(
        self,
        read: ReadUrl,
        urls: Sequence[str],
        count: int,
        deadline: Deadline,
        patience_s: float,
        on_read: Callable[[int, str], None] | None,
    ) -> None:
        self.outcomes: dict[str, PageOutcome] = {}
        self._read = read
        self._waiting = list(reversed(urls))
        self._count = count
        self._deadline = deadline
        self._patience_s = patience_s
        self._on_read = on_read
        self._running: dict[asyncio.Task[Reading], _Attempt] = {}

    async def run(self) -> None:
        """Read until there are enough readings, no URL is left, or the deadline."""
        while self._missing > 0 and self._deadline.left_s() > 0:
            self._start()
            if not self._running:
                return
            done, _ = await asyncio.wait(
                self._running, timeout=self._next_check_s(), return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                self._finish(task)

    async def close(self) -> None:
        """Cancel what is being read; if readings are missing, each such page is a timeout."""
        if self._missing > 0:
            for task, attempt in self._running.items():
                if not task.done():
                    self.outcomes[attempt.url] = _late_error(attempt.url)
        await _cancel(self._running)

    @property
    def _missing(self) -> int:
        return self._count - sum(isinstance(outcome, Reading) for outcome in self.outcomes.values())

    def _start(self) -> None:
        """Start as many reads as are missing, and a competitor for each that is late."""
        now = time.monotonic()
        in_time = sum(one.late_at > now for one in self._running.values())
        for _ in range(self._missing - in_time):
            if self._waiting:
                url = self._waiting.pop()
                left_s = self._deadline.left_s(reserve_s=LAST_RESERVE_S)
                task = asyncio.ensure_future(self._read(url, left_s))
                self._running[task] = _Attempt(url, now + self._patience_s)

    def _next_check_s(self) -> float:
        """Return the seconds until the next page is late, or until the deadline."""
        now = time.monotonic()
        waits = [one.late_at - now for one in self._running.values() if one.late_at > now]
        return min([*waits, self._deadline.left_s()]) + TICK_S

    def _finish(self, task: asyncio.Task[Reading]) -> None:
        url = self._running.pop(task).url
        self.outcomes[url] = _task_outcome(task, url)
        if self._on_read is not None:
            self._on_read(self._count - self._missing, host_of(url))


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel the tasks that still run, and wait until they have released what they hold."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=CANCEL_LIMIT_S)


def _task_outcome(task: asyncio.Task[Any], target: str) -> PageOutcome:
    """Return the outcome of a task that has ended; an unexpected exception is logged."""
    fault = task.exception()
    if fault is None:
        outcome: PageOutcome = task.result()
        return outcome
    if isinstance(fault, errors.ScraperError):
        return fault
    log.error("a bug while reading %s", host_of(target), exc_info=fault)
    return errors.InternalError(
        f"Reading the page at {host_of(target)} failed by a fault of this server.",
        target=target,
        next_step="Its log says more. Try another source.",
    )


def _batch_timeout_error(target: str) -> errors.FetchTimeoutError:
    return errors.FetchTimeoutError(
        f"The page at {host_of(target)} was not read before the batch's time was up.",
        target=target,
        next_step="Fetch it by itself, or ask for fewer pages at once.",
    )


def _late_error(url: str) -> errors.FetchTimeoutError:
    return errors.FetchTimeoutError(
        f"The page at {host_of(url)} was not read before the time for the whole answer was up.",
        target=url,
        next_step="Fetch it by itself.",
    )
