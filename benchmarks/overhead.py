"""Measure the server's overhead per call: a cached page over HTTP, compared with the tool in process.

`cpu_ms` is the server's CPU time per call in the more expensive protocol version, minus that of the same tool
called in this process. Wall times depend on the load of this machine.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.processes import read_process
from benchmarks.common.wire_client import ERAS, wire_client
from scraper.services import Services
from scraper.settings import Settings
from scraper.tools import registry
from scraper.tools.model import ToolCall
from tests.scraper.process import browsers_say, serving
from tests.site.running import Site, running_site

_CALLS = 300
_CALLS_QUICK = 60
_ROUNDS = 5
_WARM = 20
_START_S = 60.0
_PATH = "/static/7"
_GOALS = (Goal("cpu_ms", at_most=3.0),)

OneCall = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class _Cost:
    """Milliseconds per call: the median of the rounds."""

    cpu_ms: float
    wall_ms: float


async def measure(options: Options) -> Figures:
    """Make the same call in process and over HTTP in both protocol versions."""
    calls = _CALLS_QUICK if options.quick else _CALLS
    costs: dict[str, _Cost] = {}
    with running_site() as site, tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder:
        async with _in_process(site, Path(folder) / "own") as one:
            costs["in process"] = await _cost(one, os.getpid(), calls)
        env = {"SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable, "SEARCH_MCP_DATA": f"{folder}/served"}
        async with serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env) as program:
            await browsers_say(program.base, "ready", True, limit_s=_START_S)
            for era in ERAS:
                async with _over_http(program.url, era, site.url(_PATH)) as one:
                    costs[f"HTTP {era}"] = await _cost(one, program.process.pid, calls)
    return _print_results(costs)


@asynccontextmanager
async def _in_process(site: Site, folder: Path) -> AsyncIterator[OneCall]:
    settings = Settings(test_hosts=site.test_hosts, data_dir=folder)
    (fetch,) = (tool for tool in registry.tools(settings) if tool.name == "fetch")
    async with Services.open(settings) as app:

        async def one() -> None:
            answer = await fetch.run(app, {"url": site.url(_PATH), "render": "http"}, ToolCall())
            if answer.is_error:
                raise AssertionError(answer.text)

        await one()
        # Before it is written, the page would come from memory, which does not happen over HTTP.
        await app.pages.flush()
        yield one


@asynccontextmanager
async def _over_http(url: str, era: str, page: str) -> AsyncIterator[OneCall]:
    async with wire_client(url, era) as client:

        async def one() -> None:
            outcome = await client.call("fetch", {"url": page, "render": "http"})
            if outcome.is_error:
                raise AssertionError(outcome.text)

        yield one


async def _cost(one: OneCall, pid: int, calls: int) -> _Cost:
    for _ in range(_WARM):
        await one()
    rounds = [await _round(one, pid, max(1, calls // _ROUNDS)) for _ in range(_ROUNDS)]
    return _Cost(statistics.median(cost.cpu_ms for cost in rounds), statistics.median(cost.wall_ms for cost in rounds))


async def _round(one: OneCall, pid: int, calls: int) -> _Cost:
    cpu, wall = _cpu_s(pid), time.monotonic()
    for _ in range(calls):
        await one()
    return _Cost((_cpu_s(pid) - cpu) / calls * 1000, (time.monotonic() - wall) / calls * 1000)


def _cpu_s(pid: int) -> float:
    """Return the CPU seconds of the process without its children, which render no page here."""
    if pid == os.getpid():
        return time.process_time()
    process = read_process(pid)
    if process is None:
        raise AssertionError("the server has ended")
    return process.own_s


def _print_results(costs: dict[str, _Cost]) -> Figures:
    own = costs["in process"].cpu_ms
    rows = [(way, cost.cpu_ms, cost.cpu_ms - own, cost.wall_ms) for way, cost in costs.items()]
    columns = ("a cached page, one call at a time", "CPU ms", "beyond in process", "wall ms")
    print_table("Cost of a call", columns, rows)
    figures: Figures = {
        "cpu_ms": max(costs[f"HTTP {era}"].cpu_ms for era in ERAS) - own,
        "in_process.cpu_ms": own,
        **{f"http.{era[:4]}.cpu_ms": costs[f"HTTP {era}"].cpu_ms for era in ERAS},
    }
    print_goals(figures, _GOALS)
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
