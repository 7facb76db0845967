"""How quick the runner of one machine and a Ray cluster are, beside `fetch_batch` of the same list."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.bulk.jobs import LIMIT_S, PER_HOST, Bench, Way
from benchmarks.bulk.ray_nodes import RayNodes
from benchmarks.common.command_line import Figures, Options, print_table
from benchmarks.common.cpu import Account, open_account

_PAGES, _PAGES_QUICK = 1_500, 300
_ROUNDS, _ROUNDS_QUICK = 3, 1


@dataclass(slots=True)
class _Rate:
    """One way's rounds."""

    pages_per_s: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    start_s: list[float] = field(default_factory=list)


async def raced(bench: Bench, nodes: RayNodes, account: Account, options: Options) -> Figures:
    """Race the three ways, round by round."""
    pages = _PAGES_QUICK if options.quick else _PAGES
    source, _ = bench.listed(pages)
    batch = [sys.executable, "-m", "benchmarks.bulk.fetch_batch_process", str(source), str(PER_HOST)]
    cluster = Way("Ray, two nodes", ("--cluster", nodes.address), lambda _: [])
    here = Way("one machine", (), lambda _: [])
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
    bench: Bench, command: Sequence[str], pages: int, cluster: Account | None
) -> tuple[float, float, float]:
    """Pages a second, CPU milliseconds a page, seconds until the first request."""
    await bench.site.forget()
    with open_account() as account:
        before = cluster.usage().total_s if cluster is not None else 0.0
        began = time.time()
        async with bench.process(command, account) as process:
            code = await asyncio.wait_for(process.wait(), LIMIT_S)
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
    """Return the median ratio over rounds, each compared with its neighbor in time."""
    return statistics.median(a / b for a, b in zip(ours.pages_per_s, other.pages_per_s, strict=True))
