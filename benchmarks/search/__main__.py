"""Measure time and results of searches with simulated engines on loopback, under their real host names.

search-mcp uses real Chromium: each page is fetched, classified, rendered, parsed and merged. The peer,
free-search-mcp, queries the same engines by HTTP through a proxy that leads to them. Only search-mcp is tested with
block pages: the peer would use its own browser, which can be configured neither for the hosts nor for the
certificate of the engines. The pauses between searches, required by engines, are not counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import ssl
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.peers.launch import is_set_up, peer
from benchmarks.search.mapped_engines import redirecting_proxy
from scraper.search.argument_validation import SearchRequest
from scraper.services import Services
from scraper.settings import Settings
from tests.site.engine_server import EngineSite, running_engines

DEFAULT_ENGINES = ("duckduckgo", "mojeek", "googlenews")
OTHER_ENGINES = ("startpage", "brave", "bing", "baidu")
_PAUSE_S = 4.0
"""Seconds between searches. More than the longest spacing of the default engines with its jitter."""
_LONG_PAUSE_S = 6.6
_PEER = "free_search_mcp"
_BY_HTTP = frozenset({"three_engines", "one_hangs"})
_WORDS = ("tidal power", "wind turbines", "solar cells", "wave energy", "heat pumps", "dam safety", "fuel cells")
_GOALS = (
    Goal("three_engines_s", at_most=1.5),
    Goal("three_engines_rows", at_least=10),
    Goal("one_hangs_s", at_most=10),
    Goal("one_hangs_rows", at_least=10),
    Goal("walls_rows", at_least=10),
    Goal("kept_s", at_most=0.05),
)


@dataclass(frozen=True, slots=True)
class _Case:
    """A search with a given behavior of the engines."""

    key: str
    title: str
    engines: Sequence[str]
    moods: dict[str, str]
    rounds: int
    pause_s: float = _PAUSE_S


@dataclass(frozen=True, slots=True)
class _SearchResult:
    seconds: float
    rows: int
    errors: str = ""


async def measure(options: Options) -> Figures:
    """Run all cases with search-mcp and the peer."""
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    async with running_engines() as site:
        ours, figures = await _ours(site, 3 if options.quick else 7)
        theirs = await _theirs(site, 3 if options.quick else 7)
    columns = ("", "median s", "max s", "rows", "errors")
    print_table("search-mcp, in real Chromium", columns, [_line(case, found) for case, found in ours])
    if theirs:
        print_table("free-search-mcp, by HTTP", columns, [_line(case, found) for case, found in theirs])
    for prefix, results in (("", ours), (f"{_PEER}.", theirs)):
        for case, found in results:
            figures[f"{prefix}{case.key}_s"] = statistics.median(one.seconds for one in found)
            figures[f"{prefix}{case.key}_rows"] = min(one.rows for one in found)
    print_goals(figures, _GOALS)
    return figures


def _cases(rounds: int) -> list[_Case]:
    few = max(1, rounds // 3)
    return [
        _Case("three_engines", "three engines", DEFAULT_ENGINES, {}, rounds),
        _Case("four_others", "the other four engines", OTHER_ENGINES, {}, few, _LONG_PAUSE_S),
        _Case("walls", "two engines with proof-of-work pages", ("mojeek", "startpage"), _WALLED, 1, _LONG_PAUSE_S),
        _Case("one_hangs", "three engines, one hangs", DEFAULT_ENGINES, {"mojeek": "hang"}, 1),
    ]


_WALLED = {"mojeek": "altcha", "startpage": "anubis"}


async def _ours(site: EngineSite, rounds: int) -> tuple[list[tuple[_Case, list[_SearchResult]]], Figures]:
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        settings = Settings(data_dir=Path(folder), test_hosts=site.test_hosts, test_key_pin=site.key_pin)
        async with Services.open(settings) as app:
            figures["first_s"] = (await _search(app, "first words", DEFAULT_ENGINES)).seconds
            measured = []
            for case in _cases(rounds):
                site.reset()
                site.moods |= case.moods
                found = []
                for number in range(case.rounds):
                    await asyncio.sleep(case.pause_s)
                    words = f"{_WORDS[number % len(_WORDS)]} {case.key} {number}"
                    found.append(await _search(app, words, case.engines))
                measured.append((case, found))
            figures["kept_s"] = (await _search(app, f"{_WORDS[0]} three_engines 0", DEFAULT_ENGINES)).seconds
    return measured, figures


async def _search(app: Services, words: str, engines: Sequence[str]) -> _SearchResult:
    started = time.perf_counter()
    answer = await app.searcher.search(SearchRequest(words, engines=engines))
    errors = ", ".join(f"{name} {reason}" for name, reason in answer.errors.items())
    return _SearchResult(time.perf_counter() - started, len(answer.results), errors)


async def _theirs(site: EngineSite, rounds: int) -> list[tuple[_Case, list[_SearchResult]]]:
    """Run the peer in the cases that need no browser."""
    if not is_set_up(_PEER):
        print(f"{_PEER} is not set up: python -m benchmarks.setup_peers")
        return []
    measured = []
    async with _peer(site) as process:
        await _ask(process, "first words", DEFAULT_ENGINES)
        for case in _cases(rounds):
            if case.key not in _BY_HTTP:
                continue
            site.reset()
            site.moods |= case.moods
            found = []
            for number in range(case.rounds):
                await asyncio.sleep(case.pause_s)
                found.append(await _ask(process, f"{_WORDS[number % len(_WORDS)]} {case.key}", case.engines))
            measured.append((case, found))
    return measured


@asynccontextmanager
async def _peer(site: EngineSite) -> AsyncIterator[asyncio.subprocess.Process]:
    contender = peer(_PEER)
    pem = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", site.port))
    with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as folder:
        authority = Path(folder) / "engines.pem"
        authority.write_text(pem, encoding="ascii")
        async with redirecting_proxy(site.port) as proxy:
            settings = {
                "ENGINES_AUTHORITY": str(authority),
                "SEARCH_MCP_PROXY": proxy,
                "SEARCH_MCP_CACHE_DIR": folder,
                "SEARCH_MCP_CONFIG_DIR": folder,
            }
            process = await asyncio.create_subprocess_exec(
                contender.command[0],
                "-m",
                "benchmarks.peers.runners.free_search_mcp_searcher",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
                env=dict(os.environ) | dict(contender.environment) | settings,
            )
            try:
                yield process
            finally:
                # Kill the whole process group, browsers included.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()


async def _ask(process: asyncio.subprocess.Process, words: str, engines: Sequence[str]) -> _SearchResult:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps({"query": words, "engines": list(engines)}).encode() + b"\n")
    await process.stdin.drain()
    result = json.loads(await process.stdout.readline())
    return _SearchResult(result["seconds"], result["rows"], ", ".join(result["errors"]))


def _line(case: _Case, found: Sequence[_SearchResult]) -> tuple[object, ...]:
    seconds = [one.seconds for one in found]
    rows = [one.rows for one in found]
    return (case.title, statistics.median(seconds), max(seconds), min(rows), found[-1].errors or "-")


if __name__ == "__main__":
    run(__doc__ or "", measure)
