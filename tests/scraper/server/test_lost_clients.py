"""A client that cancels or goes away gives its tab back within a second."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from mcp import Client

from tests.scraper.process import LIMIT_S, SOON_S, Program, browsers_say
from tests.scraper.server.wire import ERAS, HEADERS, body_of, call, modern_call, open_session, tool_result

LONG = {"seconds": 50}
"""Longer than is waited for its end; a call may take no longer."""


@contextlib.asynccontextmanager
async def waiting_for(
    server: Program, headers: dict[str, str], message: object
) -> AsyncIterator[aiohttp.ClientSession]:
    """Post a call from a new client and drop its connection on exit."""
    async with aiohttp.ClientSession() as client:
        posting = asyncio.create_task(client.post(server.url, headers=headers, json=message))
        await browsers_say(server.base, "active", 1, limit_s=LIMIT_S)
        yield client
        posting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            (await posting).close()


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_the_client_cancels_ends(server: Program, era: str) -> None:
    async with Client(server.url, mode=era) as client:
        waiting = asyncio.create_task(client.call_tool("slow", LONG))
        await browsers_say(server.base, "active", 1, limit_s=LIMIT_S)
        waiting.cancel()
        await browsers_say(server.base, "active", 0, limit_s=SOON_S)
        assert not (await client.call_tool("echo", {})).is_error


async def test_a_cancelled_call_is_answered_as_cancelled_in_the_old_era(
    server: Program, http: aiohttp.ClientSession
) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, server.url)}
    posting = asyncio.create_task(http.post(server.url, headers=headers, json=call("slow", LONG, number=7)))
    await browsers_say(server.base, "active", 1, limit_s=LIMIT_S)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    async with http.post(server.url, headers=headers, json=cancel) as noted:
        assert noted.status == 202
    async with await posting as answer:
        assert (await body_of(answer))["error"]["code"] == -32800
    await browsers_say(server.base, "active", 0, limit_s=SOON_S)


async def test_a_lost_connection_of_a_session_ends_its_call_and_not_the_session(
    server: Program, http: aiohttp.ClientSession
) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, server.url)}
    async with waiting_for(server, headers, call("slow", LONG)):
        pass
    await browsers_say(server.base, "active", 0, limit_s=SOON_S)
    async with http.post(server.url, headers=headers, json=call("echo", number=3)) as answer:
        assert "principal" in await tool_result(answer)


async def test_a_lost_connection_ends_its_own_call_alone(
    server: Program, http: aiohttp.ClientSession, word: Path
) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, server.url)}
    async with waiting_for(server, headers, call("slow", LONG)):
        short = call("slow", {"until": str(word)}, number=3)
        staying = asyncio.create_task(http.post(server.url, headers=headers, json=short))
        await browsers_say(server.base, "active", 2, limit_s=LIMIT_S)
    await browsers_say(server.base, "active", 1, limit_s=SOON_S)
    word.touch()
    async with await staying as answer:
        assert await tool_result(answer) == "done as told"


async def test_a_lost_connection_without_a_session_ends_its_call(server: Program) -> None:
    async with waiting_for(server, {**HEADERS, "Mcp-Session-Id": "of-another-life"}, call("slow", LONG)):
        pass
    await browsers_say(server.base, "active", 0, limit_s=SOON_S)


async def test_a_lost_connection_of_the_new_era_ends_its_call(server: Program) -> None:
    async with waiting_for(server, *modern_call("slow", LONG)):
        pass
    await browsers_say(server.base, "active", 0, limit_s=SOON_S)


async def test_a_session_that_the_client_ends_takes_its_calls_along(
    server: Program, http: aiohttp.ClientSession
) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, server.url)}
    async with waiting_for(server, headers, call("slow", LONG)):
        async with http.delete(server.url, headers=headers) as answer:
            assert answer.status == 200
        await browsers_say(server.base, "active", 0, limit_s=SOON_S)


async def test_fifty_lost_clients_leave_nothing(server: Program) -> None:
    async with aiohttp.ClientSession() as client:
        headers, message = modern_call("slow", LONG)
        posts = [asyncio.create_task(client.post(server.url, headers=headers, json=message)) for _ in range(50)]
        await browsers_say(server.base, "active", 50, limit_s=LIMIT_S)
        for post in posts:
            post.cancel()
        await asyncio.wait(posts)
    await browsers_say(server.base, "active", 0, limit_s=2 * SOON_S)
