"""Measure bulk reading: lost and duplicate URLs under kills, politeness, and speed.

The benchmark kills workers and whole jobs. It compares the single-machine runner with a Ray cluster of two
nodes.

The site counts the requests to each host. Pages per second count from the first request to the last, as
seen by the site. CPU is that of all processes, including the processes of the cluster.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.bulk.jobs import Bench, JobResult, RunMode
from benchmarks.bulk.ray_nodes import ray_nodes
from benchmarks.bulk.site import bulk_site
from benchmarks.bulk.speed import measure_speed
from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.cpu import open_account
from benchmarks.common.processes import command_of, tree

_PAGES, _PAGES_QUICK = 5_000, 400
_GAP_PAGES = 300
_GAP_S = 0.3
_KILLS = (0.25, 0.5)
"""Shares of the pages after which workers are killed."""
_CUT = 0.4
"""Share after which the whole job is killed."""
_GOALS = (
    Goal("lost", at_most=0),
    Goal("doubled", at_most=0),
    Goal("politeness_exceeded", at_most=0),
    Goal("ray_ratio", at_least=0.8),
    Goal("runner_ratio", at_least=0.9),
)


async def measure(options: Options) -> Figures:
    """Count lost and duplicate pages under kills, then measure the speed."""
    pages = _PAGES_QUICK if options.quick else _PAGES
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(bulk_site())
        account = stack.enter_context(open_account())
        nodes = await stack.enter_async_context(ray_nodes(account))
        bench = Bench(site, Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-"))))
        modes = (
            RunMode("one machine", (), _local_workers),
            RunMode("Ray, two nodes", ("--cluster", nodes.address), lambda _: nodes.readers()),
        )
        results = [result for mode in modes for result in await _run_jobs(bench, mode, pages)]
        figures = _print_jobs(results)
        figures |= await measure_speed(bench, nodes, account, options)
    print_goals(figures, _GOALS)
    return figures


async def _run_jobs(bench: Bench, mode: RunMode, pages: int) -> list[JobResult]:
    return [
        await bench.job(f"{mode.name}: workers killed twice", mode, pages, kills=_KILLS),
        await bench.job(f"{mode.name}: job killed and continued", mode, pages, cut=_CUT),
        await bench.job(f"{mode.name}: one page at a time, {_GAP_S} s apart", mode, _GAP_PAGES, gap_s=_GAP_S),
    ]


def _local_workers(job: int) -> list[int]:
    """Return the process ids of the browsers and page readers of a job on one machine."""
    return [
        process.pid for process in tree(job) if process.kind == "browser" or "bootstrap.py" in command_of(process.pid)
    ]


def _print_jobs(results: Sequence[JobResult]) -> Figures:
    columns = ("", "pages", "lost", "duplicate", "failed", "max concurrent", "exceeded", "repeated", "s")
    rows = [
        (
            result.title,
            result.pages,
            result.lost,
            result.doubled,
            result.failed,
            result.request_stats.most_at_once,
            result.exceeded,
            result.request_stats.again,
            result.seconds,
        )
        for result in results
    ]
    print_table("Lost and duplicate pages under kills", columns, rows)
    return {
        "lost": sum(result.lost for result in results),
        "doubled": sum(result.doubled for result in results),
        "failed": sum(result.failed for result in results),
        "politeness_exceeded": sum(result.exceeded for result in results),
        "asked_again": sum(result.request_stats.again for result in results),
    }


if __name__ == "__main__":
    run(__doc__ or "", measure)
