"""Soak test: two thousand mixed visits, one in ten canceled at a random moment, one in ten to a hostile page.

`pss_ratio` is the memory of all our processes at the end, divided by that after a tenth of the visits, both while idle.
`left_over` counts what remains while idle or after closing: visits, queue, processes, open files, sockets, folders.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.mapped_site import mapped_settings
from benchmarks.common.processes import Process, ResourceCounts, count_resources, pss_bytes, tree
from browsers import Browsers, Mode, Request
from browsers.errors import BrowsersError
from tests.site.running import Site, running_site

_VISITS = 2000
VISITS_OF_AN_HOUR = 20_000
"""Visits that take about an hour on two cores."""
_VISITS_QUICK = 300
_MIN_COMPARED_AT = 200
"""Visits after which every cache and pool has its usual size, on a quiet machine."""
_STEPS = 8
_AT_ONCE = 4
_CANCELED_SHARE = 0.1
_FAULT_LIMIT_S = 4.0
_IDLE_S = 2.0
_IDLE_SAMPLES = 3
"""Samples while idle, of which the one with the least memory counts: spare tabs open and close in between."""
_CLOSED_S = 1.0
_SEED = 20_260
_FAULT = "fault"
_MEGABYTE = 1_000_000

_KINDS: Mapping[str, tuple[float, float, Mode, tuple[str, ...]]] = {
    "peek": (0.45, 0.05, Mode.PEEK, ("/static/{n}", "/plain", "/rich", "/redirects/3")),
    "static, rendered": (0.22, 0.5, Mode.RENDER, ("/static/{n}", "/frames", "/shadow")),
    "JavaScript": (0.23, 0.6, Mode.RENDER, ("/spa/{n}",)),
    _FAULT: (
        0.10,
        1.5,
        Mode.AUTO,
        (
            "/loop",
            "/alerts",
            "/status/500",
            "/status/404",
            "/empty",
            "/no-content",
            "/redirect-loop",
            "/never",
            "/popups",
            "/endless",
            "/reload-loop",
            "/canvas-hog",
            "/worker-hog",
            "/console-flood",
            "/request-flood",
            "/dom-growth",
        ),
    ),
}
"""Share, maximum seconds before a cancellation, mode and pages of each kind."""

_GOALS = (Goal("pss_ratio", at_most=1.1), Goal("left_over", at_most=0), Goal("failed", at_most=0))


@dataclass(frozen=True, slots=True)
class _Sample:
    """Resources while idle, after a number of visits."""

    visits: int
    seconds: float
    pss_mb: float
    by_kind_mb: Mapping[str, float]
    resources: ResourceCounts
    lent: int
    restarts: int


@dataclass(slots=True)
class _Soak:
    """The run: random visits and their outcomes."""

    browsers: Browsers
    site: Site
    rng: random.Random = field(default_factory=lambda: random.Random(_SEED))
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    """Errors of pages that can be read."""
    samples: list[_Sample] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    async def visits(self, first: int, count: int) -> None:
        """Make `count` visits, a few concurrently."""
        numbers = iter(range(first, first + count))

        async def work() -> None:
            for number in numbers:
                await self._one(number)

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))

    async def sample_idle(self, visits: int) -> None:
        """Make the same few visits, wait until the browsers are idle, and take a sample."""
        paths = ((Mode.RENDER, "/spa/1"), (Mode.RENDER, "/static/1"), (Mode.PEEK, "/static/1"))
        for mode, path in paths * 2:
            await self._visit(mode.value, Request(self.site.url(path), mode=mode))
        samples = [await self._sample(visits) for _ in range(_IDLE_SAMPLES)]
        self.samples.append(min(samples, key=lambda sample: sample.pss_mb))

    async def _sample(self, visits: int) -> _Sample:
        await asyncio.sleep(_IDLE_S)
        members = _members(self.site)
        status = self.browsers.status()
        by_kind = await asyncio.to_thread(_memory_mb, members)
        return _Sample(
            visits,
            time.monotonic() - self.started,
            sum(by_kind.values()),
            by_kind,
            count_resources(process.pid for process in members),
            status.active + status.queued + sum(browser.lent for browser in status.browsers),
            status.restarts,
        )

    async def _one(self, number: int) -> None:
        kind, request = self._request(number)
        visit = asyncio.create_task(self._visit(kind, request))
        if self.rng.random() < _CANCELED_SHARE:
            await asyncio.wait({visit}, timeout=self.rng.uniform(0, _KINDS[kind][1]))
            if visit.cancel():
                self.outcomes["cancelled"] += 1
        await asyncio.wait({visit})
        if not visit.cancelled():
            visit.result()

    def _request(self, number: int) -> tuple[str, Request]:
        shares = [share for share, *_ in _KINDS.values()]
        (kind,) = self.rng.choices(list(_KINDS), shares)
        _, _, mode, paths = _KINDS[kind]
        path = self.rng.choice(paths).format(n=number)
        limit = _FAULT_LIMIT_S if kind == _FAULT else 30.0
        host = f"host{number % 12 + 1}.example"
        return kind, Request(self.site.url(path, host), mode=mode, deadline_s=limit)

    async def _visit(self, kind: str, request: Request) -> None:
        try:
            snapshot = await self.browsers.visit(request)
        except BrowsersError as error:
            outcome = f"{kind}: {type(error).__name__}"
            if kind != _FAULT:
                self.failures.append(f"{time.monotonic() - self.started:.0f} s: {error}")
        else:
            outcome = f"{kind}: {'read' if snapshot.html or snapshot.status != 200 else 'read, empty'}"
        self.outcomes[outcome] += 1


async def measure(options: Options, visits: int = _VISITS) -> Figures:
    """Visit pages, sample resources while idle, and count what is left over."""
    visits = _VISITS_QUICK if options.quick else visits
    with running_site() as site, _own_temporary_folder() as folder:
        before = _count_resources(site)
        async with _open(site) as soak:
            for start, stop in _phases(visits):
                await soak.visits(start, stop - start)
                await soak.sample_idle(stop)
        await asyncio.sleep(_CLOSED_S)
        after, left_folders = _count_resources(site), list(folder.iterdir())
    figures = _print(soak, visits, before, after, left_folders)
    print_goals(figures, _GOALS)
    return figures


@asynccontextmanager
async def _open(site: Site) -> AsyncIterator[_Soak]:
    async with Browsers(mapped_settings(site)) as browsers:
        yield _Soak(browsers, site)


def _phases(visits: int) -> Sequence[tuple[int, int]]:
    """Return start and end of the phases between samples; the first phase ends at the sample to compare with."""
    compared_at = max(_MIN_COMPARED_AT, visits // 10)
    stops = sorted({compared_at, *(visits * step // _STEPS for step in range(1, _STEPS + 1))})
    stops = [stop for stop in stops if compared_at <= stop <= visits]
    return list(zip([0, *stops], stops, strict=False))


def _members(site: Site) -> list[Process]:
    """Return this process and its children, without those of the site."""
    others = {process.pid for process in tree(site.pid)}
    return [process for process in tree(os.getpid()) if process.pid not in others]


def _count_resources(site: Site) -> ResourceCounts:
    return count_resources(process.pid for process in _members(site))


def _memory_mb(members: Sequence[Process]) -> Mapping[str, float]:
    return {
        kind: pss_bytes(process.pid for process in members if process.kind == kind) / _MEGABYTE
        for kind in ("python", "node", "browser")
    }


@contextmanager
def _own_temporary_folder() -> Iterator[Path]:
    """Use a temporary folder of this process and its children only, so that left files are ours."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        before, os.environ["TMPDIR"], tempfile.tempdir = os.environ.get("TMPDIR"), folder, folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = None
            os.environ.pop("TMPDIR")
            if before is not None:
                os.environ["TMPDIR"] = before


def _print(soak: _Soak, visits: int, before: ResourceCounts, after: ResourceCounts, folders: Sequence[Path]) -> Figures:
    rows = [
        (
            sample.visits,
            sample.seconds,
            sample.pss_mb,
            *sample.by_kind_mb.values(),
            sample.resources.processes,
            sample.resources.files,
            sample.resources.sockets,
            sample.lent,
            sample.restarts,
        )
        for sample in soak.samples
    ]
    columns = (
        *("visits", "s", "PSS MB", "python", "node", "browser"),
        *("processes", "files", "sockets", "lent", "restarts"),
    )
    print_table("Idle", columns, rows)
    print_table("Outcomes", ("", "visits"), sorted(soak.outcomes.items()))
    left_over = {
        "visits or tabs in use while idle": soak.samples[-1].lent,
        "processes after closing": max(0, after.processes - before.processes),
        "files after closing": max(0, after.files - before.files),
        "sockets after closing": max(0, after.sockets - before.sockets),
        "temporary folders after closing": len(folders),
    }
    print_table("Left over", ("", "number"), left_over.items())
    for line in (*sorted(map(str, folders)), *soak.failures[:5]):
        print(f"  {line}")
    first, last = soak.samples[0], soak.samples[-1]
    return {
        "visits": visits,
        "pss_ratio": last.pss_mb / first.pss_mb,
        "pss_at_200_mb": first.pss_mb,
        "pss_at_end_mb": last.pss_mb,
        "processes_grown": last.resources.processes - first.resources.processes,
        "files_grown": last.resources.files - first.resources.files,
        "sockets_grown": last.resources.sockets - first.resources.sockets,
        "left_over": sum(left_over.values()),
        "failed": len(soak.failures),
        "seconds": last.seconds,
    }


if __name__ == "__main__":
    run(__doc__ or "", measure)
