"""Lists of messages are answered where the revision knows them, and odd ids are refused everywhere."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from typing import Any

import aiohttp
import pytest

from scraper.server.transport.jsonrpc_middleware import MAX_MESSAGES
from tests.scraper.process import LIMIT_S, SOON_S, Program, browsers_say, running
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.pipe import ask, read
from tests.scraper.server.wire import HEADERS, call, initialize, open_session

NEWER = {"MCP-Protocol-Version": "2025-11-25"}
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SEARCH = {"jsonrpc": "2.0", "id": "s", "method": "tools/search", "params": {"query": "echo"}}
LINES = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())


def ping(name: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": name, "method": "ping"}


@pytest.mark.parametrize("session", ["open", "lost"])
async def test_messages_in_a_list_are_answered_in_a_list(
    server: Program, http: aiohttp.ClientSession, session: str
) -> None:
    known = await open_session(http, server.url) if session == "open" else "0" * 32
    messages = [ping(1), NOTE, SEARCH, call("echo", {"text": "hello\ud800"}), 7, initialize(9), ping([8])]
    messages.append(ping(10) | {"method": 5})
    headers = {**HEADERS, "Mcp-Session-Id": known}
    async with http.post(server.url, headers=headers, json=messages) as answer:
        assert (answer.status, answer.content_type) == (200, "application/json")
        pong, found, echoed, *refused = await answer.json()
    assert pong == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert found["id"] == "s" and found["result"]["tools"][0]["name"] == "echo"
    assert json.loads(echoed["result"]["content"][0]["text"])["arguments"] == {"text": "hello\ufffd"}
    output = [(error["id"], error["error"]["code"]) for error in refused]
    assert output == [(None, -32600), (9, -32600), (None, -32600), (10, -32602)]


async def test_a_list_that_asks_for_nothing_is_accepted(server: Program, http: aiohttp.ClientSession) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, server.url)}
    async with http.post(server.url, headers=headers, json=[NOTE, NOTE]) as answer:
        assert (answer.status, await answer.read()) == (202, b"")


@pytest.mark.parametrize("messages", [[], [ping(1)] * (MAX_MESSAGES + 1)])
async def test_a_list_of_none_or_of_too_many_is_refused(
    server: Program, http: aiohttp.ClientSession, messages: list[Any]
) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, server.url)}
    async with http.post(server.url, headers=headers, json=messages) as answer:
        assert answer.status == 400 and (await answer.json())["error"]["code"] == -32600


async def test_a_list_is_no_message_of_a_revision_that_knows_none(server: Program, http: aiohttp.ClientSession) -> None:
    headers = {**HEADERS, **NEWER, "Mcp-Session-Id": await open_session(http, server.url)}
    async with http.post(server.url, headers=headers, json=[ping(1)]) as answer:
        assert answer.status == 400


@pytest.mark.parametrize("session", ["open", "lost"])
async def test_calls_of_a_list_end_with_their_client(
    server: Program, http: aiohttp.ClientSession, session: str
) -> None:
    known = await open_session(http, server.url) if session == "open" else "0" * 32
    headers = {**HEADERS, "Mcp-Session-Id": known}
    calls = [call("slow", {"seconds": 60}, number=number) for number in (1, 2)]
    posting = asyncio.create_task(http.post(server.url, headers=headers, json=calls))
    await browsers_say(server.base, "active", 2, limit_s=LIMIT_S)
    posting.cancel()
    await browsers_say(server.base, "active", 0, limit_s=SOON_S)


@pytest.mark.parametrize("session", ["open", "lost"])
async def test_of_requests_with_one_id_in_a_list_the_first_is_answered_and_the_others_refused(
    server: Program, http: aiohttp.ClientSession, session: str
) -> None:
    known = await open_session(http, server.url) if session == "open" else "0" * 32
    headers = {**HEADERS, "Mcp-Session-Id": known}
    same = [call("slow", {"seconds": 1.6}, number=5), ping(5), ping("5"), ping(6)]
    async with http.post(server.url, headers=headers, json=same) as answer:
        slow, *refused, pong = await answer.json()
    assert slow["id"] == 5 and "result" in slow
    assert [(error["id"], error["error"]["code"]) for error in refused] == [(5, -32600), ("5", -32600)]
    assert pong == {"jsonrpc": "2.0", "id": 6, "result": {}}


async def test_an_id_is_free_again_once_its_request_is_answered_or_given_up(
    server: Program, http: aiohttp.ClientSession
) -> None:
    headers = {**HEADERS, **NEWER, "Mcp-Session-Id": await open_session(http, server.url)}
    slow = call("slow", {"seconds": 60}, number=1)
    posting = asyncio.create_task(http.post(server.url, headers=headers, json=slow))
    await browsers_say(server.base, "active", 1, limit_s=LIMIT_S)
    async with http.post(server.url, headers=headers, json=ping(1)) as answer:
        assert answer.status == 400
        assert "id 1 is in use" in (await answer.json())["error"]["message"]
    (await posting).close()
    await browsers_say(server.base, "active", 0, limit_s=SOON_S)
    for _ in range(20):
        async with http.post(server.url, headers=headers, json=ping(1)) as answer:
            assert (answer.status, '"result":{}' in await answer.text()) == (200, True)


@pytest.mark.parametrize("session", ["open", "lost"])
@pytest.mark.parametrize("odd", [1.5, None, [1], {"a": 1}, True])
async def test_a_request_that_no_answer_can_name_is_refused_and_not_accepted(
    server: Program, http: aiohttp.ClientSession, odd: object, session: str
) -> None:
    known = await open_session(http, server.url) if session == "open" else "0" * 32
    headers = {**HEADERS, **NEWER, "Mcp-Session-Id": known}
    async with http.post(server.url, headers=headers, json=ping(odd)) as answer:
        assert answer.status == 400
        error = await answer.json()
    assert (error["id"], error["error"]["code"]) == (None, -32600)


async def test_a_line_may_hold_a_list_in_the_revision_that_knows_them() -> None:
    handshake = initialize()
    handshake["params"]["protocolVersion"] = "2025-03-26"
    async with running(*STAND_IN, "stdio", stdin=PIPE, stdout=PIPE) as program:
        assert (await ask(program, handshake))["result"]["protocolVersion"] == "2025-03-26"
        assert program.process.stdin is not None
        program.process.stdin.write(json.dumps([NOTE, ping(3), SEARCH, 7]).encode() + b"\n[]\n")
        output = [await read(program) for _ in range(4)]
    assert {one["id"] for one in output if "result" in one} == {3, "s"}
    assert [one["error"]["code"] for one in output if "error" in one] == [-32600, -32600]


async def test_a_body_that_is_cut_off_is_no_fault_of_the_server(server: Program, http: aiohttp.ClientSession) -> None:
    port = int(server.base.rpartition(":")[2])
    before = len(server.said)
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n{LINES}\r\n"
    for _ in range(3):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head.encode() + b'{"jsonrpc"')
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    # Later requests are answered; by then the server has logged any error of the earlier ones.
    for _ in range(3):
        await open_session(http, server.url)
    assert "Error handling POST request" not in "".join(server.said[before:])
