"""Predict machines, hours and bottlenecks of large jobs with a simulation that is validated by a real run.

Jobs of the bulk runner measure the cost of each kind of page, before and after a run of 20,000 pages on 200 hosts
of different sizes. For this run the simulation gets the list, the costs and the cores that other processes left
free, but no times. `error` is the relative difference between predicted and real time.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.scale_model.calibration import PER_HOST, Calibration, Job, calibrate, run_job, sites_of, urls_of
from benchmarks.scale_model.machine import Cost, Machine, Run, Site, Slots, simulate
from benchmarks.scale_model.plan import groups, read_by
from benchmarks.scale_model.site import HOSTS, KINDS, scale_site
from scraper.bulk.model import JobRate
from scraper.bulk.page_dispatcher import SITE_PAUSE_S
from scraper.settings import Settings

_PAGES, _PAGES_QUICK = 20_000, 1_500
_SKEW = 0.8
"""Negative exponent of a host's rank, which gives its pages: the largest of 200 hosts has a fifteenth of all."""
_SHARES = (92.5, 5.0, 2.0, 0.5)
"""Shares of the kinds of pages in the real run."""
_GOALS = (Goal("error", at_most=0.15),)

_PLANS = ((1e6, 10**4), (1e8, 10**6), (1e10, 10**8))
"""Pages and hosts of each plan: a hundred pages per host."""
_READER_CORES = 4
"""Cores per reading process: its slots do not grow beyond four. Larger machines run several processes."""
_MACHINE_CORES = 16
_MACHINE_BITS = 1e9
_BYTES = {"page": 60e3, "app": 2e6, "gone": 5e3}
"""Approximate bytes of a page on the web: its HTML alone, or with all resources."""
_WEB_SHARES = (66.0, 30.0, 3.0, 1.0)
_WEB_RENDERED_S = 0.75
"""CPU seconds of a scripted page on the web: 0.5 to 1 s (docs/laboratory/scale.md)."""
_FAILS_EVERY_S = 30 * 86_400.0
_LOST_WORK_S = 120.0
"""Seconds of work lost when a machine fails, once a month: two minutes, because blocks are small."""
_DAY_S = 86_400.0
_MAX_MACHINES = 4_096
_LATENCY_S = 0.25


@dataclass(frozen=True, slots=True)
class _Mix:
    """Mix of page kinds."""

    title: str
    costs: Mapping[str, Cost]
    shares: Sequence[float]

    def mean(self, of: Mapping[str, float]) -> float:
        """Return the mean of a quantity per page, including the extra visits of busy sites."""
        page, app, gone, busy = (share / sum(self.shares) for share in self.shares)
        return (page + busy) * of["page"] + app * of["app"] + (gone + 2 * busy) * of["gone"]

    @property
    def busy(self) -> float:
        """Share of pages on which a host asks for a pause."""
        return self.shares[-1] / sum(self.shares)


async def measure(options: Options) -> Figures:
    """Measure costs, predict the time of a real run, compare both, then predict larger jobs."""
    pages = _PAGES_QUICK if options.quick else _PAGES
    sites = sites_of(pages, _SKEW, _SHARES)
    async with scale_site() as port:
        before = await calibrate(port)
        real = await run_job(urls_of(sites), port)
        calibration = before if options.quick else _mean(before, await calibrate(port))
    predicted = _predict(calibration, sites, real.cores_left)
    figures = _compare(calibration, real, predicted, sites)
    figures |= _plan_jobs(calibration)
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
    """Return the slots that the settings give to a machine with this many cores."""
    known = Settings()
    scale = cores / (os.cpu_count() or 1)
    peeks = min(16, round(known.peek_slots * scale)) if scale != 1 else known.peek_slots
    renders = min(8, round(known.render_slots * scale)) if scale != 1 else known.render_slots
    return Slots(peeks + renders, peeks, renders)


def _predict(calibration: Calibration, sites: Sequence[Site], cores: float) -> Run:
    machine = Machine(cores, _slots(os.cpu_count() or 1), calibration.costs, calibration.start_s / min(1.0, cores))
    return simulate(machine, JobRate(per_host=PER_HOST), sites, pause_s=SITE_PAUSE_S)


def _compare(calibration: Calibration, real: Job, predicted: Run, sites: Sequence[Site]) -> Figures:
    columns: tuple[str, ...] = ("CPU ms per visit", "job's thread", "readers", "browser", "all")
    rows: list[tuple[object, ...]] = [
        (kind, cost.loop_s * 1000, cost.reader_s * 1000, cost.browser_s * 1000, cost.total_s * 1000)
        for kind, cost in calibration.costs.items()
    ]
    print_table("Cost of a page on this machine", columns, rows)
    pages = sum(len(site.kinds) for site in sites)
    columns = (f"{pages} pages of {len(HOSTS)} hosts", "predicted", "real")
    rows = [
        ("seconds", predicted.seconds, real.seconds),
        ("pages per second", pages / predicted.seconds, pages / real.seconds),
        ("CPU seconds", predicted.busy_s + calibration.start_s, real.total_s),
        ("retried", predicted.tried_again, real.tried_again),
        ("cores left by others", real.cores_left, real.cores_left),
    ]
    print_table("Prediction and real run", columns, rows)
    figures: Figures = {
        "error": abs(predicted.seconds - real.seconds) / real.seconds,
        "foretold.seconds": predicted.seconds,
        "real.seconds": real.seconds,
        "real.pages": real.outcomes,
        "foretold.cpu_s": predicted.busy_s + calibration.start_s,
        "real.cpu_s": real.total_s,
        "foretold.tried_again": predicted.tried_again,
        "real.tried_again": real.tried_again,
        "real.cores_left": real.cores_left,
        "process.pss_mb": calibration.pss_bytes / 1e6,
    }
    return figures | {f"{kind}.cpu_ms": cost.total_s * 1000 for kind, cost in calibration.costs.items()}


def _plan_jobs(calibration: Calibration) -> Figures:
    app = calibration.costs["app"]
    heavier = {
        **calibration.costs,
        "app": replace(app, browser_s=max(app.browser_s, _WEB_RENDERED_S - app.loop_s - app.reader_s)),
    }
    mixes = (_Mix("as here", calibration.costs, _SHARES), _Mix("like the web", heavier, _WEB_SHARES))
    rows: list[tuple[object, ...]] = []
    figures: Figures = {}
    started = time.monotonic()
    for mix in mixes:
        rate, bottleneck = _machine_rate(mix)
        figures[f"machine.{mix.title.replace(' ', '_')}.pages_per_s"] = rate
        for pages, hosts in _PLANS:
            rows += _plan(mix, pages, hosts, rate, bottleneck, figures)
    figures["plan.seconds"] = time.monotonic() - started
    columns = ("pages", "hosts", "mix", "machines", "hours", "core hours", "idle", "bottleneck")
    print_table(f"Machines of {_MACHINE_CORES} cores, {PER_HOST} concurrent pages per host", columns, rows)
    memory = calibration.pss_bytes / 1e6 * _MACHINE_CORES / _READER_CORES
    print(f"Memory of the browsers of such a machine, scaled from this machine: at least about {memory:.0f} MB.\n")
    return figures


def _machine_rate(mix: _Mix) -> tuple[float, str]:
    """Return the pages per second of one machine with unlimited hosts, and its bottleneck."""
    # Use so many hosts of the same size that the runner never waits for one.
    kinds = [kind for kind, share in zip(KINDS, mix.shares, strict=True) for _ in range(round(share * 2))]
    sites = [Site(_LATENCY_S, kinds[offset::40]) for offset in range(40) for _ in range(25)]
    machine = Machine(_READER_CORES, _slots(_READER_CORES), mix.costs)
    found = simulate(machine, JobRate(per_host=PER_HOST), sites, pause_s=SITE_PAUSE_S)
    pages = sum(len(site.kinds) for site in sites)
    readers = pages / found.seconds * _MACHINE_CORES / _READER_CORES
    network = _MACHINE_BITS / 8 / mix.mean(_BYTES)
    lost = _LOST_WORK_S / _FAILS_EVERY_S
    if network < readers:
        return network * (1 - lost), "network"
    bottleneck = found.bottleneck(machine)
    return readers * (1 - lost), "slots" if bottleneck == "hosts" else bottleneck


def _plan(
    mix: _Mix, pages: float, hosts: int, rate: float, bottleneck: str, figures: Figures
) -> list[tuple[object, ...]]:
    """Return rows for one machine, for those that finish in a day, and for those that the hosts keep busy."""
    found = groups(pages, hosts, _SKEW)
    visit_s = _LATENCY_S + mix.mean({kind: cost.total_s for kind, cost in mix.costs.items()})
    rate = 1 / (visit_s / PER_HOST + mix.busy * SITE_PAUSE_S)
    minimum_s = found[0].pages / rate
    in_a_day = math.ceil(pages / rate / _DAY_S)
    enough = max(1, math.ceil(pages / rate / minimum_s))
    rows: list[tuple[object, ...]] = []
    for machines in sorted({1, min(in_a_day, _MAX_MACHINES), min(enough, _MAX_MACHINES)}):
        fluid = read_by(machines * rate, rate, found)
        hours = fluid.seconds / 3600
        why = "largest host" if fluid.seconds > 1.02 * pages / (machines * rate) else bottleneck
        rows.append(
            (f"1e{round(math.log10(pages))}", hosts, mix.title, machines, hours,
             machines * hours * _MACHINE_CORES, f"{100 * max(0.0, fluid.idle):.0f} %", why)
        )  # fmt: skip
        name = f"plan.1e{round(math.log10(pages))}.{mix.title.replace(' ', '_')}.{machines}"
        figures[f"{name}.hours"] = hours
    return rows


if __name__ == "__main__":
    run(__doc__ or "", measure)
