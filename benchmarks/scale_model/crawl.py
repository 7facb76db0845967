"""Estimate a crawl of very many pages: time, machines, memory of the frontiers, storage, cost.

`python -m benchmarks.scale_model.crawl` prints the estimates. Time comes from the fluid simulation of `plan`, the rest
from sizes that were measured on the made and the saved sites (docs/laboratory/scale.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.common.command_line import print_table
from benchmarks.scale_model.plan import Group, groups, read_by

PAGE_CPU_S = 0.25
"""CPU seconds of a page of the web: three in ten are rendered at .75 s each, the others cost 13 to 23 ms."""
CRAWL_CPU_S = 0.015
"""CPU seconds to extract the links of a page and to decide."""
URL_BYTES = 2_300
"""Memory of the frontier for each URL that a site has, visited or not."""
URLS_PER_PAGE = 5.5
"""URLs that are known for each page that is read."""
STATE_BYTES = 2_000
"""Links and sketch of a page in the state of the job."""
OUTPUT_BYTES = 6_000
"""Text of a page in the output, compressed."""
MACHINE_CORES = 16
MACHINE_BYTES = 64e9
FRONTIER_SHARE = 0.25
"""Share of a machine's memory for frontiers; browsers take most of the rest."""
CORE_HOUR_PRICE = 0.04
"""US dollars. A guess for rented machines, which only scales the result."""
SKEW = 0.8


@dataclass(frozen=True, slots=True)
class CrawlEstimate:
    """Estimate of one crawl."""

    pages: float
    """Pages that the limit per site lets through."""
    days: float
    idle: float
    """Share of the machines' time in which no host may be requested."""
    active_hosts: float
    """Hosts that must be visited at once to use all machines."""
    frontier_bytes: float
    """Memory of the frontiers of the active hosts, if each is at its largest."""
    state_bytes: float
    output_bytes: float
    cost: float
    memory_bytes: float
    """Memory of all machines for frontiers."""


def estimate_crawl(pages: float, hosts: int, *, machines: int, site_limit: float, pages_per_s: float) -> CrawlEstimate:
    """Estimate a crawl by some machines, with at most `site_limit` pages of a site and `pages_per_s` of a host."""
    found = limit_sites(groups(pages, hosts, SKEW), site_limit)
    read = sum(group.hosts * group.pages for group in found)
    page_s = PAGE_CPU_S + CRAWL_CPU_S
    capacity = machines * MACHINE_CORES / page_s
    fluid = read_by(capacity, pages_per_s, found)
    active = min(float(hosts), capacity / pages_per_s)
    largest = _count_largest(found, active)
    return CrawlEstimate(
        read,
        fluid.seconds / 86_400,
        fluid.idle,
        active,
        largest * URLS_PER_PAGE * URL_BYTES,
        read * STATE_BYTES,
        read * OUTPUT_BYTES,
        read * page_s / 3_600 * CORE_HOUR_PRICE,
        machines * MACHINE_BYTES * FRONTIER_SHARE,
    )


def limit_sites(found: Sequence[Group], most: float) -> list[Group]:
    """Return the groups with at most `most` pages of each host."""
    return [Group(group.hosts, min(group.pages, most)) for group in found]


def _count_largest(found: Sequence[Group], hosts: float) -> float:
    """Return the pages of the largest hosts."""
    pages = 0.0
    for group in sorted(found, key=lambda one: -one.pages):
        taken = min(group.hosts, hosts)
        pages += taken * group.pages
        hosts -= taken
        if hosts <= 0:
            break
    return pages


def _main() -> None:
    rows = []
    for machines, site_limit in ((16, math.inf), (16, 1e5), (64, 1e5), (64, 1e4), (256, 1e4)):
        plan = estimate_crawl(1e9, 10**7, machines=machines, site_limit=site_limit, pages_per_s=1.0)
        rows.append(
            (
                machines,
                "none" if math.isinf(site_limit) else f"{site_limit:,.0f}",
                f"{plan.pages / 1e6:,.0f}",
                f"{plan.days:.1f}",
                f"{abs(plan.idle):.2f}",
                f"{plan.active_hosts:,.0f}",
                f"{plan.frontier_bytes / 1e9:,.0f} of {plan.memory_bytes / 1e9:,.0f}",
                f"{(plan.state_bytes + plan.output_bytes) / 1e12:.1f}",
                f"{plan.cost:,.0f}",
            )
        )
    print_table(
        "A crawl of a billion pages on ten million hosts, one page a second from each",
        (
            "machines",
            "pages a site",
            "million pages",
            "days",
            "idle",
            "hosts at once",
            "GB of frontiers",
            "TB",
            "dollars",
        ),
        rows,
    )


if __name__ == "__main__":
    _main()
