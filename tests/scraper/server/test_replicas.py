"""Servers behind a real proxy, set up as in deploy/, are one server to clients of either era."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from mcp import Client

from tests.deploy.proxies import PROXIES, Proxy, program, proxied
from tests.scraper.process import LIMIT_S, START_S, Program, browsers_say
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.replicas import Answered, Crowd, Replicas, callers, replicas
from tests.scraper.server.stand_in import TOOLS
from tests.scraper.server.wire import ERAS, HEADERS, body_of, call, modern_call, open_session

CLIENTS = 12


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pair() -> AsyncIterator[Replicas]:
    """Two servers, begun once: that takes longer than what is done with them."""
    async with replicas(*STAND_IN, "http") as servers:
        yield servers


@pytest_asyncio.fixture
async def servers(pair: Replicas) -> Replicas:
    """Two servers, both alive."""
    await pair.revive()
    return pair


@pytest_asyncio.fixture
async def proxies(servers: Replicas) -> AsyncIterator[list[Proxy]]:
    """Each proxy that is installed, in front of the same servers."""
    installed = [kind for kind in PROXIES if program(kind) is not None]
    if not installed:
        pytest.skip("no proxy is installed")
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(proxied(kind, servers.ports)) for kind in installed]


def quick(_number: int) -> tuple[str, dict[str, Any]]:
    """Return a call that takes as long as a page."""
    return "slow", {"seconds": 0.2}


async def test_clients_notice_no_change_of_server(proxies: list[Proxy], servers: Replicas) -> None:
    async with AsyncExitStack() as stack:
        clients = {
            (proxy.kind, era): await stack.enter_async_context(Client(proxy.url, mode=era))
            for proxy in proxies
            for era in ERAS
        }
        for number in range(3):
            served = await asyncio.gather(*(is_served(client) for client in clients.values()))
            assert dict.fromkeys(clients, True) == dict(zip(clients, served, strict=True)), number
            if number == 0:
                await servers.kill(0)
            if number == 1:
                await servers.begin_again(0)
                await servers.kill(1)


async def is_served(client: Client) -> bool:
    """Whether this client can do all that it may want."""
    output: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        output.append(progress)

    answers = [
        await client.call_tool("echo", {}),
        await client.call_tool("slow", {"seconds": 0.5}, progress_callback=hear),
    ]
    tools = (await client.list_tools()).tools
    return not any(answer.is_error for answer in answers) and len(tools) == len(TOOLS) and bool(output)


@pytest.mark.thorough
async def test_a_dying_server_takes_along_only_what_it_was_doing(proxies: list[Proxy], servers: Replicas) -> None:
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession())
        held = [await held_by(servers, 0, proxy, http) for proxy in proxies]
        crowd_of = await stack.enter_async_context(crowds(proxies))
        await go_on(crowd_of, 2 * CLIENTS)
        death = await servers.kill(0)
        await go_on(crowd_of, CLIENTS)
        await servers.begin_again(0)
        await go_on(crowd_of, CLIENTS)
        for proxy, call_ in zip(proxies, held, strict=True):
            assert not await was_answered(call_), proxy.kind
        for proxy, crowd in zip(proxies, await finished(crowd_of), strict=True):
            assert not crowd.lost(proxy, death), proxy.kind
            assert not any(text.of_session for text in crowd.calls), proxy.kind
            assert len(crowd.failed) <= CLIENTS, proxy.kind
            used = {server for passed in proxy.routed_requests().values() for server in passed.servers}
            assert used == {f"127.0.0.1:{port}" for port in servers.ports}, proxy.kind


async def held_by(
    servers: Replicas, number: int, proxy: Proxy, http: aiohttp.ClientSession
) -> asyncio.Task[aiohttp.ClientResponse]:
    """Start a call through the proxy that this server handles until it dies."""
    headers, message = modern_call("slow", {"seconds": 600})
    before = await active_at(servers.program(number))
    while True:
        calls = await all_active(servers)
        posting = asyncio.create_task(http.post(proxy.url, headers=headers, json=message))
        await until_active(servers, calls + 1)
        if await active_at(servers.program(number)) > before:
            return posting


async def was_answered(posting: asyncio.Task[aiohttp.ClientResponse]) -> bool:
    """Whether a call got an answer of a tool."""
    try:
        async with asyncio.timeout(LIMIT_S), await posting as answer:
            return answer.status == 200 and "result" in await body_of(answer)
    except (aiohttp.ClientError, ValueError):
        return False


@pytest.mark.full_size
async def test_a_stopping_server_loses_no_request(proxies: list[Proxy], servers: Replicas) -> None:
    async with crowds(proxies) as crowd_of:
        for number in (0, 1):
            await go_on(crowd_of, CLIENTS)
            servers.program(number).process.terminate()
            assert await servers.program(number).ended() == 0
            await servers.begin_again(number)
            await browsers_say(servers.program(number).base, "ready", True, limit_s=START_S)
            for proxy in proxies:
                if proxy.kind == "haproxy":
                    # It looks once a second, and what it does not know to be there it does not ask.
                    await until_ready(proxy, 2)
        await go_on(crowd_of, CLIENTS)
        for proxy, crowd in zip(proxies, await finished(crowd_of), strict=True):
            assert not crowd.failed, (proxy.kind, proxy.faults())
            assert len(crowd.calls) > CLIENTS, proxy.kind


@contextlib.asynccontextmanager
async def crowds(proxies: list[Proxy]) -> AsyncIterator[list[Crowd]]:
    """Callers at each proxy."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(callers(proxy.url, CLIENTS, quick)) for proxy in proxies]


async def go_on(crowd_of: list[Crowd], calls: int) -> None:
    """Return when each crowd has made so many more calls."""
    await asyncio.gather(*(crowd.goes_on(calls) for crowd in crowd_of))


async def finished(crowd_of: list[Crowd]) -> list[Answered]:
    """Return all answers after the last calls have ended."""
    return await asyncio.gather(*(crowd() for crowd in crowd_of))


async def test_streams_and_ends_of_sessions_may_reach_any_server(proxies: list[Proxy], servers: Replicas) -> None:
    async with aiohttp.ClientSession() as http:
        for proxy in proxies:
            headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, proxy.url)}
            statuses = []
            for number in (0, 1):
                async with http.get(servers.program(number).url, headers=headers) as stream:
                    statuses.append(stream.status)
            assert sorted(statuses) == [200, 405]  # which a client takes as: no notices here
            async with http.delete(proxy.url, headers=headers) as answer:
                assert answer.status in {200, 405}


async def test_a_cancellation_finds_its_call_at_whichever_server_it_runs(
    proxies: list[Proxy], servers: Replicas
) -> None:
    async with aiohttp.ClientSession() as http:
        for proxy in proxies * 4:
            session = await open_session(http, proxy.url)
            headers = {**HEADERS, "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
            posting = asyncio.create_task(
                http.post(proxy.url, headers=headers, json=call("slow", {"seconds": 50}, number=7))
            )
            await until_active(servers, 1)
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
            async with http.post(proxy.url, headers=headers, json=note) as answer:
                assert answer.status == 202
            async with await posting as answer:
                assert (await body_of(answer))["error"]["message"] == "Request cancelled"
            await until_active(servers, 0)


async def until_active(servers: Replicas, wanted: int) -> None:
    """Return once so many tabs are held by all servers together."""
    async with asyncio.timeout(LIMIT_S):
        while await all_active(servers) != wanted:  # noqa: ASYNC110 - other processes change it
            await asyncio.sleep(0.05)


async def all_active(servers: Replicas) -> int:
    """How many tabs are held by all servers together."""
    return sum([await active_at(servers.program(number)) for number in range(len(servers.ports))])


async def active_at(server: Program) -> int:
    """How many tabs are held by one server."""
    async with aiohttp.ClientSession() as http, http.get(server.base + "/health") as answer:
        active: int = (await answer.json())["browsers"]["active"]
        return active


@pytest.mark.full_size
async def test_work_goes_to_servers_with_capacity_and_full_ones_return_a_retry_time() -> None:
    if program("haproxy") is None:
        pytest.skip("haproxy is not installed")
    async with (
        replicas(*STAND_IN, "http", "--call_limit=1") as servers,
        proxied("haproxy", servers.ports) as proxy,
        aiohttp.ClientSession() as http,
    ):
        await until_ready(proxy, 2)
        waiting = []
        for left in (1, 0):
            headers, message = modern_call("slow", {"seconds": 50})
            waiting.append(asyncio.create_task(http.post(proxy.url, headers=headers, json=message)))
            await until_ready(proxy, left)
        for number in (0, 1):
            await browsers_say(servers.program(number).base, "active", 1, limit_s=LIMIT_S)
        headers, message = modern_call("echo", {})
        async with http.post(proxy.url, headers=headers, json=message) as answer:
            result = (await body_of(answer))["result"]
        assert result["content"][0]["text"].startswith("The server is busy: 1 calls are under way.")
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def until_ready(proxy: Proxy, wanted: int) -> None:
    """Return once the proxy sends work to so many servers."""
    async with asyncio.timeout(LIMIT_S):
        while await proxy.ready() != wanted:  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.1)
