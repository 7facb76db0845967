"""Kill one of two servers behind a real proxy while fifty clients of both protocol versions send calls.

PostgreSQL, Valkey or Redis, and the proxies are those of this machine, configured as in deploy/, on loopback.
Several clients request each page at about the same time, from either server. The site counts concurrent requests
for one page. Only calls in flight on the killed server may be lost. A second round has a limit of calls per
minute for all clients together.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from tests.deploy.proxies import PROXIES, Proxy, program, proxied
from tests.scraper.coordination.redis_server import redis_server
from tests.scraper.process import browsers_say
from tests.scraper.server.replicas import Answered, CallOutcome, Death, Replicas, callers, replicas
from tests.scraper.store.postgres_server import running_postgres

_CLIENTS = 50
_CLIENTS_PER_PAGE = 5
_HOSTS = tuple(f"h{number}.replicas.example" for number in range(10))
_PAGE_S = 0.3
"""Seconds until the site answers, long enough to observe two concurrent requests for one page."""
_DURATION_S = 36.0
_DURATION_QUICK_S = 18.0
_LIMIT_PER_MINUTE = 600
"""Calls per minute in the limited round; a single client would exceed it."""
_PAUSE_S = 0.5
"""Seconds between a client's calls in the limited round; all clients together still send ten times the limit."""
_START_S = 120.0
_SERVE = ("-m", "scraper.cli.main", "serve")
_BUSY = re.compile(r"Try again in [0-9]+ s")
_GOALS = (
    Goal("lost", at_most=0),
    Goal("session_errors", at_most=0),
    Goal("limit_error", at_most=0.05),
    Goal("fetched_twice", at_most=0),
    Goal("wrong", at_most=0),
)


@dataclass(slots=True)
class _Site:
    """Site whose pages state their number; counts the requests per page."""

    port: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    twice: set[str] = field(default_factory=set)

    async def page(self, request: web.Request) -> web.Response:
        """Serve one page."""
        key = f"{request.host}{request.path}"
        self.hits[key] += 1
        self.open[key] += 1
        if self.open[key] > 1:
            self.twice.add(key)
        try:
            await asyncio.sleep(_PAGE_S)
        finally:
            self.open[key] -= 1
        words = " ".join(f"Paragraph {part} of page {key} says so." for part in range(40))
        text = f"<title>{key}</title><article><h1>{_mark(request.path)}</h1><p>{words}</p></article>"
        return web.Response(text=text, content_type="text/html")

    @property
    def variable(self) -> str:
        """The hosts in the format of SEARCH_MCP_TEST_HOSTS."""
        return ",".join(f"{host}=127.0.0.1:{self.port}" for host in _HOSTS)


@contextlib.asynccontextmanager
async def _site() -> AsyncIterator[_Site]:
    site, app = _Site(), web.Application()
    app.router.add_get("/page/{number}", site.page)
    # Cancel requests of killed browsers.
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    try:
        listener = web.TCPSite(runner, "127.0.0.1", 0)
        await listener.start()
        site.port = runner.addresses[0][1]
        yield site
    finally:
        await runner.cleanup()


async def measure(options: Options) -> Figures:
    """Run both rounds behind each installed proxy."""
    seconds = _DURATION_QUICK_S if options.quick else _DURATION_S
    kinds = [kind for kind in PROXIES if program(kind) is not None]
    if not kinds:
        raise FileNotFoundError("no proxy is installed: apt-get install haproxy nginx-light")
    figures: Figures = {}
    with running_postgres() as postgres, tempfile.TemporaryDirectory(prefix="benchmark-data-") as name:
        folder = Path(name)
        async with redis_server(folder) as redis:
            for kind in kinds:
                shared = {"SEARCH_MCP_DATABASE_URL": await postgres.database(), "SEARCH_MCP_SHARED_URL": redis.url}
                figures |= await _pages(kind, shared, folder, seconds)
                await redis.ask("FLUSHALL")
                figures |= await _limited(kind, shared, folder, seconds)
                await redis.ask("FLUSHALL")
    return _print_results(figures, kinds)


async def _pages(kind: str, shared: dict[str, str], folder: Path, seconds: float) -> Figures:
    """Read pages with all clients while a server is killed and restarted."""

    def ask(number: int) -> tuple[str, dict[str, Any]]:
        return "fetch", {"url": _url(number // _CLIENTS_PER_PAGE), "render": "http"}

    async with (
        _site() as site,
        _servers({**shared, "SEARCH_MCP_TEST_HOSTS": site.variable}, folder) as servers,
        proxied(kind, servers.ports) as proxy,
        callers(proxy.url, _CLIENTS, ask) as finish,
    ):
        death = await _kill_and_restart(servers, seconds)
        results = await finish()
        lost = _lost(results, proxy, death)
        for outcome in lost[:5]:
            print(f"lost: {outcome}")
        return {
            f"{kind}.answered": sum(outcome.answered for outcome in results.calls),
            f"{kind}.busy": sum(map(_is_busy, results.calls)),
            f"{kind}.in_flight": len(results.failed) - len(lost) - sum(map(_is_busy, results.calls)),
            f"{kind}.lost": len(lost),
            f"{kind}.session_errors": sum(outcome.of_session for outcome in results.calls),
            f"{kind}.wrong": sum(map(_is_wrong, results.calls)),
            f"{kind}.pages": len(site.hits),
            f"{kind}.fetched_twice": len(site.twice),
            f"{kind}.fetched_again": sum(hits > 1 for hits in site.hits.values()),
        }


async def _limited(kind: str, shared: dict[str, str], folder: Path, seconds: float) -> Figures:
    """Send more calls than the shared limit allows while a server is killed and restarted."""
    settings = {**shared, "SEARCH_MCP_CALLS_PER_MINUTE": str(_LIMIT_PER_MINUTE)}
    async with _servers(settings, folder) as servers, proxied(kind, servers.ports) as proxy:
        started = time.monotonic()
        async with callers(proxy.url, _CLIENTS, lambda _: ("engines", {}), pause_s=_PAUSE_S) as finish:
            death = await _kill_and_restart(servers, seconds)
            results = await finish()
        # The last admitted call was admitted before the last response.
        lasted_s = max(outcome.ended_at for outcome in results.calls) - started
        admitted = sum(outcome.answered for outcome in results.calls)
        allowed = _LIMIT_PER_MINUTE * (1 + lasted_s / 60)
        return {
            f"{kind}.limit_taken": admitted,
            f"{kind}.limit_allowed": allowed,
            f"{kind}.limit_error": abs(admitted - allowed) / allowed,
            # If a command takes too long on a busy machine, each server applies its share of the limit.
            f"{kind}.limit_alone": sum("going on without the shared state" in line for line in servers.log_lines()),
            f"{kind}.limit_lost": len(_lost(results, proxy, death)),
            f"{kind}.limit_session_errors": sum(outcome.of_session for outcome in results.calls),
        }


@contextlib.asynccontextmanager
async def _servers(settings: dict[str, str], folder: Path) -> AsyncIterator[Replicas]:
    """Start two servers and wait until they are ready."""

    def env_of(number: int) -> dict[str, str]:
        return {**settings, "SEARCH_MCP_DATA": str(folder / f"data-{number}")}

    async with replicas(*_SERVE, env_of=env_of) as servers:
        for number in range(len(servers.ports)):
            await browsers_say(servers.program(number).base, "ready", True, limit_s=_START_S)
        yield servers


async def _kill_and_restart(servers: Replicas, seconds: float) -> Death:
    """Kill a server after a third of the time and restart it, while the clients send calls."""
    await asyncio.sleep(seconds / 3)
    death = await servers.kill(1)
    await asyncio.sleep(seconds / 6)
    await servers.begin_again(1)
    await browsers_say(servers.program(1).base, "ready", True, limit_s=_START_S)
    await asyncio.sleep(seconds / 2)
    return death


def _lost(results: Answered, proxy: Proxy, death: Death) -> tuple[CallOutcome, ...]:
    return tuple(outcome for outcome in results.lost(proxy, death) if not _is_busy(outcome))


def _is_busy(outcome: CallOutcome) -> bool:
    return outcome.status == 200 and outcome.is_error and _BUSY.search(outcome.text) is not None


def _is_wrong(outcome: CallOutcome) -> bool:
    number = int(outcome.name.removeprefix("c")) // _CLIENTS_PER_PAGE
    return outcome.answered and f"{_mark(_url(number))}\n" not in outcome.text + "\n"


def _url(number: int) -> str:
    return f"http://{_HOSTS[number % len(_HOSTS)]}/page/{number}"


def _mark(address: str) -> str:
    return f"This is page number {address.rpartition('/')[2]}."


def _print_results(figures: Figures, kinds: list[str]) -> Figures:
    rows = [
        (name, *(figures[f"{kind}.{name}"] for kind in kinds))
        for name in (key.partition(".")[2] for key in figures if key.startswith(f"{kinds[0]}."))
    ]
    print_table(f"Two servers, {_CLIENTS} clients, one server killed", ("", *kinds), rows)

    def total(*names: str) -> float:
        return sum(figures[f"{kind}.{name}"] for kind in kinds for name in names)

    figures |= {
        "lost": total("lost", "limit_lost"),
        "session_errors": total("session_errors", "limit_session_errors"),
        "limit_error": max(figures[f"{kind}.limit_error"] for kind in kinds),
        "fetched_twice": total("fetched_twice"),
        "wrong": total("wrong"),
    }
    print_goals(figures, _GOALS)
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
