"""Measure how `bulk` uses the machine while pages wait for the network, and beside other busy processes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures, print_table
from benchmarks.common.contender import process_in
from benchmarks.common.cpu import open_account
from benchmarks.common.processes import pss_bytes
from benchmarks.real_web.site import ADDRESSES
from benchmarks.real_web.world_server import WorldServer

LATENCIES_MS = (120, 400, 1000)
_MEMORY_LATENCY_MS = 1000
_START_S = 5.0
"""Seconds from the first page until CPU is measured: the browser starts, and the number of pages grows."""
_SAMPLE_S = 0.5
_LIMIT_S = 400.0
_LOOPS = 2
_PAGES = len(ADDRESSES)
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class BulkRun:
    """One job of pages three requests deep."""

    busy: float
    """Share of the CPU time left by other processes that the job used while pages waited to be read."""
    own: float
    """Share of all CPU time that it used meanwhile."""
    memory_mb: float
    pages_per_s: float
    complete: int
    retries: int


async def measure_load(server: WorldServer, *, quick: bool) -> Figures:
    """Return the figures of bulk by latency, and the pages retried beside busy loops."""
    figures: Figures = {}
    rows = []
    pages = _PAGES // 3 if quick else _PAGES
    for latency_ms in LATENCIES_MS:
        run = await _run_bulk(server, latency_ms, pages)
        figures[f"cpu_busy.{latency_ms}"] = run.busy
        figures[f"cpu_busy.own.{latency_ms}"] = run.own
        figures[f"pages_per_s.{latency_ms}"] = run.pages_per_s
        if latency_ms == _MEMORY_LATENCY_MS:
            figures["memory_mb"] = run.memory_mb
        rows.append((f"{latency_ms} ms", run))
    async with _busy_loops():
        loaded = await _run_bulk(server, LATENCIES_MS[1], pages // 3)
    figures["retries_by_load"] = loaded.retries
    rows.append((f"{LATENCIES_MS[1]} ms, two busy loops", loaded))
    figures["complete.bulk"] = sum(run.complete for _, run in rows) / (len(LATENCIES_MS) * pages + pages // 3)
    columns = ("", "busy", "own share", "MB", "pages/s", "complete", "retries")
    cells = [(name, run.busy, run.own, run.memory_mb, run.pages_per_s, run.complete, run.retries) for name, run in rows]
    print_table("bulk, pages three requests deep", columns, cells)
    return figures


async def _run_bulk(server: WorldServer, latency_ms: int, pages: int) -> BulkRun:
    await server.configure(latency_ms=latency_ms)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-bulk-")))
        urls = folder / "urls.txt"
        urls.write_text("".join(f"{server.deep_url(number)}\n" for number in range(pages)))
        account = stack.enter_context(open_account())
        options = ("--out", str(folder / "out"), "--format", "jsonl")
        command = (sys.executable, "-m", "scraper.cli.main", "bulk", str(urls), *options)
        environment = {**server.settings, "SEARCH_MCP_DATA": str(folder / "data")}
        process = await stack.enter_async_context(
            process_in(command, environment, account, folder / "bulk.log", piped=False)
        )
        while await server.documents() == 0:
            await asyncio.sleep(_SAMPLE_S)
            if process.returncode is not None:
                raise RuntimeError((folder / "bulk.log").read_text()[-3000:])
        await asyncio.sleep(_START_S)
        began, cpu, machine = time.monotonic(), account.usage().total_s, _machine_s()
        busy = own = memory = 0.0
        while process.returncode is None and time.monotonic() < began + _LIMIT_S:
            await asyncio.sleep(_SAMPLE_S)
            if await server.documents() < pages:
                # Some pages still wait to be requested.
                spent, (used, idle) = account.usage().total_s - cpu, _machine_s()
                idle_s = idle - machine[1]
                busy, own = spent / max(spent + idle_s, 0.01), spent / max(used + idle - sum(machine), 0.01)
            memory = max(memory, pss_bytes(account.pids()) / 1e6)
        report = json.loads((folder / "out" / "report.json").read_text())
        complete = sum("MARK-" in line for line in _rows(folder / "out"))
        this_run = report["this_run"]
        return BulkRun(busy, own, memory, this_run["pages_per_s"], complete, int(this_run["tried_again"]))


def _rows(folder: Path) -> list[str]:
    return [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]


def _machine_s() -> tuple[float, float]:
    """Return the busy and idle CPU seconds of all cores since the start of the machine."""
    fields = [int(ticks) * _TICK_S for ticks in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle = fields[3] + fields[4]
    return sum(fields) - idle, idle


@asynccontextmanager
async def _busy_loops() -> AsyncIterator[None]:
    command: Sequence[str] = (sys.executable, "-c", "while True: pass")
    loops = [await asyncio.create_subprocess_exec(*command) for _ in range(_LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            await loop.wait()
