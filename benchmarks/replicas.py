"""Two servers behind a real proxy, fifty clients of both eras, one server killed in the middle: what is lost?

PostgreSQL, Valkey or Redis, and the proxies are the system's own, set up as deploy/ says, on loopback. Each
page is asked for by several clients at about the same time, at either server; the site behind counts how
often it is asked for one page at once. Of the calls on the server that dies, those in flight are lost with
it, and no other may be. Then the same with a limit of calls a minute for all clients together.
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
from tests.scraper.server.replicas import Answered, Death, Replicas, Said, callers, replicas
from tests.scraper.store.postgres_server import running_postgres

_CLIENTS = 50
_ASKERS_A_PAGE = 5
_HOSTS = tuple(f"h{number}.replicas.example" for number in range(10))
_PAGE_S = 0.3
"""What the site takes for a page, so that two requests for it can be seen at once."""
_SECONDS = 36.0
_SECONDS_QUICK = 18.0
_A_MINUTE = 600
"""Of the limited round: one client alone would exceed it."""
_PAUSE_S = 0.5
"""Between a client's limited calls: all together still ask ten times as often as they may."""
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
    """Pages that say their number, and how often each was asked for."""

    port: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    twice: set[str] = field(default_factory=set)

    async def page(self, request: web.Request) -> web.Response:
        """One page."""
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
        """The mapping of its names, as SEARCH_MCP_TEST_HOSTS takes it."""
        return ",".join(f"{host}=127.0.0.1:{self.port}" for host in _HOSTS)


@contextlib.asynccontextmanager
async def _site() -> AsyncIterator[_Site]:
    site, app = _Site(), web.Application()
    app.router.add_get("/page/{number}", site.page)
    # A browser that was killed asks for nothing any more.
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
    """Both rounds behind each proxy that is installed."""
    seconds = _SECONDS_QUICK if options.quick else _SECONDS
    kinds = [kind for kind in PROXIES if program(kind) is not None]
    if not kinds:
        raise FileNotFoundError("no proxy on this machine: apt-get install haproxy nginx-light")
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
    return _told(figures, kinds)


async def _pages(kind: str, shared: dict[str, str], folder: Path, seconds: float) -> Figures:
    """Pages read by all, through the death of a server."""

    def ask(number: int) -> tuple[str, dict[str, Any]]:
        return "fetch", {"url": _url(number // _ASKERS_A_PAGE), "render": "http"}

    async with (
        _site() as site,
        _servers({**shared, "SEARCH_MCP_TEST_HOSTS": site.variable}, folder) as servers,
        proxied(kind, servers.ports) as proxy,
        callers(proxy.url, _CLIENTS, ask) as finish,
    ):
        death = await _through_a_death(servers, seconds)
        crowd = await finish()
        lost = _lost(crowd, proxy, death)
        for said in lost[:5]:
            print(f"lost: {said}")
        return {
            f"{kind}.answered": sum(said.answered for said in crowd.calls),
            f"{kind}.busy": sum(map(_is_busy, crowd.calls)),
            f"{kind}.in_flight": len(crowd.failed) - len(lost) - sum(map(_is_busy, crowd.calls)),
            f"{kind}.lost": len(lost),
            f"{kind}.session_errors": sum(said.of_session for said in crowd.calls),
            f"{kind}.wrong": sum(map(_is_wrong, crowd.calls)),
            f"{kind}.pages": len(site.hits),
            f"{kind}.fetched_twice": len(site.twice),
            f"{kind}.fetched_again": sum(hits > 1 for hits in site.hits.values()),
        }


async def _limited(kind: str, shared: dict[str, str], folder: Path, seconds: float) -> Figures:
    """More calls than all servers together may take from one caller, through the death of a server."""
    settings = {**shared, "SEARCH_MCP_CALLS_PER_MINUTE": str(_A_MINUTE)}
    async with _servers(settings, folder) as servers, proxied(kind, servers.ports) as proxy:
        begun = time.monotonic()
        async with callers(proxy.url, _CLIENTS, lambda _: ("engines", {}), pause_s=_PAUSE_S) as finish:
            death = await _through_a_death(servers, seconds)
            crowd = await finish()
        # Whoever was let in last was so at the latest when the last call was answered.
        lasted_s = max(said.ended_at for said in crowd.calls) - begun
        taken = sum(said.answered for said in crowd.calls)
        allowed = _A_MINUTE * (1 + lasted_s / 60)
        return {
            f"{kind}.limit_taken": taken,
            f"{kind}.limit_allowed": allowed,
            f"{kind}.limit_error": abs(taken - allowed) / allowed,
            # On a loaded machine a command may take too long; then servers go by a share of the limit.
            f"{kind}.limit_alone": sum("going on without the shared state" in line for line in servers.log_lines()),
            f"{kind}.limit_lost": len(_lost(crowd, proxy, death)),
            f"{kind}.limit_session_errors": sum(said.of_session for said in crowd.calls),
        }


@contextlib.asynccontextmanager
async def _servers(settings: dict[str, str], folder: Path) -> AsyncIterator[Replicas]:
    """Two servers that can read."""

    def env_of(number: int) -> dict[str, str]:
        return {**settings, "SEARCH_MCP_DATA": str(folder / f"data-{number}")}

    async with replicas(*_SERVE, env_of=env_of) as servers:
        for number in range(len(servers.ports)):
            await browsers_say(servers.program(number).base, "ready", True, limit_s=_START_S)
        yield servers


async def _through_a_death(servers: Replicas, seconds: float) -> Death:
    """Let clients call, kill a server, start it anew, and let them call on."""
    await asyncio.sleep(seconds / 3)
    death = await servers.kill(1)
    await asyncio.sleep(seconds / 6)
    await servers.begin_again(1)
    await browsers_say(servers.program(1).base, "ready", True, limit_s=_START_S)
    await asyncio.sleep(seconds / 2)
    return death


def _lost(crowd: Answered, proxy: Proxy, death: Death) -> tuple[Said, ...]:
    return tuple(said for said in crowd.lost(proxy, death) if not _is_busy(said))


def _is_busy(said: Said) -> bool:
    return said.status == 200 and said.is_error and _BUSY.search(said.text) is not None


def _is_wrong(said: Said) -> bool:
    number = int(said.name.removeprefix("c")) // _ASKERS_A_PAGE
    return said.answered and f"{_mark(_url(number))}\n" not in said.text + "\n"


def _url(number: int) -> str:
    return f"http://{_HOSTS[number % len(_HOSTS)]}/page/{number}"


def _mark(address: str) -> str:
    return f"This is page number {address.rpartition('/')[2]}."


def _told(figures: Figures, kinds: list[str]) -> Figures:
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
