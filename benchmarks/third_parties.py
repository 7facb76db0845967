"""Measure the CPU of a page with six third parties, by mechanism that refuses them.

Each script of a third party runs for 250 ms: a tag manager takes 266 ms by HTTP Archive, divided by four. The
figures are CPU milliseconds of browsers and proxy for a page; `ratio.policy` is that of refusal in the proxy to none.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.mapped_site import mapped_settings
from benchmarks.common.processes import tree
from browsers import Browsers
from browsers.model import Mode, Request, ThirdParties
from tests.site.hosts import TRACKERS, WIDGETS
from tests.site.prose import marks_found
from tests.site.running import Site, running_site

_BURN_MS = 250
_PAGES = 8
_ROUNDS = 5
_MARKS = 24
_GOALS = (Goal("ratio.policy", at_most=0.6), Goal("complete", at_least=1.0))
_RULES = ",".join(f"MAP {host} ^NOTFOUND" for host in (*TRACKERS, *WIDGETS))
_OTHER_RULES = ",".join(f"MAP other{number}.example ^NOTFOUND" for number in range(1_200))
_WAYS: Mapping[str, tuple[Sequence[str], ThirdParties, str]] = {
    "nothing refused": ((), ThirdParties.ALL, ""),
    "refused by the proxy": ((), ThirdParties.CONTENT_ONLY, ""),
    "refused by resolver rules": ((f"--host-resolver-rules={_RULES},{_OTHER_RULES}",), ThirdParties.ALL, ""),
    "no third parties on the page": ((), ThirdParties.ALL, "&none=1"),
}
"""Switches of the browser, level of the requests and query of the page."""


async def measure(options: Options) -> Figures:
    """Measure each mechanism in turn, round by round."""
    costs: dict[str, list[float]] = {name: [] for name in _WAYS}
    complete = 0
    async with AsyncExitStack() as stack:
        site = stack.enter_context(running_site())
        pools = {}
        for name, (switches, _, _) in _WAYS.items():
            settings = dataclasses.replace(mapped_settings(site), extra_switches=tuple(switches))
            pools[name] = await stack.enter_async_context(Browsers(settings))
        for turn in range(1 if options.quick else _ROUNDS + 1):
            for name, (_, level, query) in _WAYS.items():
                before = _cpu_s(site)
                complete += await _read(pools[name], site, level, query)
                if turn or options.quick:  # the first round warms the browsers up
                    costs[name].append(1000 * (_cpu_s(site) - before) / _PAGES)
    medians = {name: statistics.median(values) for name, values in costs.items()}
    print_table("CPU of a page", ("mechanism", "ms"), [(name, round(value)) for name, value in medians.items()])
    first, policy, rules, none = medians.values()
    rounds = 1 if options.quick else _ROUNDS + 1
    figures = {
        "cpu_ms.all": first,
        "cpu_ms.policy": policy,
        "cpu_ms.resolver_rules": rules,
        "cpu_ms.none": none,
        "ratio.policy": policy / first,
        "complete": complete / (rounds * len(_WAYS) * _PAGES),
    }
    print_goals(figures, _GOALS)
    return figures


def _cpu_s(site: Site) -> float:
    others = {process.pid for process in tree(site.pid)}
    return sum(process.own_s + process.reaped_s for process in tree(os.getpid()) if process.pid not in others)


async def _read(browsers: Browsers, site: Site, level: ThirdParties, query: str) -> int:
    """Read pages one after the other; return the number of complete ones."""
    complete = 0
    for number in range(_PAGES):
        url = site.url(f"/trackers?ms={_BURN_MS}&page={number}{query}", f"host{1 + number}.example")
        snapshot = await browsers.visit(Request(url, mode=Mode.RENDER, third_parties=level))
        complete += marks_found("trackers", snapshot.html) == _MARKS
    return complete


if __name__ == "__main__":
    run(__doc__ or "", measure)
