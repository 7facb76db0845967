"""A day of traffic in ten minutes: 20,000 calls of all tools on the local web, with faults: what grows?

`pss_ratio` is the memory of the server and all its processes at the end over that after the first tenth, both
at rest: so long after the last call that the tabs of search engines, kept for a minute, are gone, and at each
of the two the mean of two such rests. What is still there at rest or after closing is `left_over`: calls,
visits, tabs, folders. Faults: pages that fail or trap, engines that refuse (others in each part of the day),
a browser killed, and one call in fifty that its client leaves half way.
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
from browsers.pool import reusable_tabs
from tests.scraper.process import Program, browsers_say, serving
from tests.site.engine_server import EngineSite, running_engines
from tests.site.running import Site, running_site

_CALLS = 20_000
_CALLS_QUICK = 1_000
_SHARES_OF_A_DAY = (0.1, 0.15, 0.4, 0.65, 0.95, 1.0)
"""After each there is a rest."""
_EARLY, _LATE = slice(0, 2), slice(-2, None)
_CLIENTS = 12
_LEFT_ALONE = 0.02
_START_S = 60.0
_REST_S = reusable_tabs.IDLE_TTL_S + 5.0
_SEED = 411
_MEGABYTE = 1_000_000
_PAGES = 400
"""Pages of the local web that are asked for; most are kept after the first tenth of the day."""
_GOALS = (Goal("pss_ratio", at_most=1.1), Goal("left_over", at_most=0), Goal("hung", at_most=0))

_ENGINES = ("bing", "mojeek", "brave", "duckduckgo", "baidu")
_MOODS = ("wall", "none", "limited", "broken", "hang")
_ADDRESS = re.compile(r"https?://\S+|\d+")
_ERROR_CHARS = 70
_ERRORS_TOLD = 12
_FAULTS = ("/status/500", "/status/404", "/empty", "/no-content", "/redirect-loop", "/alerts", "/popups")


class _Sample(NamedTuple):
    """How things stand at rest after so many calls."""

    calls: int
    seconds: float
    pss_mb: float
    server_mb: float
    workers_mb: float
    browsers_mb: float
    processes: int


@dataclass(slots=True)
class _Day:
    """The run: who asks what, and how it went."""

    program: Program
    site: Site
    engines: EngineSite
    chance: random.Random = field(default_factory=lambda: random.Random(_SEED))
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    samples: list[_Sample] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    async def calls(self, clients: Sequence[WireClient], count: int) -> None:
        """So many calls, as many at once as there are clients."""
        numbers = iter(range(count))

        async def work(client: WireClient) -> None:
            for _ in numbers:
                await self._one(client)

        await asyncio.gather(*(work(client) for client in clients))

    def refuse(self) -> None:
        """Let two engines refuse, others than before."""
        self.engines.moods.clear()
        for engine in self.chance.sample(_ENGINES, 2):
            self.engines.moods[engine] = self.chance.choice(_MOODS)

    def kill_a_browser(self) -> None:
        """As the system does that runs out of memory."""
        browsers = [member for member in tree(self.program.process.pid) if member.kind == "browser"]
        with contextlib.suppress(ProcessLookupError):
            os.kill(browsers[0].pid, signal.SIGKILL)

    async def rest(self, calls: int) -> None:
        """Take a sample once nothing is going on."""
        await asyncio.sleep(_REST_S)
        members = tree(self.program.process.pid)
        own_mb = _pss_mb([self.program.process.pid])
        look = _Sample(
            calls=calls,
            seconds=time.monotonic() - self.begun,
            pss_mb=_pss_mb(process.pid for process in members),
            server_mb=own_mb,
            workers_mb=_pss_mb(process.pid for process in members if process.kind == "python") - own_mb,
            browsers_mb=_pss_mb(process.pid for process in members if process.kind == "browser"),
            processes=len(members),
        )
        self.samples.append(look)

    async def _one(self, client: WireClient) -> None:
        tool, arguments = self._asked()
        calling = asyncio.create_task(client.call(tool, arguments))
        if self.chance.random() < _LEFT_ALONE:
            await asyncio.wait({calling}, timeout=self.chance.uniform(0, 0.3))
            calling.cancel()
        try:
            said = await calling
        except asyncio.CancelledError:
            self.outcomes["left by their client"] += 1
        except TimeoutError:
            self.outcomes["hung"] += 1
        except aiohttp.ClientError as error:
            self.outcomes[f"broken: {type(error).__name__}"] += 1
        else:
            self.outcomes[f"{tool}: {'told of an error' if said.is_error else 'answered'}"] += 1
            if said.is_error:
                self.errors[_ADDRESS.sub("...", said.text)[:_ERROR_CHARS]] += 1

    def _asked(self) -> tuple[str, dict[str, Any]]:
        (tool,) = self.chance.choices(list(_SHARES), list(_SHARES.values()))
        page = self.site.url(f"/static/{self.chance.randrange(_PAGES)}")
        script = self.site.url(f"/spa/{self.chance.randrange(50)}")
        other = self.site.url(f"/static/{self.chance.randrange(_PAGES)}")
        word = f"lemons {self.chance.randrange(40)}"
        engine = self.chance.choice(_ENGINES)
        name = f"notes{self.chance.randrange(5)}"
        arguments: Mapping[str, dict[str, Any]] = {
            "fetch": {"url": page, "render": "http"},
            "fetch_rendered": {"url": script, "render": "browser"},
            "fetch_fault": {"url": self.site.url(self.chance.choice(_FAULTS))},
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
"""Of a hundred calls."""


async def measure(options: Options) -> Figures:
    """Live through a day."""
    calls = _CALLS_QUICK if options.quick else _CALLS
    with running_site() as site, tempfile.TemporaryDirectory(prefix="benchmark-day-") as folder:
        temporary = Path(folder) / "tmp"
        temporary.mkdir()
        async with running_engines() as engines, _served(site, engines, Path(folder)) as program:
            day = _Day(program, site, engines)
            async with contextlib.AsyncExitStack() as stack:
                clients = [
                    await stack.enter_async_context(wire_client(program.url, ERAS[number % 2]))
                    for number in range(_CLIENTS)
                ]
                for number, (start, stop) in enumerate(_stretches(calls)):
                    day.refuse()
                    if number == 0:
                        day.kill_a_browser()
                    await day.calls(clients, stop - start)
                    await day.rest(stop)
            left = await _left(program)
            await _end(program)
            left["folders after closing"] = len(list(temporary.iterdir()))
    return _told(day, calls, left)


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


def _stretches(calls: int) -> list[tuple[int, int]]:
    stops = [round(calls * share) for share in _SHARES_OF_A_DAY]
    return list(zip([0, *stops], stops, strict=False))


async def _left(program: Program) -> dict[str, int]:
    """Return the work that still runs without any request."""
    async with aiohttp.ClientSession() as http, http.get(program.base + "/health") as answer:
        health = await answer.json()
    browsers = health["browsers"]
    lent = sum(process["lent"] for process in browsers["processes"])
    return {"calls": health["calls"], "visits": browsers["active"] + browsers["queued"], "tabs lent": lent}


async def _end(program: Program) -> None:
    program.process.terminate()
    await program.ended()


def _told(day: _Day, calls: int, left: Mapping[str, int]) -> Figures:
    columns = ("calls", "s", "PSS MB", "server", "workers", "browsers", "processes")
    print_table("At rest", columns, day.samples)
    print_table("Outcomes", ("", "calls"), sorted(day.outcomes.items()))
    print_table("Errors told of", ("", "calls"), day.errors.most_common(_ERRORS_TOLD))
    print_table("Left over", ("", "number"), left.items())
    early, late = (statistics.fmean(look.pss_mb for look in day.samples[part]) for part in (_EARLY, _LATE))
    figures: Figures = {
        "calls": calls,
        "pss_ratio": late / early,
        "left_over": sum(left.values()),
        "hung": day.outcomes["hung"],
        "exit_code": day.program.process.returncode or 0,
        "seconds": day.samples[-1].seconds,
    }
    print_goals(figures, (*_GOALS, Goal("exit_code", at_most=0)))
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
