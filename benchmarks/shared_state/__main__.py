"""Measure the cost of shared state in Valkey or Redis, compared with state in one process.

Four tests: each operation in this process and over the service; a plain fetch with both; one page requested by
ten processes at the same time; one rate limit used by four processes at full speed. The service is a real
redis-server or valkey-server on loopback.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.shared_state.member import RATE
from scraper.call_context import Deadline
from scraper.coordination.state import Lease, RateLimit, SharedState, ThrottleTerms, WorkClaim
from scraper.coordination.valkey_state import ValkeyState
from scraper.model import REFRESH, ReadRequest
from scraper.reading.politeness import HostThrottle
from scraper.services import Services
from scraper.settings import Settings
from tests.site.running import Site, running_site

_MANY = RateLimit("many", burst=1_000_000, per_second=1_000_000)
_PAGE = b"x" * 20_000
_START_S = 20.0
_GOALS = (Goal("flight.visits", at_most=1), Goal("limit_error", at_most=0.05), Goal("limit.together_ms", at_most=1.0))


async def measure(options: Options) -> Figures:
    """Run all tests."""
    async with _service() as url:
        figures = await _operations(url, 300 if options.quick else 3_000)
        with running_site() as site:
            figures |= await _fetches(url, site, 4 if options.quick else 12)
            figures |= await _flight(url, site)
        figures |= await _limit(url, 3.0 if options.quick else 10.0)
    print_goals(figures, _GOALS)
    return figures


async def _operations(url: str, rounds: int) -> Figures:
    valkey_state = ValkeyState(url)
    await valkey_state.wait_connected(10)
    assert not valkey_state.status().away
    rows: list[tuple[str, float | None, float]] = []
    figures = Figures()
    here, there = _operations_of(SharedState()), _operations_of(valkey_state)
    for name, operation in there.items():
        there_ms = await _median_ms(operation, rounds)
        here_ms = await _median_ms(here[name], rounds) if name in here else None
        rows.append((name, here_ms, there_ms))
        figures[f"{name}.together_ms"] = there_ms
        if here_ms is not None:
            figures[f"{name}.alone_ms"] = here_ms
    await valkey_state.close()
    print_table("Median of sequential operations (ms)", ("", "local", "shared"), rows)
    return figures


_Operation = Callable[[int], Awaitable[None]]


def _operations_of(shared: SharedState) -> dict[str, _Operation]:
    """Return the operations on a state; each takes the number of its call."""
    polite, claims = HostThrottle(shared.leases, Settings()), shared.claims

    async def limit(number: int) -> None:
        await shared.limits.take(_MANY, "ann")

    async def lease(number: int) -> None:
        got = await shared.leases.take(f"host{number % 2_000}", ThrottleTerms(at_once=32))
        assert isinstance(got, Lease)
        shared.leases.give_back(got)

    async def turn(number: int) -> None:
        async with polite.turn(f"host{number % 2_000}", "local", Deadline.within(60)):
            pass

    async def claim(number: int) -> None:
        assert claims is not None
        got = await claims.begin(f"page{number}", waited=False)
        assert isinstance(got, WorkClaim)
        claims.complete(got, _PAGE)

    known: dict[str, _Operation] = {"limit": limit, "lease": lease, "turn": turn}
    return known if claims is None else {**known, "claim": claim}


async def _median_ms(operation: _Operation, rounds: int) -> float:
    durations = []
    for number in range(rounds):
        started = time.perf_counter()
        await operation(number)
        durations.append(time.perf_counter() - started)
    return statistics.median(durations) * 1_000


async def _fetches(url: str, site: Site, rounds: int) -> Figures:
    """Fetch a plain page with and without shared state, alternately."""
    with tempfile.TemporaryDirectory() as folder:
        alone = Settings(data_dir=Path(folder) / "a", cache_mb=0, test_hosts=site.test_hosts)
        shared = Settings(data_dir=Path(folder) / "b", cache_mb=0, test_hosts=site.test_hosts, shared_url=url)
        durations: dict[str, list[tuple[float, float]]] = {"alone": [], "shared": []}
        async with Services.open(alone) as one, Services.open(shared) as other:
            apps = {"alone": one, "shared": other}
            for number in range(rounds + 1):
                for name in sorted(apps, reverse=number % 2 == 0):
                    spent = await _read_ten(apps[name], site, number)
                    if number:
                        durations[name].append(spent)
    return _print_fetches(durations)


def _print_fetches(durations: Mapping[str, Sequence[tuple[float, float]]]) -> Figures:
    rows, figures = [], Figures()
    for name, spent in durations.items():
        wall_ms, cpu_ms = (statistics.median(column) * 100 for column in zip(*spent, strict=True))
        rows.append((name, wall_ms, cpu_ms))
        figures |= {f"fetch.{name}_ms": wall_ms, f"fetch.{name}_cpu_ms": cpu_ms}
    figures["fetch.ratio"] = statistics.median(
        shared[0] / alone[0] for alone, shared in zip(durations["alone"], durations["shared"], strict=True)
    )
    print_table(
        "Plain pages through Chromium without rendering, one at a time",
        ("", "ms per page", "CPU ms of this process"),
        rows,
    )
    return figures


async def _read_ten(app: Services, site: Site, number: int) -> tuple[float, float]:
    """Read ten pages; return the wall-clock seconds and the CPU seconds of this process."""
    started, started_cpu = time.perf_counter(), time.process_time()
    for page in range(10):
        await app.fetcher.fetch(ReadRequest(site.url(f"/static/{number * 10 + page}"), render="http", cache=REFRESH))
    return time.perf_counter() - started, time.process_time() - started_cpu


async def _flight(url: str, site: Site, processes: int = 10) -> Figures:
    path = "/slow-answer/500"
    before = site.hits(path)
    outcome = await _members(processes, "fetch", url, site.direct(path))
    visits = site.hits(path) - before
    answered = sum(int(length) > 100 for length in outcome)
    print_table(
        f"One page requested by {processes} processes at the same time",
        ("", "visits", "answers"),
        (("shared", visits, answered),),
    )
    return {"flight.visits": visits, "flight.answers": answered}


async def _limit(url: str, seconds: float, processes: int = 4) -> Figures:
    granted = sum(map(int, await _members(processes, "limit", url, str(seconds))))
    allowed = RATE.burst + RATE.per_second * seconds
    error = granted / allowed - 1
    print_table(
        f"One limit of {RATE.per_second:g} per second, {processes} processes, {seconds:g} s",
        ("", "granted", "allowed", "error"),
        (("shared", granted, allowed, error),),
    )
    return {"limit.granted": granted, "limit_error": abs(error)}


async def _members(count: int, *arguments: str) -> list[str]:
    """Run several processes at the same time; return their final output."""
    command = (sys.executable, "-m", "benchmarks.shared_state.member", *arguments)
    pipe = asyncio.subprocess.PIPE
    members = [await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe) for _ in range(count)]
    for member in members:
        assert member.stdout is not None
        await member.stdout.readline()
    outputs = await asyncio.gather(*(member.communicate(b"go\n") for member in members))
    return [out.decode().strip() for out, _ in outputs]


@contextlib.asynccontextmanager
async def _service() -> AsyncIterator[str]:
    """Start a Valkey or Redis server; yield its URL.

    Raises:
        FileNotFoundError: neither is installed.
    """
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        raise FileNotFoundError("No Valkey or Redis is installed: apt-get install redis-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    quiet = asyncio.subprocess.DEVNULL
    service = await asyncio.create_subprocess_exec(program, *options, stdout=quiet, stderr=quiet)
    try:
        await _wait_until_ready(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        service.terminate()
        await service.wait()


async def _wait_until_ready(port: int) -> None:
    async with asyncio.timeout(_START_S):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    run(__doc__, measure)
