"""Send 20,000 calls to all tools within ten minutes, with faults, and look for leaks.

`pss_ratio` is the memory of the server and all its processes at the end, divided by that after the first tenth.
Both are measured while idle, after the tabs of search engines (reusable for a minute) are closed, and each is
the mean of two such samples. `left_over` counts calls, visits, tabs and folders that remain while idle or after
the server has stopped. Faults: pages that fail or trap, engines that refuse (different ones in each phase), a
killed browser, and one call in fifty that its client cancels.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.processes import pss_bytes, tree
from benchmarks.common.wire_client import ERAS, WireClient, wire_client
from browsers.pool import browser_handle
from tests.scraper.process import Program, browsers_say, serving
from tests.site.engine_server import EngineSite, running_engines
from tests.site.running import Site, running_site

_CALLS = 20_000
_CALLS_QUICK = 1_000
_PHASE_ENDS = (0.1, 0.15, 0.4, 0.65, 0.95, 1.0)
"""Shares of the calls after which the server is left idle and sampled."""
_EARLY, _LATE = slice(0, 2), slice(-2, None)
_CLIENTS = 12
_CANCELED_SHARE = 0.02
_START_S = 60.0
_IDLE_S = browser_handle.IDLE_TTL_S + 5.0
_SEED = 411
_MEGABYTE = 1_000_000
_PAGES = 400
"""Pages of the test site that are requested; most are cached after the first tenth of the calls."""
_GOALS = (Goal("pss_ratio", at_most=1.1), Goal("left_over", at_most=0), Goal("hung", at_most=0))

_ENGINES = ("bing", "mojeek", "brave", "duckduckgo", "baidu")
_MOODS = ("wall", "none", "limited", "broken", "hang")
_URL = re.compile(r"https?://\S+|\d+")
_ERROR_CHARS = 70
_ERRORS_SHOWN = 12
_FAULTS = ("/status/500", "/status/404", "/empty", "/no-content", "/redirect-loop", "/alerts", "/popups")


class _Sample(NamedTuple):
    """Memory and processes while idle, after a number of calls."""

    calls: int
    seconds: float
    pss_mb: float
    server_mb: float
    workers_mb: float
    browsers_mb: float
    processes: int


@dataclass(slots=True)
class _Run:
    """The run: random calls and their outcomes."""

    program: Program
    site: Site
    engines: EngineSite
    rng: random.Random = field(default_factory=lambda: random.Random(_SEED))
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    samples: list[_Sample] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    async def send_calls(self, clients: Sequence[WireClient], count: int) -> None:
        """Send `count` calls, one at a time per client."""
        numbers = iter(range(count))

        async def work(client: WireClient) -> None:
            for _ in numbers:
                await self._one(client)

        await asyncio.gather(*(work(client) for client in clients))

    def refuse(self) -> None:
        """Let two random engines refuse."""
        self.engines.moods.clear()
        for engine in self.rng.sample(_ENGINES, 2):
            self.engines.moods[engine] = self.rng.choice(_MOODS)

    def kill_a_browser(self) -> None:
        """Kill one browser, as a system without memory does."""
        browsers = [member for member in tree(self.program.process.pid) if member.kind == "browser"]
        with contextlib.suppress(ProcessLookupError):
            os.kill(browsers[0].pid, signal.SIGKILL)

    async def sample_idle(self, calls: int) -> None:
        """Wait until the server is idle, then take a sample."""
        await asyncio.sleep(_IDLE_S)
        members = tree(self.program.process.pid)
        own_mb = _pss_mb([self.program.process.pid])
        sample = _Sample(
            calls=calls,
            seconds=time.monotonic() - self.started,
            pss_mb=_pss_mb(process.pid for process in members),
            server_mb=own_mb,
            workers_mb=_pss_mb(process.pid for process in members if process.kind == "python") - own_mb,
            browsers_mb=_pss_mb(process.pid for process in members if process.kind == "browser"),
            processes=len(members),
        )
        self.samples.append(sample)

    async def _one(self, client: WireClient) -> None:
        tool, arguments = self._next_call()
        call = asyncio.create_task(client.call(tool, arguments))
        if self.rng.random() < _CANCELED_SHARE:
            await asyncio.wait({call}, timeout=self.rng.uniform(0, 0.3))
            call.cancel()
        try:
            response = await call
        except asyncio.CancelledError:
            self.outcomes["canceled by client"] += 1
        except TimeoutError:
            self.outcomes["hung"] += 1
        except aiohttp.ClientError as error:
            self.outcomes[f"broken: {type(error).__name__}"] += 1
        else:
            self.outcomes[f"{tool}: {'error' if response.is_error else 'answered'}"] += 1
            if response.is_error:
                self.errors[_URL.sub("...", response.text)[:_ERROR_CHARS]] += 1

    def _next_call(self) -> tuple[str, dict[str, Any]]:
        (tool,) = self.rng.choices(list(_SHARES), list(_SHARES.values()))
        page = self.site.url(f"/static/{self.rng.randrange(_PAGES)}")
        script = self.site.url(f"/spa/{self.rng.randrange(50)}")
        other = self.site.url(f"/static/{self.rng.randrange(_PAGES)}")
        word = f"lemons {self.rng.randrange(40)}"
        engine = self.rng.choice(_ENGINES)
        name = f"notes{self.rng.randrange(5)}"
        arguments: Mapping[str, dict[str, Any]] = {
            "fetch": {"url": page, "render": "http"},
            "fetch_rendered": {"url": script, "render": "browser"},
            "fetch_fault": {"url": self.site.url(self.rng.choice(_FAULTS))},
            "fetch_batch": {"urls": [page, other], "render": "http"},
            "read_doc": {"source": page},
            "extract_structured": {"url": page},
            "cache_search": {"query": word},
            "engines": {},
            "find_tools": {"query": word},
            "search": {"query": word, "engines": [engine]},
            "research": {"question": word, "engines": [engine], "depth": 1},
            "compare": {"question": word, "urls": [page, other]},
            "web_search": {"query": word},
            "instant_answer": {"query": word},
            "search_create_index": {"index_name": name},
            "search_add_document": {"index_name": name, "doc_id": word, "content": word * 20},
            "search_index": {"index_name": name, "query": word},
        }
        return tool.removesuffix("_rendered").removesuffix("_fault"), arguments[tool]


_SHARES = {
    "fetch": 50.0,
    "fetch_rendered": 1.0,
    "fetch_fault": 1.5,
    "fetch_batch": 4.0,
    "read_doc": 2.0,
    "extract_structured": 0.5,
    "cache_search": 10.0,
    "engines": 6.0,
    "find_tools": 6.0,
    "search": 5.0,
    "research": 0.5,
    "compare": 0.5,
    "web_search": 1.0,
    "instant_answer": 1.0,
    "search_create_index": 1.0,
    "search_add_document": 5.0,
    "search_index": 5.0,
}
"""Weights of the tools, in calls out of 100."""


async def measure(options: Options) -> Figures:
    """Send the calls in phases and sample the server after each."""
    calls = _CALLS_QUICK if options.quick else _CALLS
    with running_site() as site, tempfile.TemporaryDirectory(prefix="benchmark-mixed-load-") as folder:
        temporary = Path(folder) / "tmp"
        temporary.mkdir()
        async with running_engines() as engines, _served(site, engines, Path(folder)) as program:
            run_state = _Run(program, site, engines)
            async with contextlib.AsyncExitStack() as stack:
                clients = [
                    await stack.enter_async_context(wire_client(program.url, ERAS[number % 2]))
                    for number in range(_CLIENTS)
                ]
                for number, (start, stop) in enumerate(_phases(calls)):
                    run_state.refuse()
                    if number == 0:
                        run_state.kill_a_browser()
                    await run_state.send_calls(clients, stop - start)
                    await run_state.sample_idle(stop)
            remaining = await _remaining(program)
            await _end(program)
            remaining["folders after closing"] = len(list(temporary.iterdir()))
    return _print_results(run_state, calls, remaining)


@asynccontextmanager
async def _served(site: Site, engines: EngineSite, folder: Path) -> AsyncIterator[Program]:
    hosts = [*engines.test_hosts, *site.test_hosts]
    env = {
        "SEARCH_MCP_TEST_HOSTS": ",".join(f"{name}={address}:{port}" for name, address, port in hosts),
        "SEARCH_MCP_TEST_KEY_PIN": engines.key_pin,
        "SEARCH_MCP_DATA": str(folder / "data"),
        "SEARCH_MCP_LOG_FORMAT": "json",
        "TMPDIR": str(folder / "tmp"),
    }
    async with serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env) as program:
        await browsers_say(program.base, "ready", True, limit_s=_START_S)
        yield program


def _pss_mb(pids: Iterable[int]) -> float:
    return pss_bytes(pids) / _MEGABYTE


def _phases(calls: int) -> list[tuple[int, int]]:
    stops = [round(calls * share) for share in _PHASE_ENDS]
    return list(zip([0, *stops], stops, strict=False))


async def _remaining(program: Program) -> dict[str, int]:
    """Return the work that still runs without any request."""
    async with aiohttp.ClientSession() as http, http.get(program.base + "/health") as answer:
        health = await answer.json()
    browsers = health["browsers"]
    lent = sum(process["lent"] for process in browsers["processes"])
    return {"calls": health["calls"], "visits": browsers["active"] + browsers["queued"], "tabs lent": lent}


async def _end(program: Program) -> None:
    program.process.terminate()
    await program.ended()


def _print_results(run_state: _Run, calls: int, remaining: Mapping[str, int]) -> Figures:
    columns = ("calls", "s", "PSS MB", "server", "workers", "browsers", "processes")
    print_table("Idle", columns, run_state.samples)
    print_table("Outcomes", ("", "calls"), sorted(run_state.outcomes.items()))
    print_table("Errors", ("", "calls"), run_state.errors.most_common(_ERRORS_SHOWN))
    print_table("Left over", ("", "number"), remaining.items())
    early, late = (statistics.fmean(sample.pss_mb for sample in run_state.samples[part]) for part in (_EARLY, _LATE))
    figures: Figures = {
        "calls": calls,
        "pss_ratio": late / early,
        "left_over": sum(remaining.values()),
        "hung": run_state.outcomes["hung"],
        "exit_code": run_state.program.process.returncode or 0,
        "seconds": run_state.samples[-1].seconds,
    }
    print_goals(figures, (*_GOALS, Goal("exit_code", at_most=0)))
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
