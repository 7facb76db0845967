"""Bulk reading: is any URL lost or written twice when workers or the whole job are killed, is any host asked
for more than it may be, and how quick are the runner of one machine and a Ray cluster of two nodes?

What a host is asked for is counted at the site. Pages a second count from the first request to the last, as
the site saw them; CPU is that of all processes, the cluster's own among them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.bulk_site import BulkSite, Manners, bulk_site
from benchmarks.contender import REPOSITORY
from benchmarks.cpu import Account, open_account
from benchmarks.face import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.processes import command_of, tree
from benchmarks.ray_nodes import RayNodes, ray_nodes

__all__ = ["measure"]

_PAGES, _PAGES_QUICK = 5_000, 400
_RATE_PAGES, _RATE_PAGES_QUICK = 1_500, 300
_GAP_PAGES = 300
_ROUNDS, _ROUNDS_QUICK = 3, 1
_PER_HOST = 2
_GAP_S = 0.3
_KILLS = (0.25, 0.5)
"""Shares of the pages after which workers are killed."""
_CUT = 0.4
"""Share after which the whole job is killed."""
_LIMIT_S = 7_200.0
_LOOK_S = 0.1
_GOALS = (
    Goal("lost", at_most=0),
    Goal("doubled", at_most=0),
    Goal("politeness_exceeded", at_most=0),
    Goal("ray_ratio", at_least=0.8),
    Goal("runner_ratio", at_least=0.9),
)


@dataclass(frozen=True, slots=True)
class _Way:
    """How a job is run."""

    name: str
    arguments: tuple[str, ...]
    workers: Callable[[int], list[int]]
    """The workers to be killed, by the process of the job."""


@dataclass(slots=True)
class _Found:
    """What came of one job."""

    title: str
    pages: int
    lost: int
    doubled: int
    failed: int
    manners: Manners
    exceeded: int
    seconds: float


@dataclass(slots=True)
class _Rate:
    """One way's rounds."""

    pages_per_s: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    start_s: list[float] = field(default_factory=list)


async def measure(options: Options) -> Figures:
    """Kill, count, then race."""
    pages = _PAGES_QUICK if options.quick else _PAGES
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(bulk_site())
        account = stack.enter_context(open_account())
        nodes = await stack.enter_async_context(ray_nodes(account))
        bench = _Bench(site, Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-"))))
        ways = (
            _Way("one machine", (), _workers_here),
            _Way("Ray, two nodes", ("--cluster", nodes.address), lambda _: nodes.readers()),
        )
        found = [one for way in ways for one in await _killed(bench, way, pages)]
        figures = _counted(found)
        figures |= await _raced(bench, nodes, account, options)
    print_goals(figures, _GOALS)
    return figures


async def _killed(bench: _Bench, way: _Way, pages: int) -> list[_Found]:
    return [
        await bench.job(f"{way.name}: workers killed twice", way, pages, kills=_KILLS),
        await bench.job(f"{way.name}: the job killed, and gone on with", way, pages, cut=_CUT),
        await bench.job(f"{way.name}: one page at once, {_GAP_S} s apart", way, _GAP_PAGES, gap_s=_GAP_S),
    ]


class _Bench:
    """Runs jobs against the site."""

    def __init__(self, site: BulkSite, folder: Path) -> None:
        self.site = site
        self._folder = folder
        self._count = 0

    def environment(self) -> dict[str, str]:
        """Variables of every process under test."""
        return {
            **os.environ,
            "SEARCH_MCP_TEST_HOSTS": self.site.variable,
            "SEARCH_MCP_DATA": str(self._folder / "data"),
            "SEARCH_MCP_CACHE_MB": "0",
            "SEARCH_MCP_LOG_LEVEL": "error",
        }

    def listed(self, pages: int) -> tuple[Path, list[str]]:
        """A file of URLs, and the URLs."""
        urls = self.site.urls(pages)
        source = self._folder / f"urls-{pages}.txt"
        source.write_text("\n".join(urls))
        return source, urls

    def command(self, source: Path, way: _Way, *more: str) -> tuple[list[str], Path]:
        """The command of a job in a folder of its own."""
        self._count += 1
        out = self._folder / f"out-{self._count}"
        words = [sys.executable, "-m", "scraper.cli.main", "bulk", str(source), "--out", str(out)]
        return [*words, "--format", "jsonl", *way.arguments, *more], out

    async def job(
        self,
        title: str,
        way: _Way,
        pages: int,
        *,
        kills: Sequence[float] = (),
        cut: float | None = None,
        gap_s: float = 0.0,
    ) -> _Found:
        """Run one job with what is to befall it."""
        source, urls = self.listed(pages)
        per_host = 1 if gap_s else _PER_HOST
        command, out = self.command(source, way, "--per-host", str(per_host), "--gap", str(gap_s))
        await self.site.forget(at_once=per_host, gap_s=gap_s)
        began = time.monotonic()
        async with self.process(command) as process:
            for share in kills:
                await self._until(share * pages, process)
                for worker in way.workers(process.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
            if cut is not None:
                await self._until(cut * pages, process)
                process.kill()
            await asyncio.wait_for(process.wait(), _LIMIT_S)
        if cut is not None:
            async with self.process(command) as process:
                await asyncio.wait_for(process.wait(), _LIMIT_S)
        seconds = time.monotonic() - began
        manners = await self.site.manners()
        return _examined(title, urls, out, manners, seconds)

    @asynccontextmanager
    async def process(
        self, command: Sequence[str], account: Account | None = None
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """A process under test; where it is left, it is over."""
        process = await asyncio.create_subprocess_exec(
            *(account.command(command) if account is not None else command),
            cwd=REPOSITORY,
            env=self.environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
        )
        if account is not None:
            account.adopt(process.pid)
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _until(self, hits: float, process: asyncio.subprocess.Process) -> None:
        while process.returncode is None:
            if (await self.site.manners()).hits >= hits:
                return
            await asyncio.sleep(_LOOK_S)


def _workers_here(job: int) -> list[int]:
    """Browsers and readers of pages of a job on one machine."""
    return [
        process.pid
        for process in tree(job)
        if process.kind == "browser" or "nursery.py" in command_of(process.pid)
    ]


def _examined(title: str, urls: list[str], out: Path, manners: Manners, seconds: float) -> _Found:
    seen: Counter[str] = Counter()
    failed = 0
    for file in sorted(out.glob("pages-*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                seen[row["url"]] += 1
                failed += row["error"] is not None
    lost = sum(url not in seen for url in urls)
    doubled = sum(count - 1 for count in seen.values())
    return _Found(title, len(urls), lost, doubled, failed, manners, manners.exceeded, seconds)


def _counted(found: Sequence[_Found]) -> Figures:
    columns = ("", "pages", "lost", "doubled", "failed", "most at once", "exceeded", "asked again", "s")
    rows = [
        (
            one.title,
            one.pages,
            one.lost,
            one.doubled,
            one.failed,
            one.manners.most_at_once,
            one.exceeded,
            one.manners.again,
            one.seconds,
        )
        for one in found
    ]
    print_table("Killed and counted", columns, rows)
    return {
        "lost": sum(one.lost for one in found),
        "doubled": sum(one.doubled for one in found),
        "failed": sum(one.failed for one in found),
        "politeness_exceeded": sum(one.exceeded for one in found),
        "asked_again": sum(one.manners.again for one in found),
    }


async def _raced(bench: _Bench, nodes: RayNodes, account: Account, options: Options) -> Figures:
    pages = _RATE_PAGES_QUICK if options.quick else _RATE_PAGES
    source, _ = bench.listed(pages)
    batch = [sys.executable, "-m", "benchmarks.bulk_batch", str(source), str(_PER_HOST)]
    cluster = _Way("Ray, two nodes", ("--cluster", nodes.address), lambda _: [])
    here = _Way("one machine", (), lambda _: [])
    ways: dict[str, Callable[[], Awaitable[tuple[float, float, float]]]] = {
        "batch": lambda: _timed(bench, batch, pages, None),
        "runner": lambda: _timed(bench, bench.command(source, here)[0], pages, None),
        "ray": lambda: _timed(bench, bench.command(source, cluster)[0], pages, account),
    }
    rates = {name: _Rate() for name in ways}
    for number in range(_ROUNDS_QUICK if options.quick else _ROUNDS):
        # Turned round each time: the machine is not the same from one minute to the next.
        for name in list(ways) if number % 2 == 0 else reversed(list(ways)):
            per_s, cpu_ms, start_s = await ways[name]()
            rates[name].pages_per_s.append(per_s)
            rates[name].cpu_ms.append(cpu_ms)
            rates[name].start_s.append(start_s)
    return _raced_figures(rates, pages)


async def _timed(
    bench: _Bench, command: Sequence[str], pages: int, cluster: Account | None
) -> tuple[float, float, float]:
    """Pages a second, CPU milliseconds a page, seconds until the first request."""
    await bench.site.forget()
    with open_account() as account:
        before = cluster.usage().total_s if cluster is not None else 0.0
        began = time.time()
        async with bench.process(command, account) as process:
            code = await asyncio.wait_for(process.wait(), _LIMIT_S)
        spent = account.usage().total_s + (cluster.usage().total_s - before if cluster is not None else 0.0)
    manners = await bench.site.manners()
    if code or manners.hits < pages:
        raise SystemExit(f"{' '.join(command[:6])} ended with {code} after {manners.hits} of {pages} pages.")
    return pages / manners.span_s, 1000 * spent / pages, manners.first_at - began


def _raced_figures(rates: dict[str, _Rate], pages: int) -> Figures:
    titles = {"batch": "fetch_batch", "runner": "bulk, one machine", "ray": "bulk, Ray, two nodes"}
    rows = [
        (
            titles[name],
            statistics.median(rate.pages_per_s),
            min(rate.pages_per_s),
            max(rate.pages_per_s),
            statistics.median(rate.cpu_ms),
            statistics.median(rate.start_s),
        )
        for name, rate in rates.items()
    ]
    columns = ("", "pages/s", "least", "most", "CPU ms a page", "first request after s")
    print_table(f"{pages} pages", columns, rows)
    figures = {f"{name}.pages_per_s": statistics.median(rate.pages_per_s) for name, rate in rates.items()}
    figures |= {f"{name}.cpu_ms": statistics.median(rate.cpu_ms) for name, rate in rates.items()}
    figures |= {f"{name}.start_s": statistics.median(rate.start_s) for name, rate in rates.items()}
    return figures | {
        "runner_ratio": _ratio(rates["runner"], rates["batch"]),
        "ray_ratio": _ratio(rates["ray"], rates["runner"]),
    }


def _ratio(ours: _Rate, other: _Rate) -> float:
    """The median over rounds, each against its neighbour in time."""
    return statistics.median(a / b for a, b in zip(ours.pages_per_s, other.pages_per_s, strict=True))


if __name__ == "__main__":
    run(__doc__ or "", measure)
