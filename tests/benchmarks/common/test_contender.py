"""Contenders of a benchmark in separate processes: commanded, measured, and ended with all their children."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

from benchmarks.common.contender import Contender, Reading, running
from benchmarks.common.processes import tree
from benchmarks.common.rounds import Entry, interleaved

_READER = """
import asyncio, subprocess, sys
from contextlib import asynccontextmanager
from benchmarks.peers.reading_loop import Reader, answer

class Fake(Reader):
    async def read(self, url, how):
        print("noise on stdout")
        if "broken" in url:
            raise ValueError("no such page")
        await asyncio.sleep(0.01)
        return f"<script>MARK-x-9</script> MARK-x-1 MARK-x-2 MARK\\\\-x-2 {url} {how}"

@asynccontextmanager
async def opened():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield Fake()

answer(opened)
"""
_FAKE = Contender("fake", (sys.executable, "-c", _READER))


async def test_a_reader_reads_and_reports_failures() -> None:
    async with running(_FAKE) as contender:
        lap = await contender.read(Reading(("http://a/", "http://broken/", "http://b/"), "now", trailing_s=0))
        texts = await contender.texts()
    assert lap.pages == 3
    assert len(lap.latencies) == 3
    assert lap.failures == (("http://broken/", "ValueError('no such page')"),)
    assert texts[1] == ""
    assert texts[0].endswith("http://a/ now")
    assert texts[2].endswith("http://b/ now")


async def test_scripts_and_markdown_escapes_are_removed_before_counting() -> None:
    async with running(_FAKE) as contender:
        await contender.read(Reading(("http://a/",), trailing_s=0))
        assert await contender.counts(r"MARK-x-\d+") == [2]


async def test_child_processes_end_with_the_reader() -> None:
    async with running(_FAKE) as contender:
        children = list(contender.account.pids())
        assert len(children) == 2
    assert await asyncio.to_thread(_all_gone, children)


def _all_gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 60
    while any(tree(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(tree(pid) for pid in pids)


async def test_a_reader_that_cannot_start_reports_its_log() -> None:
    broken = Contender("broken", (sys.executable, "-c", "raise SystemExit('no browser here')"))
    with pytest.raises(RuntimeError, match="no browser here"):
        async with running(broken):
            pass


async def test_rounds_count_complete_pages_without_the_first_lap() -> None:
    asked: list[int] = []

    def reading(number: int) -> Reading:
        asked.append(number)
        return Reading((f"http://a/{number}", "http://broken/"), trailing_s=0)

    results = await interleaved([Entry(_FAKE, reading, marks=2)], rounds=2)
    assert asked == [0, 1, 2]
    assert results["fake"].pages == 4
    assert results["fake"].complete == 2
    assert results["fake"].cpu_ratio(results["fake"]) == 1
