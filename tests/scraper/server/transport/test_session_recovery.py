"""Clients whose session is gone go on without noticing; those who ended it themselves are told."""

from __future__ import annotations

import asyncio

import aiohttp
import httpx2
import pytest
from mcp import Client
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from scraper.server.http.middleware import DisconnectMiddleware
from scraper.server.transport.session_recovery import SessionRecovery
from tests.scraper.process import LIMIT_S, SOON_S, Program, browsers_say, serving
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.wire import HEADERS, body_of, call, initialize, open_session, tool_result

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


async def test_an_unknown_session_has_no_stream_to_listen_to(server: Program, http: aiohttp.ClientSession) -> None:
    async with http.get(server.url, headers=UNKNOWN) as answer:
        assert answer.status == 405
        assert answer.headers["Allow"] == "POST"


async def test_a_session_that_its_client_ended_stays_ended(server: Program, http: aiohttp.ClientSession) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, server.url)}
    async with http.delete(server.url, headers=headers) as answer:
        assert answer.status == 200
    async with http.post(server.url, headers=headers, json=call("echo")) as answer:
        assert answer.status == 404


async def test_deleting_an_unknown_session_does_not_end_it(server: Program, http: aiohttp.ClientSession) -> None:
    async with http.delete(server.url, headers=UNKNOWN) as answer:
        assert answer.status == 405
    async with http.post(server.url, headers=UNKNOWN, json=call("echo")) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("era", ["auto", pytest.param("legacy", marks=pytest.mark.full_size)])
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


async def test_a_call_of_a_lost_session_can_be_cancelled(server: Program, http: aiohttp.ClientSession) -> None:
    message = call("slow", {"seconds": 50}, number=7)
    posting = asyncio.create_task(http.post(server.url, headers=UNKNOWN, json=message))
    await browsers_say(server.base, "active", 1, limit_s=LIMIT_S)
    for other in ({**UNKNOWN, "Mcp-Session-Id": "another"}, UNKNOWN):
        for request in ("7", 8):  # the name of a request is of one type
            assert await cancelled(http, server, other, request) == 202
    assert await cancelled(http, server, {**UNKNOWN, "Mcp-Session-Id": "another"}, 7) == 202
    await browsers_say(server.base, "active", 1, limit_s=SOON_S)
    assert await cancelled(http, server, UNKNOWN, 7) == 202
    await browsers_say(server.base, "active", 0, limit_s=SOON_S)
    async with await posting as answer:
        assert (await body_of(answer))["error"]["code"] == -32800


async def cancelled(http: aiohttp.ClientSession, server: Program, headers: dict[str, str], request: int | str) -> int:
    """Return the status of the response to a cancellation."""
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request}}
    async with http.post(server.url, headers=headers, json=note) as answer:
        return answer.status


@pytest.mark.parametrize("body", [b"", b"[", b"[]", b"7", b'{"id": 1}', b'{"method": 5, "id": {}}', b"\xff"])
async def test_an_invalid_message_of_an_unknown_session_is_rejected(
    body: bytes, server: Program, http: aiohttp.ClientSession
) -> None:
    async with http.post(server.url, headers=UNKNOWN, data=body) as answer:
        assert answer.status == 400


async def test_a_client_beyond_the_table_of_sessions_is_served_without_one() -> None:
    app: Server[None] = Server("full")
    stateful = StreamableHTTPSessionManager(app, max_sessions=1)
    stateless = StreamableHTTPSessionManager(app, stateless=True)
    async with (
        stateful.run(),
        stateless.run(),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(SessionRecovery(stateful, stateless)), base_url="http://127.0.0.1"
        ) as client,
    ):
        sessions = []
        for _ in range(3):
            answer = await client.post("/mcp", headers=HEADERS, json=initialize())
            assert answer.status_code == 200
            sessions.append(answer.headers["mcp-session-id"])
        assert len(set(sessions)) == 3
        assert len(stateful._server_instances) == 1
        ping = {"jsonrpc": "2.0", "id": 3, "method": "ping"}
        for session in sessions:
            headers = {**HEADERS, "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
            answer = await client.post("/mcp", headers=headers, json=ping)
            assert (answer.status_code, '"result":{}' in answer.text) == (200, True)


async def test_a_session_that_ends_during_its_notification_leaves_no_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stateful, stateless = (StreamableHTTPSessionManager(Server("test"), stateless=kind) for kind in (False, True))
    inner = DisconnectMiddleware(SessionRecovery(stateful, stateless))
    statuses: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_and_end(message: Message) -> None:
            await send(message)
            statuses.append(message.get("status", 0))
            if statuses[-2:] == [202, 0]:
                for session in stateful._server_instances.values():
                    await session.terminate()

        await inner(scope, receive, send_and_end)

    transport = httpx2.ASGITransport(app=app)
    async with stateful.run(), stateless.run(), httpx2.AsyncClient(transport=transport) as client:
        opened = await client.post("http://127.0.0.1/mcp", headers=HEADERS, json=initialize())
        headers = {**HEADERS, "Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await client.post("http://127.0.0.1/mcp", headers=headers, json=note)).status_code == 202
    assert statuses[-2:] == [202, 0]
    assert not [record for record in caplog.records if record.exc_info]
