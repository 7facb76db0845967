"""Discrete-event simulation of one machine that reads a list: cores, slots, rate per host, retries. Pure.

The runner's own schedule decides the order of pages. A page is work of the job's main process (one thread), then
waiting for the site, then work of browser and readers. All work in progress shares the cores equally (processor
sharing), at most one core each. The work varies between pages of a kind. Otherwise pages that start together
would end together, and the cores would idle while all of them wait.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scraper.bulk.model import JobPage, JobRate
from scraper.bulk.schedule import Schedule
from scraper.reading.visit_outcome import PAUSE_S

_SHARE_BEFORE_RESPONSE = 0.4
"""Share of a page's work before its response: tab, request, and checks of the headers."""
_VARIATION = 0.5
"""Maximum random deviation from the usual work of a page, as a share."""
_PAGES_PER_SUPPLY = 64
"""Pages of a host added to the schedule at a time."""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of one visit."""

    loop_s: float
    """CPU seconds of the main process, which has one thread."""
    browser_s: float
    reader_s: float
    """CPU seconds of the processes that parse pages."""
    rendered: bool = False

    @property
    def total_s(self) -> float:
        """CPU seconds of all processes."""
        return self.loop_s + self.browser_s + self.reader_s

    def __mul__(self, times: float) -> Cost:
        return Cost(self.loop_s * times, self.browser_s * times, self.reader_s * times, self.rendered)


@dataclass(frozen=True, slots=True)
class Slots:
    """Limits of concurrent pages, peeks and renders."""

    pages: int
    peeks: int
    renders: int


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that reads."""

    cores: float
    slots: Slots
    costs: Mapping[str, Cost]
    """Costs by kind of page."""
    start_s: float = 0.0
    """Seconds from the start of the job to its first request."""


@dataclass(frozen=True, slots=True)
class Site:
    """One host: its latency and the kinds of its pages in order."""

    latency_s: float
    kinds: Sequence[str]


@dataclass(frozen=True, slots=True)
class Run:
    """Result of a simulation."""

    seconds: float
    busy_s: float
    """CPU seconds."""
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


def simulate(machine: Machine, rate: JobRate, sites: Iterable[Site], *, pause_s: float) -> Run:
    """Simulate reading every page of the sites; a `busy` page pauses its whole host for `pause_s`."""
    return _Simulation(machine, rate, list(sites), pause_s).run()


class _Cores:
    """Processor sharing in virtual time: virtual time is the CPU that each active job has received."""

    def __init__(self, cores: float) -> None:
        self._cores = cores
        self._virtual = 0.0
        self._now = 0.0
        self._jobs: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self.busy_s = 0.0

    def add(self, work_s: float, then: Callable[[], None], now: float) -> None:
        """Add work; call `then` when it is done."""
        self.advance(now)
        heapq.heappush(self._jobs, (self._virtual + work_s, next(self._numbers), then))

    def next_at(self) -> float:
        """Return the time at which the next job is done."""
        if not self._jobs:
            return math.inf
        return self._now + max(0.0, self._jobs[0][0] - self._virtual) / self._rate()

    def pop(self, now: float) -> Callable[[], None]:
        """Remove and return the job that is finished now."""
        self.advance(now)
        return heapq.heappop(self._jobs)[2]

    def advance(self, now: float) -> None:
        """Advance the time."""
        if self._jobs:
            received_s = (now - self._now) * self._rate()
            self._virtual += received_s
            self.busy_s += received_s * len(self._jobs)
        self._now = now

    def _rate(self) -> float:
        return min(1.0, self._cores / len(self._jobs))


class _Semaphore:
    """Semaphore with a FIFO queue."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: deque[Callable[[], None]] = deque()

    def enter(self, then: Callable[[], None]) -> None:
        """Call `then` as soon as a slot is free."""
        if self._free:
            self._free -= 1
            then()
        else:
            self._waiting.append(then)

    def leave(self) -> None:
        """Release a slot."""
        if self._waiting:
            self._waiting.popleft()()
        else:
            self._free += 1


class _Simulation:
    def __init__(self, machine: Machine, rate: JobRate, sites: list[Site], pause_s: float) -> None:
        self._machine = machine
        self._sites = sites
        self._pause_s = pause_s
        self._now = 0.0
        self._cores = _Cores(machine.cores)
        self._thread = _Semaphore(1)
        self._peeks = _Semaphore(machine.slots.peeks)
        self._renders = _Semaphore(machine.slots.renders)
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._schedule = Schedule(rate)
        self._added = [0] * len(sites)
        self._active = 0
        self._retried: set[int] = set()
        self._random = random.Random(len(sites))
        self._loop_busy_s = 0.0
        self._last_at = 0.0
        self._first_number = list(itertools.accumulate((len(site.kinds) for site in sites), initial=0))

    def run(self) -> Run:
        """Simulate until no page is left."""
        for number, site in enumerate(self._sites):
            if site.kinds:
                self._schedule.add_host(str(number), len(site.kinds))
        self._start_pages()
        while (event := self._next()) is not None:
            event()
            self._start_pages()
        seconds = self._machine.start_s + self._last_at
        return Run(seconds, self._cores.busy_s, self._loop_busy_s, len(self._retried))

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

    def _start_pages(self) -> None:
        """Start the pages that may be read now."""
        self._supply()
        while self._active < self._machine.slots.pages:
            page = self._schedule.take_page(self._now)
            if page is None:
                wait_s = self._schedule.wait_s(self._now)
                if not math.isinf(wait_s):
                    self._after(wait_s, lambda: None)
                return
            self._active += 1
            self._read(page)
            self._supply()

    def _supply(self) -> None:
        for name in self._schedule.pop_hosts_needing_pages():
            host = int(name)
            first = self._added[host]
            self._added[host] = min(first + _PAGES_PER_SUPPLY, len(self._sites[host].kinds))
            base = self._first_number[host]
            pages = [JobPage(base + at, "", name) for at in range(first, self._added[host])]
            self._schedule.add_pages(name, pages, now=self._now)

    def _read(self, page: JobPage) -> None:
        """Read a page; if its site is busy, retry once after a pause, then defer the page."""
        site = self._sites[int(page.host)]
        kind = site.kinds[page.number - self._first_number[int(page.host)]]
        if kind == "busy" and page.number not in self._retried:
            cost = self._machine.costs["gone"]
            self._visit(site, cost, lambda: self._after(PAUSE_S, second))
        else:
            cost = self._machine.costs["page" if kind == "busy" else kind]
            self._visit(site, cost, lambda: self._finish(page, fails=False))

        def second() -> None:
            self._visit(site, cost, lambda: self._finish(page, fails=True))

    def _visit(self, site: Site, usual: Cost, then: Callable[[], None]) -> None:
        cost = usual * self._random.uniform(1 - _VARIATION, 1 + _VARIATION)

        def request() -> None:
            self._after(site.latency_s, respond)

        def respond() -> None:
            if cost.rendered:
                self._renders.enter(start_rendering)
            else:
                self._cores.add(cost.browser_s * (1 - _SHARE_BEFORE_RESPONSE), lambda: read(self._peeks), self._now)

        def start_rendering() -> None:
            self._peeks.leave()
            self._cores.add(cost.browser_s * (1 - _SHARE_BEFORE_RESPONSE), lambda: read(self._renders), self._now)

        def read(held: _Semaphore) -> None:
            held.leave()
            self._work(cost.loop_s * (1 - _SHARE_BEFORE_RESPONSE), cost.reader_s, then)

        self._peeks.enter(
            lambda: self._work(cost.loop_s * _SHARE_BEFORE_RESPONSE, cost.browser_s * _SHARE_BEFORE_RESPONSE, request)
        )

    def _work(self, loop_s: float, other_s: float, then: Callable[[], None]) -> None:
        """Run work in the thread of the job, then in another process."""

        def in_thread() -> None:
            self._loop_busy_s += loop_s
            self._cores.add(loop_s, out_of_thread, self._now)

        def out_of_thread() -> None:
            self._thread.leave()
            self._cores.add(other_s, then, self._now)

        self._thread.enter(in_thread)

    def _finish(self, page: JobPage, *, fails: bool) -> None:
        self._active -= 1
        self._last_at = self._now
        if fails:
            self._retried.add(page.number)
            self._schedule.retry_page(page, requested_at=self._now, not_before=self._now + self._pause_s, now=self._now)
        else:
            self._schedule.finish_page(page, requested_at=self._now, now=self._now)

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (self._now + seconds, next(self._numbers), then))
