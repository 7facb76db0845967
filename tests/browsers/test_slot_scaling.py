"""The number of slots follows the free resources of the machine, between two limits."""

from __future__ import annotations

import asyncio
import math
import os
from pathlib import Path

import pytest

from browsers import Browsers, BrowserSettings, slot_scaling
from browsers.fair_queue import FairSemaphore
from browsers.model import Mode, Request
from browsers.slot_scaling import MAX_SLOWDOWN, FreeResources, ResourceMeter, decide_size, measure_slowdown
from tests.scraper.process import until
from tests.site.running import Site

IDLE = FreeResources(cpu=0.6, memory_bytes=8e9)


async def waiting(slots: FairSemaphore, turns: int) -> None:
    """Let so many turns hold or wait for a slot, each of another host."""
    for number in range(turns):
        slots.enqueue("a", f"host{number}.example")


def make_slots(size: int, max_size: int) -> FairSemaphore:
    return FairSemaphore(size, per_host=2, queue_limit=100, max_size=max_size)


async def test_slots_grow_while_cpu_is_idle_and_pages_wait() -> None:
    slots = make_slots(4, 20)
    assert decide_size(slots, IDLE) == 4  # nothing waits
    await waiting(slots, 4)
    assert decide_size(slots, IDLE) == 4  # still nothing
    await waiting(slots, 60)
    sizes = [4]
    while len(sizes) < 20:
        slots.resize(decide_size(slots, IDLE))
        sizes.append(slots.size)
        assert slots.in_use == slots.size
    assert sizes[1] == 6 and sizes == sorted(sizes) and sizes[-1] == 20


@pytest.mark.parametrize(
    "busy",
    [
        FreeResources(cpu=0.0, memory_bytes=8e9),
        FreeResources(cpu=0.6, memory_bytes=2e8),
        FreeResources(cpu=0.6, memory_bytes=8e9, loop_delay_s=0.5),
    ],
    ids=("cpu", "memory", "event loop"),
)
async def test_slots_shrink_to_the_lower_limit_on_a_busy_machine(busy: FreeResources) -> None:
    slots = make_slots(4, 40)
    await waiting(slots, 100)
    slots.resize(40)
    for _ in range(40):
        slots.resize(decide_size(slots, busy))
    assert slots.size == 4


async def test_slots_stay_while_cpu_is_well_used() -> None:
    slots = make_slots(4, 40)
    await waiting(slots, 100)
    slots.resize(20)
    assert decide_size(slots, FreeResources(cpu=0.06, memory_bytes=8e9)) == 20


async def test_fewer_slots_do_not_end_visits_and_grant_no_turn_until_enough_have_ended() -> None:
    slots = make_slots(1, 3)
    await waiting(slots, 4)
    slots.resize(3)
    assert slots.in_use == 3
    slots.resize(1)
    slots.release("host0.example")
    slots.release("host1.example")
    assert (slots.in_use, slots.queued) == (1, 1)
    slots.release("host2.example")
    assert (slots.in_use, slots.queued) == (1, 0)


async def test_bulk_turns_wait_for_all_others() -> None:
    slots = make_slots(1, 1)
    first = slots.enqueue("a", "x")
    bulk = [slots.enqueue("a", f"bulk{n}", is_bulk=True) for n in range(3)]
    call = slots.enqueue("a", "call")
    assert first.is_granted
    slots.release("x")
    assert call.is_granted and not any(turn.is_granted for turn in bulk)
    slots.release("call")
    assert [turn.is_granted for turn in bulk] == [True, False, False]
    slots.withdraw(bulk[1])
    slots.release("bulk0")
    assert bulk[2].is_granted and slots.queued == 0


def test_the_limits_of_a_container_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "cpu.max": "50000 100000\n",
        "cpu.stat": "usage_usec 1000000\nuser_usec 1\n",
        "memory.max": "2000000000\n",
        "memory.current": "1900000000\n",
        "memory.stat": "anon 5\ninactive_file 300000000\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(slot_scaling, "_GROUP", tmp_path)
    meter = ResourceMeter()
    # Far more CPU than half a core can give: nothing is free, whatever the machine has.
    (tmp_path / "cpu.stat").write_text("usage_usec 900000000\n")
    free = meter.measure(0.0)
    assert free.cpu == 0 and free.memory_bytes == 400_000_000


def test_without_proc_the_load_of_the_machine_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_STAT", "_MEMORY", "_GROUP"):
        monkeypatch.setattr(slot_scaling, name, tmp_path / "missing")
    monkeypatch.setattr(os, "getloadavg", lambda: (1e9, 1e9, 1e9))
    free = ResourceMeter().measure(0.0)
    assert free.cpu == 0 and free.memory_bytes == math.inf


@pytest.mark.parametrize(
    ("load", "cores", "slowdown"),
    [
        ("0.10 3.00 9.00 1/80 11206", 4, 1.0),
        ("9.00 1.00 1.00 2/80 11206", 4, 2.25),
        ("0.10 0.10 0.10 10/80 11206", 4, 2.5),
        ("99.00 0.10 0.10 10/80 11206", 2, MAX_SLOWDOWN),
    ],
    ids=("idle", "a busy minute", "busy now", "overloaded"),
)
def test_time_limits_grow_with_the_processes_that_wait_for_a_core(
    load: str, cores: int, slowdown: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loadavg").write_text(load)
    monkeypatch.setattr(slot_scaling, "_LOAD", tmp_path / "loadavg")
    monkeypatch.setattr(slot_scaling, "_GROUP", tmp_path / "missing")
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert measure_slowdown() == slowdown


@pytest.mark.browser
async def test_visits_beyond_the_lower_limit_run_at_once_while_they_wait_for_their_sites(
    site: Site, browser_settings: BrowserSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourceMeter, "measure", lambda *_: IDLE)
    settings = BrowserSettings(test_hosts=browser_settings.test_hosts, peek_slots=1, render_slots=1, max_slots=6)
    async with Browsers(settings) as browsers:
        urls = [site.url("/slow-answer/3000", f"host{number}.example") for number in range(1, 6)]
        visits = [asyncio.create_task(browsers.visit(Request(url, mode=Mode.PEEK))) for url in urls]
        most = 0
        while not all(visit.done() for visit in visits):
            most = max(most, site.open("/slow-answer/3000"))
            await asyncio.sleep(0.05)
        assert all("MARK" in visit.result().html for visit in visits)
        assert most > 2
        await until(lambda: browsers.status().peek_slots == 1)
