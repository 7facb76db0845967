"""The proxies accept their configurations in deploy/ and route requests to a server that is ready."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from tests.deploy.proxies import PROXIES, Proxy, check_command, configuration, program, proxied
from tests.ports import free_port

LIMIT_S = 120
CALLS = 12


@pytest.mark.parametrize("kind", PROXIES)
@pytest.mark.parametrize("broken", [False, True])
def test_valid_configurations_are_accepted_and_invalid_ones_rejected(kind: str, broken: bool, tmp_path: Path) -> None:
    path = program(kind)
    if path is None:
        pytest.skip(f"{kind} is not installed")
    text = configuration(kind, 8000, (8001, 8002), tmp_path)
    file = tmp_path / "proxy.cfg"
    file.write_text(text.replace("buffering", "bufering").replace("redispatch", "redispach") if broken else text)
    done = subprocess.run(check_command(kind, path, file, tmp_path), capture_output=True, timeout=LIMIT_S)
    assert (done.returncode != 0) == broken, done.stderr.decode()


class Server:
    """A fake server that answers every call with `status`; 0 cuts the connection instead."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.port = free_port()
        self.asked: Counter[str] = Counter()

    async def answer(self, request: web.Request) -> web.Response:
        """Answer that the server is ready; count posts by session."""
        if request.method != "POST":
            return web.Response()
        session = request.headers.get("Mcp-Session-Id", "")
        self.asked[session] += 1
        if not self.status:
            assert request.transport is not None
            request.transport.close()
        return web.Response(status=self.status, headers={"Mcp-Session-Id": session or uuid.uuid4().hex})

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen while the block runs, at the same port each time."""
        app = web.Application()
        app.router.add_route("*", "/{path}", self.answer)
        runner = web.AppRunner(app, shutdown_timeout=1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", self.port).start()
            yield
        finally:
            await runner.cleanup()


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_call_rejected_by_one_server_is_handled_by_another(kind: str) -> None:
    leaving, staying = Server(503), Server()
    async with leaving.running(), staying.running(), in_front_of(kind, leaving, staying) as proxy:
        assert await statuses(proxy, "") == [200] * CALLS
        assert [await statuses(proxy, f"session-{number}") for number in range(6)] == [[200] * CALLS] * 6
        assert leaving.asked and staying.asked.total() == 7 * CALLS


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_call_that_may_have_run_is_not_repeated(kind: str) -> None:
    # Some calls reach a server that cuts them at once, others after a server that rejects them.
    rejecting, *cutting = Server(503), Server(0), Server(0)
    async with contextlib.AsyncExitStack() as stack:
        for server in (rejecting, *cutting):
            await stack.enter_async_context(server.running())
        proxy = await stack.enter_async_context(in_front_of(kind, rejecting, *cutting))
        assert set(await statuses(proxy, "")) <= {-1, 502, 503}
    assert rejecting.asked and sum(server.asked.total() for server in cutting) <= CALLS


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_call_passes_a_proxy_that_ends_tls(kind: str) -> None:
    server = Server()
    async with server.running(), in_front_of(kind, server, has_tls=True) as proxy:
        assert proxy.url.startswith("https:") and await statuses(proxy, "") == [200] * CALLS


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_session_stays_on_one_server_until_that_stops(kind: str) -> None:
    servers = [Server(), Server()]
    async with contextlib.AsyncExitStack() as stack:
        ends = [await stack.enter_async_context(contextlib.AsyncExitStack()) for _ in servers]
        for end, server in zip(ends, servers, strict=True):
            await end.enter_async_context(server.running())
        proxy = await stack.enter_async_context(in_front_of(kind, *servers))
        assert await statuses(proxy, "mine") == [200] * CALLS
        counts = [server.asked["mine"] for server in servers]
        assert sorted(counts) == [0, CALLS]
        await ends[counts.index(CALLS)].aclose()
        assert await statuses(proxy, "mine") == [200] * CALLS
        assert servers[counts.index(0)].asked["mine"] == CALLS


async def test_haproxy_routes_a_session_to_the_server_that_opened_it() -> None:
    one, other = Server(), Server()
    async with (
        asyncio.timeout(LIMIT_S),
        one.running(),
        other.running(),
        in_front_of("haproxy", one, other) as proxy,
        aiohttp.ClientSession() as http,
    ):
        for _ in range(6):
            before = one.asked[""]
            async with http.post(proxy.url, json={}) as answer:
                session = answer.headers["Mcp-Session-Id"]
            opener = one if one.asked[""] > before else other
            assert await statuses(proxy, session) == [200] * CALLS
            assert opener.asked[session] == CALLS


async def test_a_restarted_server_gets_requests_at_once() -> None:
    # haproxy checks the servers itself, every second.
    one, other = Server(), Server()
    async with other.running():
        pass
    async with contextlib.AsyncExitStack() as ended:
        await ended.enter_async_context(one.running())
        async with in_front_of("nginx", one, other) as proxy:
            assert await statuses(proxy, "") == [200] * CALLS
            async with other.running():
                await ended.aclose()
                assert await statuses(proxy, "") == [200] * CALLS


@contextlib.asynccontextmanager
async def in_front_of(kind: str, *servers: Server, has_tls: bool = False) -> AsyncIterator[Proxy]:
    """Run a proxy; skip the test if it is not installed."""
    if program(kind) is None:
        pytest.skip(f"{kind} is not installed")
    async with proxied(kind, [server.port for server in servers], has_tls=has_tls) as proxy:
        yield proxy


async def statuses(proxy: Proxy, session: str) -> list[int]:
    """Return the answers to calls of a session, or without a session; -1 if the connection was cut."""
    headers = {"Mcp-Session-Id": session} if session else {}
    async with aiohttp.ClientSession() as http, asyncio.timeout(LIMIT_S):
        found = []
        for _ in range(CALLS):
            try:
                async with http.post(proxy.url, json={}, headers=headers, ssl=False) as answer:
                    found.append(answer.status)
            except aiohttp.ServerDisconnectedError:
                found.append(-1)
        return found
