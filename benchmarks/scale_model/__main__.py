"""How many machines, for how long, and what is short: a simulation that is first held against a real run.

What pages of each kind cost is measured here by jobs of the bulk runner, before and after it reads 20,000
pages of 200 hosts of unlike sizes; of those the simulation knows the list, the costs and the cores that
others left of this machine, and nothing of how long they took. `error` is how far its time is from the real
one.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.scale_model.calibration import PER_HOST, Calibration, Job, calibrated, run_job, sites_of, urls_of
from benchmarks.scale_model.machine import Cost, Machine, Run, Site, Slots, simulate
from benchmarks.scale_model.plan import groups, read_by
from benchmarks.scale_model.site import HOSTS, KINDS, scale_site
from scraper.bulk.model import CrawlRate
from scraper.bulk.retry_policy import SITE_PAUSE_S
from scraper.settings import Settings

_PAGES, _PAGES_QUICK = 20_000, 1_500
_SKEW = 0.8
"""Pages of a host by its rank to this power: the largest of 200 hosts has a fifteenth of all."""
_SHARES = (92.5, 5.0, 2.0, 0.5)
"""Of the kinds, in the run that the model is held against."""
_GOALS = (Goal("error", at_most=0.15),)

_PLANS = ((1e6, 10**4), (1e8, 10**6), (1e10, 10**8))
"""Pages and hosts: a hundred pages of a host."""
_READER_CORES = 4
"""Of one reading process: beyond four its slots no longer grow. Larger machines run several."""
_MACHINE_CORES = 16
_MACHINE_BITS = 1e9
_BYTES = {"page": 60e3, "app": 2e6, "gone": 5e3}
"""What a page of the web sends, about: its HTML alone, or with all that it loads."""
_WEB_SHARES = (66.0, 30.0, 3.0, 1.0)
_WEB_RENDERED_S = 0.75
"""CPU of a page of the web with scripts of its own: 0.5 to 1 s (docs/scale-model.md)."""
_FAILS_EVERY_S = 30 * 86_400.0
_REDONE_S = 120.0
"""A machine a month dies, and takes two minutes of its work along: blocks are small."""
_DAY_S = 86_400.0
_MOST_MACHINES = 4_096
_LATENCY_S = 0.25


@dataclass(frozen=True, slots=True)
class _Mix:
    """What is to be read."""

    title: str
    costs: Mapping[str, Cost]
    shares: Sequence[float]

    def mean(self, of: Mapping[str, float]) -> float:
        """Of a page, the visits that a busy site asks for included."""
        page, app, gone, busy = (share / sum(self.shares) for share in self.shares)
        return (page + busy) * of["page"] + app * of["app"] + (gone + 2 * busy) * of["gone"]

    @property
    def busy(self) -> float:
        """Share of pages at which a host wants to be left alone."""
        return self.shares[-1] / sum(self.shares)


async def measure(options: Options) -> Figures:
    """Measure, foretell, compare; then look further."""
    pages = _PAGES_QUICK if options.quick else _PAGES
    sites = sites_of(pages, _SKEW, _SHARES)
    async with scale_site() as port:
        before = await calibrated(port)
        real = await run_job(urls_of(sites), port)
        calibration = before if options.quick else _mean(before, await calibrated(port))
    foretold = _foretold(calibration, sites, real.cores_left)
    figures = _compared(calibration, real, foretold, sites)
    figures |= _planned(calibration)
    print_goals(figures, _GOALS)
    return figures


def _mean(one: Calibration, other: Calibration) -> Calibration:
    """Return the mean of the calibrations before and after, because the machine changes over time."""
    costs = {
        kind: Cost(
            (cost.loop_s + other.costs[kind].loop_s) / 2,
            (cost.browser_s + other.costs[kind].browser_s) / 2,
            (cost.reader_s + other.costs[kind].reader_s) / 2,
            cost.rendered,
        )
        for kind, cost in one.costs.items()
    }
    start_s = (one.start_s + other.start_s) / 2
    return Calibration(costs, start_s, max(one.pss_bytes, other.pss_bytes))


def _slots(cores: int) -> Slots:
    """As the settings have them on a machine of so many cores."""
    known = Settings()
    scale = cores / (os.cpu_count() or 1)
    peeks = min(16, round(known.peek_slots * scale)) if scale != 1 else known.peek_slots
    renders = min(8, round(known.render_slots * scale)) if scale != 1 else known.render_slots
    return Slots(peeks + renders, peeks, renders)


def _foretold(calibration: Calibration, sites: Sequence[Site], cores: float) -> Run:
    machine = Machine(cores, _slots(os.cpu_count() or 1), calibration.costs, calibration.start_s / min(1.0, cores))
    return simulate(machine, CrawlRate(per_host=PER_HOST), sites, pause_s=SITE_PAUSE_S)


def _compared(calibration: Calibration, real: Job, foretold: Run, sites: Sequence[Site]) -> Figures:
    columns: tuple[str, ...] = ("CPU ms a visit", "job's thread", "readers", "browser", "all")
    rows: list[tuple[object, ...]] = [
        (kind, cost.loop_s * 1000, cost.reader_s * 1000, cost.browser_s * 1000, cost.total_s * 1000)
        for kind, cost in calibration.costs.items()
    ]
    print_table("What a page costs here", columns, rows)
    pages = sum(len(site.kinds) for site in sites)
    columns = (f"{pages} pages of {len(HOSTS)} hosts", "foretold", "real")
    rows = [
        ("seconds", foretold.seconds, real.seconds),
        ("pages a second", pages / foretold.seconds, pages / real.seconds),
        ("CPU seconds", foretold.busy_s + calibration.start_s, real.total_s),
        ("tried again", foretold.tried_again, real.tried_again),
        ("cores left by others", real.cores_left, real.cores_left),
    ]
    print_table("The model and the run", columns, rows)
    figures: Figures = {
        "error": abs(foretold.seconds - real.seconds) / real.seconds,
        "foretold.seconds": foretold.seconds,
        "real.seconds": real.seconds,
        "real.pages": real.outcomes,
        "foretold.cpu_s": foretold.busy_s + calibration.start_s,
        "real.cpu_s": real.total_s,
        "foretold.tried_again": foretold.tried_again,
        "real.tried_again": real.tried_again,
        "real.cores_left": real.cores_left,
        "process.pss_mb": calibration.pss_bytes / 1e6,
    }
    return figures | {f"{kind}.cpu_ms": cost.total_s * 1000 for kind, cost in calibration.costs.items()}


def _planned(calibration: Calibration) -> Figures:
    app = calibration.costs["app"]
    heavier = {
        **calibration.costs,
        "app": replace(app, browser_s=max(app.browser_s, _WEB_RENDERED_S - app.loop_s - app.reader_s)),
    }
    mixes = (_Mix("as here", calibration.costs, _SHARES), _Mix("like the web", heavier, _WEB_SHARES))
    rows: list[tuple[object, ...]] = []
    figures: Figures = {}
    begun = time.monotonic()
    for mix in mixes:
        rate, short = _machine_rate(mix)
        figures[f"machine.{mix.title.replace(' ', '_')}.pages_per_s"] = rate
        for pages, hosts in _PLANS:
            rows += _plan(mix, pages, hosts, rate, short, figures)
    figures["plan.seconds"] = time.monotonic() - begun
    columns = ("pages", "hosts", "mix", "machines", "hours", "core hours", "idle", "short of")
    print_table(f"Machines of {_MACHINE_CORES} cores, {PER_HOST} pages of a host at once", columns, rows)
    memory = calibration.pss_bytes / 1e6 * _MACHINE_CORES / _READER_CORES
    print(f"Memory of such a machine's browsers, from the process here: about {memory:.0f} MB and more.\n")
    return figures


def _machine_rate(mix: _Mix) -> tuple[float, str]:
    """Pages a second of one machine with hosts in plenty, and what is short on it."""
    # So many hosts of the same size that none of them is ever waited for.
    kinds = [kind for kind, share in zip(KINDS, mix.shares, strict=True) for _ in range(round(share * 2))]
    sites = [Site(_LATENCY_S, kinds[place::40]) for place in range(40) for _ in range(25)]
    machine = Machine(_READER_CORES, _slots(_READER_CORES), mix.costs)
    found = simulate(machine, CrawlRate(per_host=PER_HOST), sites, pause_s=SITE_PAUSE_S)
    pages = sum(len(site.kinds) for site in sites)
    readers = pages / found.seconds * _MACHINE_CORES / _READER_CORES
    network = _MACHINE_BITS / 8 / mix.mean(_BYTES)
    lost = _REDONE_S / _FAILS_EVERY_S
    if network < readers:
        return network * (1 - lost), "network"
    short = found.bottleneck(machine)
    return readers * (1 - lost), "slots" if short == "hosts" else short


def _plan(mix: _Mix, pages: float, hosts: int, rate: float, short: str, figures: Figures) -> list[tuple[object, ...]]:
    """One machine, as many as do it in a day, and as many as the hosts have work for."""
    found = groups(pages, hosts, _SKEW)
    visit_s = _LATENCY_S + mix.mean({kind: cost.total_s for kind, cost in mix.costs.items()})
    rate = 1 / (visit_s / PER_HOST + mix.busy * SITE_PAUSE_S)
    minimum_s = found[0].pages / rate
    in_a_day = math.ceil(pages / rate / _DAY_S)
    enough = max(1, math.ceil(pages / rate / minimum_s))
    rows: list[tuple[object, ...]] = []
    for machines in sorted({1, min(in_a_day, _MOST_MACHINES), min(enough, _MOST_MACHINES)}):
        fluid = read_by(machines * rate, rate, found)
        hours = fluid.seconds / 3600
        why = "largest host" if fluid.seconds > 1.02 * pages / (machines * rate) else short
        rows.append(
            (f"1e{round(math.log10(pages))}", hosts, mix.title, machines, hours,
             machines * hours * _MACHINE_CORES, f"{100 * max(0.0, fluid.idle):.0f} %", why)
        )  # fmt: skip
        name = f"plan.1e{round(math.log10(pages))}.{mix.title.replace(' ', '_')}.{machines}"
        figures[f"{name}.hours"] = hours
    return rows


if __name__ == "__main__":
    run(__doc__ or "", measure)
