"""The simulations agree with manual calculations, and with each other where both apply."""

from __future__ import annotations

import itertools
import math

import pytest

from benchmarks.scale_model.crawl import estimate_crawl
from benchmarks.scale_model.machine import Cost, Machine, Site, Slots, simulate
from benchmarks.scale_model.plan import Group, groups, read_by
from benchmarks.scale_model.site import sizes
from scraper.bulk.model import JobRate
from scraper.reading.visit_outcome import PAUSE_S

ROOM = Slots(1_000, 1_000, 1_000)
COSTS = {"page": Cost(0.0, 0.1, 0.1), "app": Cost(0.0, 0.4, 0.1, rendered=True), "gone": Cost(0.0, 0.1, 0.0)}


def machine(cores: float = 100, slots: Slots = ROOM, loop_s: float = 0.0) -> Machine:
    costs = {kind: Cost(loop_s, cost.browser_s, cost.reader_s, cost.rendered) for kind, cost in COSTS.items()}
    return Machine(cores, slots, costs)


def hosts(count: int, pages: int, kind: str = "page", latency_s: float = 0.8) -> list[Site]:
    return [Site(latency_s, [kind] * pages)] * count


def test_each_host_is_read_at_its_own_rate() -> None:
    run = simulate(machine(), JobRate(per_host=2), hosts(1, 100), pause_s=5)
    assert run.seconds == pytest.approx(100 / 2 * (0.8 + 0.2), rel=0.05)
    assert run.bottleneck(machine()) == "hosts"


def test_the_gap_between_requests_is_respected() -> None:
    run = simulate(machine(), JobRate(per_host=1, gap_s=3), hosts(1, 10), pause_s=5)
    # Measured from the end of one page to the beginning of the next.
    assert run.seconds == pytest.approx(10 * (0.8 + 0.2) + 9 * 3, rel=0.05)


def test_cores_are_shared() -> None:
    two = machine(cores=2)
    run = simulate(two, JobRate(per_host=2), hosts(100, 10), pause_s=5)
    assert run.busy_s == pytest.approx(1_000 * 0.2, rel=0.05)
    assert run.seconds == pytest.approx(1_000 * 0.2 / 2, rel=0.1)
    assert run.bottleneck(two) == "cores"


def test_the_main_process_uses_one_thread() -> None:
    slow = machine(cores=64, loop_s=0.05)
    run = simulate(slow, JobRate(per_host=2), hosts(200, 10), pause_s=5)
    assert run.seconds == pytest.approx(2_000 * 0.05, rel=0.05)
    assert run.bottleneck(slow) == "one thread"


def test_slots_limit_concurrent_renders() -> None:
    narrow = machine(slots=Slots(1_000, 1_000, 4))
    run = simulate(narrow, JobRate(per_host=2), hosts(100, 10, "app"), pause_s=5)
    assert run.seconds == pytest.approx(1_000 * 0.4 * 0.6 / 4, rel=0.05)


def test_a_failing_site_is_paused_and_retried() -> None:
    run = simulate(machine(), JobRate(per_host=2), [Site(0.8, ["busy", "page", "page"])], pause_s=5)
    assert run.tried_again == 1
    first = 2 * (0.8 + 0.1) + PAUSE_S
    assert run.seconds == pytest.approx(first + 5 + (0.8 + 0.2), rel=0.05)


def test_host_sizes_follow_the_power_law_and_none_is_empty() -> None:
    found = sizes(10_000, 200, 1.0)
    assert (sum(found), len(found), min(found) >= 1) == (10_000, 200, True)
    assert all(one >= other - 1 for one, other in itertools.pairwise(found))  # they are whole pages
    assert (found[0] - 1) / (found[9] - 1) == pytest.approx(10, rel=0.02)


@pytest.mark.parametrize("capacity", [5.0, 500.0, 50_000.0])
@pytest.mark.parametrize(("pages", "count", "skew"), [(1e6, 10**4, 0.8), (1e10, 10**8, 1.0), (1e4, 10, 0.0)])
def test_the_fluid_model_takes_the_minimum_time(capacity: float, pages: float, count: int, skew: float) -> None:
    found = groups(pages, count, skew)
    assert sum(group.hosts for group in found) == pytest.approx(count)
    assert sum(group.hosts * group.pages for group in found) == pytest.approx(pages)
    fluid = read_by(capacity, 4.0, found)
    assert fluid.seconds == pytest.approx(max(pages / capacity, found[0].pages / 4.0))
    assert fluid.idle == pytest.approx(1 - pages / capacity / fluid.seconds, abs=1e-4)


@pytest.mark.parametrize(("cores", "slots"), [(2.0, Slots(24, 24, 24)), (50.0, ROOM)])
def test_both_models_agree(cores: float, slots: Slots) -> None:
    counts = sizes(4_000, 200, 0.8)
    sites = [Site(0.8, ["page"] * count) for count in counts]
    run = simulate(machine(cores, slots), JobRate(per_host=2), sites, pause_s=5)
    fluid = read_by(cores / 0.2, 2 / (0.8 + 0.2), [Group(1, count) for count in counts])
    assert run.seconds == pytest.approx(fluid.seconds, rel=0.1)


def test_too_many_concurrent_pages_slow_the_largest_host() -> None:
    counts = sizes(4_000, 200, 0.8)
    sites = [Site(0.8, ["page"] * count) for count in counts]
    few, many = (
        simulate(machine(2.0, slots), JobRate(per_host=2), sites, pause_s=5) for slots in (Slots(24, 24, 24), ROOM)
    )
    assert many.seconds > 1.1 * few.seconds


def test_a_crawl_is_bounded_by_its_largest_site_unless_sites_are_limited() -> None:
    whole = estimate_crawl(1e9, 10**7, machines=16, site_limit=math.inf, pages_per_s=1.0)
    limited = estimate_crawl(1e9, 10**7, machines=16, site_limit=1e5, pages_per_s=1.0)
    assert whole.pages == pytest.approx(1e9) and whole.idle > 0.5
    assert 0.9e9 < limited.pages < whole.pages and limited.idle < 0.01
    assert limited.days < whole.days / 5 and limited.frontier_bytes < whole.frontier_bytes
