"""Two thousand mixed visits, one in ten cancelled at a random moment: does memory grow, is anything left?

`pss_ratio` is the memory of all our processes at the end over that after 200 visits, both at rest. What is
still there at rest or after closing is `left_over`: visits, queue, processes, open files, sockets, folders.
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
from benchmarks.common.processes import Held, Process, held, pss_bytes, tree
from browsers import Browsers, Mode, Request
from browsers.errors import BrowsersError
from tests.site.running import Site, running_site

_VISITS = 2000
_VISITS_QUICK = 300
_COMPARED_AT = 200
"""By then every cache and pool has its usual size."""
_STEPS = 8
_AT_ONCE = 4
_CANCELLED = 0.1
_FAULT_LIMIT_S = 4.0
_REST_S = 2.0
_RESTS = 3
"""Spare tabs come and go behind the visits: of so many looks at rest the one with the least memory counts."""
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
        ),
    ),
}
"""Of each kind: share, seconds within which it may be cancelled, mode, pages."""

_GOALS = (Goal("pss_ratio", at_most=1.1), Goal("left_over", at_most=0), Goal("failed", at_most=0))


@dataclass(frozen=True, slots=True)
class _Sample:
    """How things stand at rest after so many visits."""

    visits: int
    seconds: float
    pss_mb: float
    by_kind_mb: Mapping[str, float]
    held: Held
    lent: int
    restarts: int


@dataclass(slots=True)
class _Soak:
    """The run: who is visited next, and how it went."""

    browsers: Browsers
    site: Site
    chance: random.Random = field(default_factory=lambda: random.Random(_SEED))
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    """Of pages that can be read."""
    samples: list[_Sample] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    async def visits(self, first: int, count: int) -> None:
        """So many visits, a few at once."""
        numbers = iter(range(first, first + count))

        async def work() -> None:
            for number in numbers:
                await self._one(number)

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))

    async def rest(self, visits: int) -> None:
        """Wait until nothing is going on, and take a sample, each time after the same few visits."""
        paths = ((Mode.RENDER, "/spa/1"), (Mode.RENDER, "/static/1"), (Mode.PEEK, "/static/1"))
        for mode, path in paths * 2:
            await self._visited(mode.value, Request(self.site.url(path), mode=mode))
        looks = [await self._look(visits) for _ in range(_RESTS)]
        self.samples.append(min(looks, key=lambda look: look.pss_mb))

    async def _look(self, visits: int) -> _Sample:
        await asyncio.sleep(_REST_S)
        members = _members(self.site)
        status = self.browsers.status()
        by_kind = await asyncio.to_thread(_memory_mb, members)
        return _Sample(
            visits,
            time.monotonic() - self.started,
            sum(by_kind.values()),
            by_kind,
            held(process.pid for process in members),
            status.active + status.queued + sum(browser.lent for browser in status.browsers),
            status.restarts,
        )

    async def _one(self, number: int) -> None:
        kind, request = self._request(number)
        visit = asyncio.create_task(self._visited(kind, request))
        if self.chance.random() < _CANCELLED:
            await asyncio.wait({visit}, timeout=self.chance.uniform(0, _KINDS[kind][1]))
            if visit.cancel():
                self.outcomes["cancelled"] += 1
        await asyncio.wait({visit})
        if not visit.cancelled():
            visit.result()

    def _request(self, number: int) -> tuple[str, Request]:
        shares = [share for share, *_ in _KINDS.values()]
        (kind,) = self.chance.choices(list(_KINDS), shares)
        _, _, mode, paths = _KINDS[kind]
        path = self.chance.choice(paths).format(n=number)
        limit = _FAULT_LIMIT_S if kind == _FAULT else 30.0
        host = f"host{number % 12 + 1}.example"
        return kind, Request(self.site.url(path, host), mode=mode, deadline_s=limit)

    async def _visited(self, kind: str, request: Request) -> None:
        try:
            snapshot = await self.browsers.visit(request)
        except BrowsersError as error:
            outcome = f"{kind}: {type(error).__name__}"
            if kind != _FAULT:
                self.failures.append(f"{time.monotonic() - self.started:.0f} s: {error}")
        else:
            outcome = f"{kind}: {'read' if snapshot.html or snapshot.status != 200 else 'read, empty'}"
        self.outcomes[outcome] += 1


async def measure(options: Options) -> Figures:
    """Visit, rest now and then, and count what is left."""
    visits = _VISITS_QUICK if options.quick else _VISITS
    with running_site() as site, _own_temporary_folder() as folder:
        before = _held(site)
        async with _opened(site) as soak:
            for start, stop in _stretches(visits):
                await soak.visits(start, stop - start)
                await soak.rest(stop)
        await asyncio.sleep(_CLOSED_S)
        after, left_folders = _held(site), list(folder.iterdir())
    figures = _print(soak, visits, before, after, left_folders)
    print_goals(figures, _GOALS)
    return figures


@asynccontextmanager
async def _opened(site: Site) -> AsyncIterator[_Soak]:
    async with Browsers(mapped_settings(site)) as browsers:
        yield _Soak(browsers, site)


def _stretches(visits: int) -> Sequence[tuple[int, int]]:
    """From where to where without a rest; one ends at the number that the end is compared with."""
    stops = sorted({_COMPARED_AT, *(visits * step // _STEPS for step in range(2, _STEPS + 1))})
    stops = [stop for stop in stops if _COMPARED_AT <= stop <= visits]
    return list(zip([0, *stops], stops, strict=False))


def _members(site: Site) -> list[Process]:
    """Return this process and its children, without those of the site."""
    others = {process.pid for process in tree(site.pid)}
    return [process for process in tree(os.getpid()) if process.pid not in others]


def _held(site: Site) -> Held:
    return held(process.pid for process in _members(site))


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


def _print(soak: _Soak, visits: int, before: Held, after: Held, folders: Sequence[Path]) -> Figures:
    rows = [
        (
            sample.visits,
            sample.seconds,
            sample.pss_mb,
            *sample.by_kind_mb.values(),
            sample.held.processes,
            sample.held.files,
            sample.held.sockets,
            sample.lent,
            sample.restarts,
        )
        for sample in soak.samples
    ]
    columns = (
        *("visits", "s", "PSS MB", "python", "node", "browser"),
        *("processes", "files", "sockets", "lent", "restarts"),
    )
    print_table("At rest", columns, rows)
    print_table("Outcomes", ("", "visits"), sorted(soak.outcomes.items()))
    left = {
        "visits or tabs in use at rest": soak.samples[-1].lent,
        "processes after closing": max(0, after.processes - before.processes),
        "files after closing": max(0, after.files - before.files),
        "sockets after closing": max(0, after.sockets - before.sockets),
        "temporary folders after closing": len(folders),
    }
    print_table("Left over", ("", "number"), left.items())
    for line in (*sorted(map(str, folders)), *soak.failures[:5]):
        print(f"  {line}")
    first, last = soak.samples[0], soak.samples[-1]
    return {
        "visits": visits,
        "pss_ratio": last.pss_mb / first.pss_mb,
        "pss_at_200_mb": first.pss_mb,
        "pss_at_end_mb": last.pss_mb,
        "processes_grown": last.held.processes - first.held.processes,
        "files_grown": last.held.files - first.held.files,
        "sockets_grown": last.held.sockets - first.held.sockets,
        "left_over": sum(left.values()),
        "failed": len(soak.failures),
        "seconds": last.seconds,
    }


if __name__ == "__main__":
    run(__doc__ or "", measure)
