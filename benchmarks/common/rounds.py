"""Run contenders in interleaved rounds, so that a temporarily slow machine affects all of them."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from math import inf

from benchmarks.common.contender import Contender, Lap, Reading, Running, running

_MARK = r"MARK-[\w-]+-\d+"


@dataclass(frozen=True, slots=True)
class Entry:
    """A contender with its reading for each round."""

    contender: Contender
    reading: Callable[[int], Reading]
    """Return the reading of a round, with new URLs."""
    marks: int = 0
    """Number of distinct marker words in a complete text."""

    @property
    def name(self) -> str:
        """Name of the contender."""
        return self.contender.name


@dataclass(slots=True)
class Result:
    """Laps of one entry, with medians over the rounds."""

    laps: list[Lap] = field(default_factory=list)
    complete: int = 0

    @property
    def pages(self) -> int:
        """Number of requested pages."""
        return sum(lap.pages for lap in self.laps)

    @property
    def pages_per_s(self) -> float:
        """Pages per second."""
        return statistics.median(lap.pages / lap.seconds for lap in self.laps)

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds per page, all processes."""
        return self._cpu_ms(lambda lap: lap.usage.total_s)

    @property
    def python_ms(self) -> float:
        """CPU milliseconds per page in Python."""
        return self._cpu_ms(lambda lap: lap.usage.python_s)

    @property
    def driver_ms(self) -> float:
        """CPU milliseconds per page in node."""
        return self._cpu_ms(lambda lap: lap.usage.driver_s)

    @property
    def browser_ms(self) -> float:
        """CPU milliseconds per page in the browser."""
        return self._cpu_ms(lambda lap: lap.usage.browser_s)

    @property
    def client_ms(self) -> float:
        """CPU milliseconds per page of the client process, which no other figure includes."""
        return self._cpu_ms(lambda lap: lap.client_s)

    @property
    def latencies(self) -> list[float]:
        """Sorted seconds of all pages."""
        return sorted(seconds for lap in self.laps for seconds in lap.latencies)

    @property
    def failures(self) -> list[tuple[str, str]]:
        """URL and error of each page that failed."""
        return [failure for lap in self.laps for failure in lap.failures]

    def cpu_ratio(self, other: Result) -> float:
        """Return the ratio of CPU per page to another entry: the median over the rounds."""
        return _median_ratio(self.laps, other.laps, lambda lap: lap.usage.total_s / lap.pages)

    def speed_ratio(self, other: Result) -> float:
        """Return the ratio of pages per second to another entry: the median over the rounds."""
        return _median_ratio(self.laps, other.laps, lambda lap: lap.pages / lap.seconds)

    def _cpu_ms(self, part: Callable[[Lap], float]) -> float:
        return statistics.median(part(lap) * 1000 / lap.pages for lap in self.laps)


async def interleaved(entries: Sequence[Entry], rounds: int, budget_s: float = inf) -> dict[str, Result]:
    """Start all contenders, let each read once without measurement, then `rounds` times in turn.

    Only the first round may begin after `budget_s`.
    """
    async with AsyncExitStack() as stack:
        started = [await stack.enter_async_context(running(entry.contender)) for entry in entries]
        results = {entry.name: Result() for entry in entries}
        end = time.monotonic() + budget_s
        for number in range(rounds + 1):
            if number > 1 and time.monotonic() > end:
                break
            for entry, contender in zip(entries, started, strict=True):
                lap, complete = await _lap(entry, contender, number)
                if number > 0:
                    results[entry.name].laps.append(lap)
                    results[entry.name].complete += complete
        return results


def percentile(values: Sequence[float], share: float) -> float:
    """Return the percentile of sorted values; 0 without values."""
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0


async def _lap(entry: Entry, contender: Running, number: int) -> tuple[Lap, int]:
    lap = await contender.read(entry.reading(number))
    counts = await contender.counts(_MARK)
    return lap, sum(count >= entry.marks for count in counts)


def _median_ratio(ours: Iterable[Lap], theirs: Iterable[Lap], figure: Callable[[Lap], float]) -> float:
    return statistics.median(
        figure(own) / figure(their) for own, their in itertools.zip_longest(ours, theirs) if own and their
    )
