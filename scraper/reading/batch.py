"""Reads several pages at once: each its own success or failure, one deadline for all, in the order asked."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence

from scraper import errors
from scraper.caching.single_flight import LANDING_LIMIT_S
from scraper.deadline import Deadline
from scraper.model import Reading
from scraper.progress import ProgressCallback
from scraper.urls import cache_key, host_of, parse_target

log = logging.getLogger(__name__)

Outcome = Reading | errors.ScraperError
Read = Callable[[str, float], Awaitable[Reading]]
"""Reads one URL within so many seconds."""

LAST_WORD_S = 0.5
"""Kept back from the deadline, so that a page that runs out of time still says what it has."""


def hosts_of_several(urls: Iterable[str]) -> frozenset[str]:
    """The hosts that are asked for more than one of these pages."""
    pages = Counter(map(host_of, set(urls)))
    return frozenset(host for host, count in pages.items() if host and count > 1)


async def read_all(
    read: Read, urls: Sequence[str], *, at_once: int, deadline: Deadline, progress: ProgressCallback | None
) -> list[Outcome]:
    """What reading each URL came to; a URL that stands there twice is read once."""
    batch = _Batch(read, at_once, deadline, progress)
    keys = [batch.add(url) for url in urls]
    await batch.run()
    return [batch.outcomes[key] for key in keys]


class _Batch:
    def __init__(
        self, read: Read, at_once: int, deadline: Deadline, progress: ProgressCallback | None
    ) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self._read = read
        self._places = asyncio.Semaphore(at_once)
        self._deadline = deadline
        self._progress = progress
        self._targets: dict[str, str] = {}
        self._done = 0

    def add(self, url: str) -> str:
        """Take a URL in, and say under which key its outcome will stand."""
        try:
            target = parse_target(url)
        except errors.InvalidUrlError as error:
            self.outcomes[url] = error
            return url
        key = cache_key(target)
        self._targets.setdefault(key, target)
        return key

    async def run(self) -> None:
        """Read everything that was added, as far as the time goes."""
        # No task group: a fault in one page must not end the others.
        tasks = {
            key: asyncio.create_task(self._one(target), name=f"batch {host_of(target)}")
            for key, target in self._targets.items()
        }
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=self._deadline.left_s())
        finally:
            await _end(tasks.values())
        for key, task in tasks.items():
            self.outcomes[key] = _outcome(task, self._targets[key])

    async def _one(self, target: str) -> Outcome:
        outcome: Outcome
        async with self._places:
            try:
                outcome = await self._read(target, self._deadline.left_s(reserve_s=LAST_WORD_S))
            except errors.ScraperError as error:
                outcome = error
        self._done += 1
        if self._progress is not None:
            total = len(self._targets)
            self._progress(self._done, total, f"read {self._done} of {total}: {host_of(target)}")
        return outcome


async def _end(tasks: Iterable[asyncio.Task[Outcome]]) -> None:
    """Cancel what still runs, and wait until it has given back what it holds."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=LANDING_LIMIT_S)


def outcome_of(task: asyncio.Task[Outcome], target: str) -> Outcome:
    """What a task that is done came to; a fault of ours is logged, and told as one."""
    fault = task.exception()
    if fault is None:
        return task.result()
    if isinstance(fault, errors.ScraperError):
        return fault
    log.error("a fault of ours while reading %s", host_of(target), exc_info=fault)
    return errors.InternalError(
        f"Reading the page at {host_of(target)} failed by a fault of this server.",
        target=target,
        next_step="Its log says more. Try another source.",
    )


def _outcome(task: asyncio.Task[Outcome], target: str) -> Outcome:
    if not task.done() or task.cancelled():
        return _not_in_time(target)
    return outcome_of(task, target)


def _not_in_time(target: str) -> errors.FetchTimeoutError:
    return errors.FetchTimeoutError(
        f"The page at {host_of(target)} was not read before the batch's time was up.",
        target=target,
        next_step="Fetch it by itself, or ask for fewer pages at once.",
    )
