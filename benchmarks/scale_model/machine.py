"""One machine that reads a list, simulated event by event: cores, slots, hosts at their pace, retries. Pure.

Whose turn it is, is decided by the runner's own schedule. A page is work of the process that runs the job
(one thread), waiting for the site, and work of browser and readers; cores are shared equally by all that have
work at the moment (processor sharing), none having more than one. Pages of a kind are not all alike: without
that, those that begin together would end together and leave the cores idle while all of them wait.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scraper.bulk.model import CrawlRate, JobPage
from scraper.bulk.schedule import Schedule
from scraper.reading.outcome import PAUSE_S

_BEFORE = 0.4
"""Share of a page's work that is done before its response: tab, request, and the judging of headers."""
_UNLIKE = 0.5
"""Of its usual work a page takes this much more or less."""
_LOW = 64
"""Pages of a host laid at hand at once."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a core that one visit takes."""

    loop_s: float
    """Of the process that runs the job: one thread."""
    browser_s: float
    reader_s: float
    """Of the processes that read what came."""
    rendered: bool = False

    @property
    def total_s(self) -> float:
        """Of all processes."""
        return self.loop_s + self.browser_s + self.reader_s

    def __mul__(self, times: float) -> Cost:
        return Cost(self.loop_s * times, self.browser_s * times, self.reader_s * times, self.rendered)


@dataclass(frozen=True, slots=True)
class Slots:
    """How many at once."""

    pages: int
    peeks: int
    renders: int


@dataclass(frozen=True, slots=True)
class Machine:
    """What reads."""

    cores: float
    slots: Slots
    costs: Mapping[str, Cost]
    """By kind of page."""
    start_s: float = 0.0
    """From the start of the job to its first request."""


@dataclass(frozen=True, slots=True)
class Site:
    """One host: how far away, and the kinds of its pages in their order."""

    latency_s: float
    kinds: Sequence[str]


@dataclass(frozen=True, slots=True)
class Run:
    """How it went."""

    seconds: float
    busy_s: float
    """Seconds of a core."""
    loop_busy_s: float
    tried_again: int

    def bottleneck(self, machine: Machine) -> str:
        """Return the resource that was exhausted most of the time."""
        shares = {
            "cores": self.busy_s / (self.seconds * machine.cores),
            "one thread": self.loop_busy_s / (self.seconds * min(1.0, machine.cores)),
        }
        name, share = max(shares.items(), key=lambda entry: entry[1])
        return name if share > 0.8 else "hosts"


def simulate(machine: Machine, rate: CrawlRate, sites: Iterable[Site], *, pause_s: float) -> Run:
    """Read every page of the sites; for `busy` ones the whole host is left alone for `pause_s`."""
    return _Simulation(machine, rate, list(sites), pause_s).run()


class _Cores:
    """Processor sharing in virtual time: what each job has had since the beginning is the same for all."""

    def __init__(self, cores: float) -> None:
        self._cores = cores
        self._virtual = 0.0
        self._now = 0.0
        self._jobs: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self.busy_s = 0.0

    def add(self, work_s: float, then: Callable[[], None], now: float) -> None:
        """Work that calls `then` when it is done."""
        self.advance(now)
        heapq.heappush(self._jobs, (self._virtual + work_s, next(self._numbers), then))

    def next_at(self) -> float:
        """When the next job is done."""
        if not self._jobs:
            return math.inf
        return self._now + max(0.0, self._jobs[0][0] - self._virtual) / self._rate()

    def pop(self, now: float) -> Callable[[], None]:
        """Remove and return the job that is finished now."""
        self.advance(now)
        return heapq.heappop(self._jobs)[2]

    def advance(self, now: float) -> None:
        """Let the time pass."""
        if self._jobs:
            had = (now - self._now) * self._rate()
            self._virtual += had
            self.busy_s += had * len(self._jobs)
        self._now = now

    def _rate(self) -> float:
        return min(1.0, self._cores / len(self._jobs))


class _Room:
    """So many at once; the others wait in their order."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: deque[Callable[[], None]] = deque()

    def enter(self, then: Callable[[], None]) -> None:
        """Call `then` when there is room."""
        if self._free:
            self._free -= 1
            then()
        else:
            self._waiting.append(then)

    def leave(self) -> None:
        """Make room."""
        if self._waiting:
            self._waiting.popleft()()
        else:
            self._free += 1


class _Simulation:
    def __init__(self, machine: Machine, rate: CrawlRate, sites: list[Site], pause_s: float) -> None:
        self._machine = machine
        self._sites = sites
        self._pause_s = pause_s
        self._now = 0.0
        self._cores = _Cores(machine.cores)
        self._thread = _Room(1)
        self._peeks = _Room(machine.slots.peeks)
        self._renders = _Room(machine.slots.renders)
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._schedule = Schedule(rate)
        self._given = [0] * len(sites)
        self._under_way = 0
        self._again: set[int] = set()
        self._unlike = random.Random(len(sites))
        self._loop_busy_s = 0.0
        self._last_at = 0.0
        self._first_number = list(itertools.accumulate((len(site.kinds) for site in sites), initial=0))

    def run(self) -> Run:
        """Until no page is left."""
        for number, site in enumerate(self._sites):
            if site.kinds:
                self._schedule.add_host(str(number), len(site.kinds))
        self._begin()
        while (event := self._next()) is not None:
            event()
            self._begin()
        seconds = self._machine.start_s + self._last_at
        return Run(seconds, self._cores.busy_s, self._loop_busy_s, len(self._again))

    def _next(self) -> Callable[[], None] | None:
        timer = self._timers[0][0] if self._timers else math.inf
        job = self._cores.next_at()
        if math.isinf(min(timer, job)):
            return None
        self._now = min(timer, job)
        if job <= timer:
            return self._cores.pop(self._now)
        self._cores.advance(self._now)
        return heapq.heappop(self._timers)[2]

    def _begin(self) -> None:
        """Begin what may be begun."""
        self._supply()
        while self._under_way < self._machine.slots.pages:
            page = self._schedule.take_page(self._now)
            if page is None:
                wait_s = self._schedule.wait_s(self._now)
                if not math.isinf(wait_s):
                    self._after(wait_s, lambda: None)
                return
            self._under_way += 1
            self._read(page)
            self._supply()

    def _supply(self) -> None:
        for name in self._schedule.pop_hosts_needing_pages():
            host = int(name)
            first = self._given[host]
            self._given[host] = min(first + _LOW, len(self._sites[host].kinds))
            base = self._first_number[host]
            pages = [JobPage(base + at, "", name) for at in range(first, self._given[host])]
            self._schedule.add_pages(name, pages, now=self._now)

    def _read(self, page: JobPage) -> None:
        """One reading of a page: a site that fails is asked once more at once, and then left alone."""
        site = self._sites[int(page.host)]
        kind = site.kinds[page.number - self._first_number[int(page.host)]]
        if kind == "busy" and page.number not in self._again:
            cost = self._machine.costs["gone"]
            self._visit(site, cost, lambda: self._after(PAUSE_S, second))
        else:
            cost = self._machine.costs["page" if kind == "busy" else kind]
            self._visit(site, cost, lambda: self._over(page, fails=False))

        def second() -> None:
            self._visit(site, cost, lambda: self._over(page, fails=True))

    def _visit(self, site: Site, usual: Cost, then: Callable[[], None]) -> None:
        cost = usual * self._unlike.uniform(1 - _UNLIKE, 1 + _UNLIKE)

        def asked() -> None:
            self._after(site.latency_s, answered)

        def answered() -> None:
            if cost.rendered:
                self._renders.enter(exchanged)
            else:
                self._cores.add(cost.browser_s * (1 - _BEFORE), lambda: read(self._peeks), self._now)

        def exchanged() -> None:
            self._peeks.leave()
            self._cores.add(cost.browser_s * (1 - _BEFORE), lambda: read(self._renders), self._now)

        def read(held: _Room) -> None:
            held.leave()
            self._work(cost.loop_s * (1 - _BEFORE), cost.reader_s, then)

        self._peeks.enter(lambda: self._work(cost.loop_s * _BEFORE, cost.browser_s * _BEFORE, asked))

    def _work(self, loop_s: float, other_s: float, then: Callable[[], None]) -> None:
        """First the thread of the job, then another process."""

        def in_thread() -> None:
            self._loop_busy_s += loop_s
            self._cores.add(loop_s, out_of_thread, self._now)

        def out_of_thread() -> None:
            self._thread.leave()
            self._cores.add(other_s, then, self._now)

        self._thread.enter(in_thread)

    def _over(self, page: JobPage, *, fails: bool) -> None:
        self._under_way -= 1
        self._last_at = self._now
        if fails:
            self._again.add(page.number)
            self._schedule.retry_page(page, requested_at=self._now, not_before=self._now + self._pause_s, now=self._now)
        else:
            self._schedule.finish_page(page, requested_at=self._now, now=self._now)

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (self._now + seconds, next(self._numbers), then))
