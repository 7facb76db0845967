"""Clients whose session is gone go on without noticing; those who ended it themselves are told."""

from __future__ import annotations

import aiohttp
import pytest
from mcp import Client

from tests.scraper.process import Program, serving
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.wire import HEADERS, call, open_session, tool_result

UNKNOWN = {**HEADERS, "Mcp-Session-Id": "0123456789abcdef0123456789abcdef"}


async def test_a_session_of_another_process_is_served(server: Program, http: aiohttp.ClientSession) -> None:
    async with http.post(server.url, headers=UNKNOWN, json=call("echo")) as answer:
        assert answer.status == 200
        assert "Mcp-Session-Id" not in answer.headers
        assert "principal" in await tool_result(answer)


async def test_progress_works_without_the_session(server: Program, http: aiohttp.ClientSession) -> None:
    message = call("slow", {"seconds": 1.2})
    message["params"]["_meta"] = {"progressToken": "here"}
    async with http.post(server.url, headers=UNKNOWN, json=message) as answer:
        text = await answer.text()
    assert '"progressToken":"here"' in text
    assert "done 12" in text


async def test_an_unknown_session_has_no_stream_to_listen_to(
    server: Program, http: aiohttp.ClientSession
) -> None:
    async with http.get(server.url, headers=UNKNOWN) as answer:
        assert answer.status == 405
        assert answer.headers["Allow"] == "POST"


async def test_a_session_that_its_client_ended_stays_ended(
    server: Program, http: aiohttp.ClientSession
) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, server.url)}
    async with http.delete(server.url, headers=headers) as answer:
        assert answer.status == 200
    async with http.post(server.url, headers=headers, json=call("echo")) as answer:
        assert answer.status == 404


async def test_deleting_an_unknown_session_does_not_end_it(
    server: Program, http: aiohttp.ClientSession
) -> None:
    async with http.delete(server.url, headers=UNKNOWN) as answer:
        assert answer.status == 405
    async with http.post(server.url, headers=UNKNOWN, json=call("echo")) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_client_outlives_a_restart_of_the_server(era: str) -> None:
    async with serving(*STAND_IN, "http") as first:
        port = first.base.rsplit(":", 1)[1]
        async with Client(first.url, mode=era) as client:
            assert not (await client.call_tool("echo", {})).is_error
            first.process.terminate()
            assert await first.ended() == 0
            async with serving(*STAND_IN, "http", f"--port={port}"):
                assert not (await client.call_tool("echo", {})).is_error
                assert [tool.name for tool in (await client.list_tools()).tools][:2] == ["echo", "slow"]
