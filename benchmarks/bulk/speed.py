"""Compare the speed of the single-machine runner, a Ray cluster and `fetch_batch` on the same URLs."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.bulk.jobs import LIMIT_S, PER_HOST, Bench, RunMode
from benchmarks.bulk.ray_nodes import RayNodes
from benchmarks.common.command_line import Figures, Options, print_table
from benchmarks.common.cpu import Account, open_account

_PAGES, _PAGES_QUICK = 1_500, 300
_ROUNDS, _ROUNDS_QUICK = 3, 1


@dataclass(slots=True)
class _Rate:
    """Measurements of one run mode, one per round."""

    pages_per_s: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    start_s: list[float] = field(default_factory=list)


async def measure_speed(bench: Bench, nodes: RayNodes, account: Account, options: Options) -> Figures:
    """Run the three modes in turn, round by round."""
    pages = _PAGES_QUICK if options.quick else _PAGES
    source, _ = bench.write_urls(pages)
    batch = [sys.executable, "-m", "benchmarks.bulk.fetch_batch_process", str(source), str(PER_HOST)]
    cluster = RunMode("Ray, two nodes", ("--cluster", nodes.address), lambda _: [])
    here = RunMode("one machine", (), lambda _: [])
    modes: dict[str, Callable[[], Awaitable[tuple[float, float, float]]]] = {
        "batch": lambda: _timed(bench, batch, pages, None),
        "runner": lambda: _timed(bench, bench.command(source, here)[0], pages, None),
        "ray": lambda: _timed(bench, bench.command(source, cluster)[0], pages, account),
    }
    rates = {name: _Rate() for name in modes}
    for number in range(_ROUNDS_QUICK if options.quick else _ROUNDS):
        # The order alternates, because the speed of the machine changes over time.
        for name in list(modes) if number % 2 == 0 else reversed(list(modes)):
            per_s, cpu_ms, start_s = await modes[name]()
            rates[name].pages_per_s.append(per_s)
            rates[name].cpu_ms.append(cpu_ms)
            rates[name].start_s.append(start_s)
    return _speed_figures(rates, pages)


async def _timed(
    bench: Bench, command: Sequence[str], pages: int, cluster: Account | None
) -> tuple[float, float, float]:
    """Return pages per second, CPU milliseconds per page and seconds until the first request."""
    await bench.site.reset()
    with open_account() as account:
        before = cluster.usage().total_s if cluster is not None else 0.0
        started = time.time()
        async with bench.process(command, account) as process:
            code = await asyncio.wait_for(process.wait(), LIMIT_S)
        spent = account.usage().total_s + (cluster.usage().total_s - before if cluster is not None else 0.0)
    request_stats = await bench.site.request_stats()
    if code or request_stats.hits < pages:
        raise SystemExit(f"{' '.join(command[:6])} ended with {code} after {request_stats.hits} of {pages} pages.")
    return pages / request_stats.span_s, 1000 * spent / pages, request_stats.first_at - started


def _speed_figures(rates: dict[str, _Rate], pages: int) -> Figures:
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
    columns = ("", "pages/s", "min", "max", "CPU ms/page", "s to first request")
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
