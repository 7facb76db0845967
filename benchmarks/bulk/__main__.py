"""Measure bulk reading: lost and duplicate URLs under kills, politeness, and speed.

Workers and the whole job are killed. The runner of one machine and a Ray cluster of two nodes are compared.

What a host is asked for is counted at the site. Pages a second count from the first request to the last, as
the site saw them; CPU is that of all processes, the cluster's own among them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.bulk.jobs import Bench, Found, Way
from benchmarks.bulk.ray_nodes import ray_nodes
from benchmarks.bulk.site import bulk_site
from benchmarks.bulk.speed import raced
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
    """Kill, count, then race."""
    pages = _PAGES_QUICK if options.quick else _PAGES
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(bulk_site())
        account = stack.enter_context(open_account())
        nodes = await stack.enter_async_context(ray_nodes(account))
        bench = Bench(site, Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-"))))
        ways = (
            Way("one machine", (), _workers_here),
            Way("Ray, two nodes", ("--cluster", nodes.address), lambda _: nodes.readers()),
        )
        found = [one for way in ways for one in await _killed(bench, way, pages)]
        figures = _counted(found)
        figures |= await raced(bench, nodes, account, options)
    print_goals(figures, _GOALS)
    return figures


async def _killed(bench: Bench, way: Way, pages: int) -> list[Found]:
    return [
        await bench.job(f"{way.name}: workers killed twice", way, pages, kills=_KILLS),
        await bench.job(f"{way.name}: the job killed, and gone on with", way, pages, cut=_CUT),
        await bench.job(f"{way.name}: one page at once, {_GAP_S} s apart", way, _GAP_PAGES, gap_s=_GAP_S),
    ]


def _workers_here(job: int) -> list[int]:
    """Browsers and readers of pages of a job on one machine."""
    return [
        process.pid for process in tree(job) if process.kind == "browser" or "nursery.py" in command_of(process.pid)
    ]


def _counted(found: Sequence[Found]) -> Figures:
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


if __name__ == "__main__":
    run(__doc__ or "", measure)
