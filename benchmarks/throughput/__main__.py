"""Measure cost and throughput of pages: peek, rendered static page, JavaScript page.

`KIND.cpu_ms` is the CPU per page of browser and driver with two concurrent pages; our Python is in
`KIND.python_ms`. Rows for the MCP server and for a reader without a browser are added for comparison.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.contender import Reading, Running, running
from benchmarks.common.local_site import LocalSite, local_site
from benchmarks.common.own_product import own_server, own_visits
from benchmarks.common.processes import pss_bytes
from benchmarks.common.rounds import Result, percentile
from benchmarks.peers.launch import is_set_up, peer
from benchmarks.throughput.start_up import GOALS, measure_start_up

_DEFAULT_CONCURRENCY = 2
"""Concurrent pages in the figures without a number."""
_SAMPLE_S = 1.0
_MEGABYTE = 1_000_000
_COLUMNS = ("", "concurrent", "pages/s", "CPU ms", "python", "node", "browser", "p50 s", "p95 s", "failed", "PSS MB")


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of page with the minimum number of pages per lap."""

    key: str
    title: str
    path: str
    how: str
    pages: int

    def count(self, at_once: int) -> int:
        """Return the number of pages in a lap."""
        return max(self.pages, 2 * at_once)


@dataclass(frozen=True, slots=True)
class _Plan:
    steps: tuple[int, ...]
    rounds: int
    share: float
    """Share of the usual number of pages."""


@dataclass(slots=True)
class _Memory:
    """Memory of a contender over time."""

    samples: list[tuple[float, int]] = field(default_factory=list)

    @property
    def last_mb(self) -> float:
        """Latest sample in MB."""
        return self.samples[-1][1] / _MEGABYTE if self.samples else 0.0


_KINDS = (
    _Kind("peek", "peek", "/static", "peek", 160),
    _Kind("static", "static page, rendered", "/static", "render", 30),
    _Kind("js", "JavaScript page", "/spa", "render", 30),
)
_SERVER_KINDS = (
    _Kind("server_http", 'MCP server, fetch(render="http")', "/static", "http", 100),
    _Kind("server_browser", 'MCP server, fetch(render="browser")', "/spa", "browser", 24),
)
_REFERENCE = _Kind("reference", "httpx + trafilatura, no browser", "/static", "", 100)
_FULL = _Plan((1, 2, 4, 8, 32), 2, 1.0)
_QUICK = _Plan((2, 8), 1, 0.5)
_GOALS = (Goal("peek.cpu_ms", at_most=15), *GOALS)


async def measure(options: Options) -> Figures:
    """Measure every kind at every concurrency, then the start-up."""
    plan = _QUICK if options.quick else _FULL
    async with local_site() as site:
        figures = await _visits(site, plan)
        figures |= await measure_start_up(site, rounds=1 if options.quick else 3)
    print_goals(figures, _GOALS)
    return figures


async def _visits(site: LocalSite, plan: _Plan) -> Figures:
    rows: list[tuple[object, ...]] = []
    figures: Figures = {}
    async with AsyncExitStack() as stack:
        server = stack.enter_context(own_server())
        visits = await stack.enter_async_context(running(own_visits()))
        memory = await stack.enter_async_context(_sample_memory(visits))
        server_client = await stack.enter_async_context(running(server))
        for kind in _KINDS:
            figures |= await _steps(kind, visits, site, plan, rows, memory)
        for kind in _SERVER_KINDS:
            figures |= await _steps(kind, server_client, site, plan, rows, None)
        if is_set_up("trafilatura"):
            reference = await stack.enter_async_context(running(peer("trafilatura")))
            figures |= await _steps(_REFERENCE, reference, site, plan, rows, None)
    print_table("Cost of a page", _COLUMNS, rows)
    return figures | _memory_figures(memory)


async def _steps(
    kind: _Kind,
    contender: Running,
    site: LocalSite,
    plan: _Plan,
    rows: list[tuple[object, ...]],
    memory: _Memory | None,
) -> Figures:
    """Read at every concurrency, round by round."""
    results = {at_once: Result() for at_once in plan.steps}
    await contender.read(Reading(site.fresh(kind.path, 2 * max(plan.steps)), kind.how, max(plan.steps)))
    ends: dict[int, float] = {}
    for _ in range(plan.rounds):
        for at_once, result in results.items():
            pages = max(at_once, int(kind.count(at_once) * plan.share))
            result.laps.append(await contender.read(Reading(site.fresh(kind.path, pages), kind.how, at_once)))
            ends[at_once] = memory.last_mb if memory is not None else 0.0
    figures: Figures = {}
    for at_once, result in results.items():
        rows.append(_row(kind.title, at_once, result, ends[at_once] or None))
        figures |= _step_figures(kind.key, at_once, result)
    return figures


def _row(title: str, at_once: int, result: Result, memory_mb: float | None) -> tuple[object, ...]:
    return (
        title,
        at_once,
        result.pages_per_s,
        result.cpu_ms,
        result.python_ms,
        result.driver_ms,
        result.browser_ms,
        percentile(result.latencies, 0.5),
        percentile(result.latencies, 0.95),
        len(result.failures),
        memory_mb,
    )


def _step_figures(key: str, at_once: int, result: Result) -> Figures:
    figures = {
        f"{key}.at_{at_once}.pages_per_s": result.pages_per_s,
        f"{key}.at_{at_once}.total_ms": result.cpu_ms,
        f"{key}.at_{at_once}.p50_s": percentile(result.latencies, 0.5),
        f"{key}.at_{at_once}.p95_s": percentile(result.latencies, 0.95),
        f"{key}.at_{at_once}.failed": float(len(result.failures)),
    }
    if at_once == _DEFAULT_CONCURRENCY:
        figures |= {
            f"{key}.cpu_ms": result.browser_ms + result.driver_ms,
            f"{key}.browser_ms": result.browser_ms,
            f"{key}.driver_ms": result.driver_ms,
            f"{key}.python_ms": result.python_ms,
            f"{key}.total_ms": result.cpu_ms,
            f"{key}.pages_per_s": result.pages_per_s,
        }
    return figures


@asynccontextmanager
async def _sample_memory(contender: Running) -> AsyncIterator[_Memory]:
    """Sample the memory of a contender while the block runs."""
    memory = _Memory()

    async def sample() -> None:
        started = time.monotonic()
        while True:
            pss = await asyncio.to_thread(pss_bytes, contender.account.pids())
            memory.samples.append((time.monotonic() - started, pss))
            await asyncio.sleep(_SAMPLE_S)

    sampling = asyncio.create_task(sample())
    try:
        yield memory
    finally:
        sampling.cancel()


def _memory_figures(memory: _Memory) -> Figures:
    selected = _downsample(memory.samples)
    rows = [(f"{at_s:.0f}", pss / _MEGABYTE) for at_s, pss in selected]
    print_table("Memory of our visits over time (PSS of all processes)", ("second", "MB"), rows)
    sizes = [pss / _MEGABYTE for _, pss in memory.samples]
    return {"memory.start_mb": sizes[0], "memory.end_mb": sizes[-1], "memory.peak_mb": max(sizes)}


def _downsample(samples: Sequence[tuple[float, int]], limit: int = 20) -> Sequence[tuple[float, int]]:
    return samples[:: max(1, len(samples) // limit)]


if __name__ == "__main__":
    run(__doc__ or "", measure)
