"""Measure start-up: seconds to ready, seconds to the first page, and the cost of the first stdio response."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from mcp import Client

from benchmarks.common.command_line import Figures, Goal, print_table
from benchmarks.common.contender import process_in, running_server
from benchmarks.common.cpu import open_account
from benchmarks.common.local_site import LocalSite
from benchmarks.common.own_product import own_server, stdio_command

_ANSWER_LIMIT_S = 60.0
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}

GOALS = (
    Goal("start.ready_s", at_most=1.5),
    Goal("start.first_page_s", at_most=1),
    Goal("start.stdio_initialize_cpu_s", at_most=0.5),
)


async def measure_start_up(site: LocalSite, rounds: int) -> Figures:
    """Start the server several times and take medians."""
    ready, first = await _several(rounds, lambda: _serve(site))
    cpu, answered = await _several(rounds, _stdio)
    figures = {
        "start.ready_s": ready,
        "start.first_page_s": first,
        "start.stdio_initialize_cpu_s": cpu,
        "start.stdio_initialize_s": answered,
    }
    print_table(f"Starting, median of {rounds}", ("", "seconds"), figures.items())
    return figures


async def _several(rounds: int, once: Callable[[], Awaitable[tuple[float, float]]]) -> Sequence[float]:
    return [statistics.median(values) for values in zip(*[await once() for _ in range(rounds)], strict=True)]


async def _serve(site: LocalSite) -> tuple[float, float]:
    """Return the seconds from start to ready, and from ready to the first JavaScript page, including connecting."""
    with ExitStack() as stack:
        contender = stack.enter_context(own_server())
        account = stack.enter_context(open_account())
        log = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-"))) / "server.log"
        started = time.monotonic()
        async with running_server(contender.server, contender.environment, account, contender.ready_url, log):
            ready = time.monotonic()
            async with asyncio.timeout(_ANSWER_LIMIT_S), Client(contender.command[-1]) as client:
                (url,) = site.fresh("/spa", 1)
                await client.call_tool("fetch", {"url": url, "render": "browser"})
            return ready - started, time.monotonic() - ready


async def _stdio() -> tuple[float, float]:
    """Return CPU and wall-clock seconds until `initialize` is answered."""
    with ExitStack() as stack:
        environment = stack.enter_context(own_server()).environment
        account = stack.enter_context(open_account())
        log = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-"))) / "server.log"
        started = time.monotonic()
        async with process_in(stdio_command(), environment, account, log, piped=True) as process:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
            await asyncio.wait_for(process.stdout.readline(), _ANSWER_LIMIT_S)
            return account.usage().total_s, time.monotonic() - started
