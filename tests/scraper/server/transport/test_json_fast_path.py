"""Calls of the newer era that ask for no progress are answered in one piece, and lose nothing by it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from starlette.types import Message, Receive, Scope, Send

from scraper.server.transport.session_recovery import JsonFastPath
from tests.scraper.process import LIMIT_S, Program
from tests.scraper.server.wire import modern, modern_call, tool_result

ANSWER = b'{"jsonrpc":"2.0","id":2,"result":{}}'
LIMIT_BYTES = 10_000


class Client:
    """The other end of one request: says its body, then nothing until it leaves; keeps what it is told."""

    def __init__(self, body: bytes) -> None:
        self.told: list[Message] = []
        self.leaves = asyncio.Event()
        self._news = asyncio.Event()
        self._body: bytes | None = body

    async def receive(self) -> Message:
        """Return the next message of the client."""
        if self._body is not None:
            output, self._body = self._body, None
            return {"type": "http.request", "body": output, "more_body": False}
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Record a message to the client."""
        self.told.append(message)
        self._news.set()

    async def told_so_many(self, count: int) -> None:
        """Return when it was told so many messages."""
        async with asyncio.timeout(LIMIT_S):
            while len(self.told) < count:
                self._news.clear()
                await self._news.wait()


class Endpoint:
    """Answers when it is let; notes who asked."""

    def __init__(self, name: str, asked: list[str]) -> None:
        self.may_answer = asyncio.Event()
        self._name = name
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the request whole, and answer."""
        assert (await receive())["type"] == "http.request"
        self._asked.append(self._name)
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": ANSWER})


def request(headers: dict[str, str], **more: Any) -> Scope:
    """Return the scope of a POST request."""
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "POST", "path": "/mcp", "headers": raw, **more}


def asked_with(headers: dict[str, str], message: object, *, method: str = "POST") -> list[str]:
    """Which of both endpoints a request comes to."""

    async def ask() -> list[str]:
        asked: list[str] = []
        plain, otherwise = Endpoint("plain", asked), Endpoint("otherwise", asked)
        plain.may_answer.set()
        otherwise.may_answer.set()
        client = Client(json.dumps(message).encode())
        await JsonFastPath(plain, otherwise, LIMIT_BYTES)(request(headers, method=method), client.receive, client.send)
        return asked

    return asyncio.run(ask())


CALL_HEADERS, CALL = modern_call("echo", {})


def lasting(*, ping_interval_s: float) -> tuple[Endpoint, Client, JsonFastPath]:
    """Build a call that counts as long-running at once, with its server, client and middleware."""
    plain, client = Endpoint("plain", []), Client(json.dumps(CALL).encode())
    return (plain, client, JsonFastPath(plain, plain, LIMIT_BYTES, watch_after_s=0.0, ping_interval_s=ping_interval_s))


def test_a_call_that_asks_for_no_progress_is_answered_in_one_piece() -> None:
    assert asked_with(CALL_HEADERS, CALL) == ["plain"]


@pytest.mark.parametrize(
    "changed",
    [
        {"MCP-Protocol-Version": "2025-11-25"},
        {"MCP-Protocol-Version": "2099-01-01"},
        {"Mcp-Method": "subscriptions/listen"},
        {"Mcp-Session-Id": "0" * 32},
    ],
)
def test_any_other_request_takes_the_other_way(changed: dict[str, str]) -> None:
    assert asked_with({**CALL_HEADERS, **changed}, CALL) == ["otherwise"]


@pytest.mark.parametrize(
    ("first", "second", "way"), [("2025-11-25", "2026-07-28", "otherwise"), ("2026-07-28", "2025-11-25", "plain")]
)
def test_of_two_versions_the_first_counts(first: str, second: str, way: str) -> None:
    others = {name: value for name, value in CALL_HEADERS.items() if name != "MCP-Protocol-Version"}
    # Two spellings of one name, as a dictionary cannot hold it twice.
    both = {"MCP-Protocol-Version": first, "mcp-protocol-version": second}
    assert asked_with({**both, **others}, CALL) == [way]


def test_a_call_that_asks_for_progress_takes_the_other_way() -> None:
    wanting = {**CALL, "params": {**CALL["params"], "_meta": {"progressToken": 7}}}
    assert asked_with(CALL_HEADERS, wanting) == ["otherwise"]


def test_a_client_that_accepts_no_streams_gets_one_piece() -> None:
    wanting = {**CALL, "params": {**CALL["params"], "_meta": {"progressToken": 7}}}
    for version in ("2025-11-25", "2026-07-28"):
        changed = {"Accept": "application/json", "MCP-Protocol-Version": version}
        assert asked_with({**CALL_HEADERS, **changed}, wanting) == ["plain"]


def test_what_is_not_posted_takes_the_other_way() -> None:
    assert asked_with(CALL_HEADERS, CALL, method="GET") == ["otherwise"]


async def test_a_client_gets_pings_during_a_long_call() -> None:
    plain, client, endpoint = lasting(ping_interval_s=0.01)
    answering = asyncio.create_task(endpoint(request(CALL_HEADERS), client.receive, client.send))
    await client.told_so_many(3)
    plain.may_answer.set()
    async with asyncio.timeout(LIMIT_S):
        await answering
    start, *pings, answer = client.told
    assert start["status"] == 200 and (b"content-type", b"text/event-stream") in start["headers"]
    assert {(ping["body"], ping["more_body"]) for ping in pings} == {(b": ping\r\n\r\n", True)}
    assert answer["body"] == b"event: message\r\ndata: " + ANSWER + b"\r\n\r\n"
    assert not answer.get("more_body", False)


def test_nothing_follows_the_answer() -> None:
    async def answer() -> tuple[list[Message], int]:
        plain, client, endpoint = lasting(ping_interval_s=60.0)
        answering = asyncio.create_task(endpoint(request(CALL_HEADERS), client.receive, client.send))
        await asyncio.sleep(0.05)
        plain.may_answer.set()
        async with asyncio.timeout(LIMIT_S):
            await answering
        return client.told, len(asyncio.all_tasks())

    # In a loop of its own: the other has tasks of those who share it, which come and go.
    output, tasks = asyncio.run(answer())
    assert [message.get("body") for message in output] == [None, ANSWER]
    assert tasks == 1


def test_a_call_that_is_answered_before_it_counts_as_lasting_leaves_nothing_behind() -> None:
    async def answer() -> tuple[list[Message], int]:
        plain, client = Endpoint("plain", []), Client(json.dumps(CALL).encode())
        plain.may_answer.set()
        endpoint = JsonFastPath(plain, plain, LIMIT_BYTES, watch_after_s=0.02, ping_interval_s=0.01)
        await endpoint(request(CALL_HEADERS), client.receive, client.send)
        await asyncio.sleep(0.1)
        return client.told, len(asyncio.all_tasks())

    output, tasks = asyncio.run(answer())
    assert [message.get("body") for message in output] == [None, ANSWER]
    assert tasks == 1


async def test_no_ping_is_sent_inside_a_response() -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        begun.set()
        await may_end.wait()
        await send({"type": "http.response.body", "body": ANSWER})

    client = Client(json.dumps(CALL).encode())
    endpoint = JsonFastPath(slow, slow, LIMIT_BYTES, watch_after_s=0.0, ping_interval_s=0.01)
    answering = asyncio.create_task(endpoint(request(CALL_HEADERS), client.receive, client.send))
    async with asyncio.timeout(LIMIT_S):
        await begun.wait()
        await asyncio.sleep(0.1)
        may_end.set()
        await answering
    assert [message["type"] for message in client.told] == ["http.response.start", "http.response.body"]
    assert client.told[1]["body"] == ANSWER


async def test_a_call_with_an_incomplete_body_uses_the_fallback() -> None:
    output: list[Message] = [
        {"type": "http.request", "body": b'{"jsonrpc"', "more_body": True},
        {"type": "http.disconnect"},
    ]
    asked: list[str] = []
    plain, otherwise = Endpoint("plain", asked), Endpoint("otherwise", asked)
    otherwise.may_answer.set()
    plain.may_answer.set()

    async def receive() -> Message:
        return output.pop(0)

    await JsonFastPath(plain, otherwise, LIMIT_BYTES)(request(CALL_HEADERS), receive, Client(b"").send)
    assert asked == ["otherwise"]


async def test_a_disconnected_client_gets_no_more_data() -> None:
    _, client, endpoint = lasting(ping_interval_s=0.01)
    answering = asyncio.create_task(endpoint(request(CALL_HEADERS), client.receive, client.send))
    await client.told_so_many(2)
    client.leaves.set()
    for _ in range(20):  # turns of the loop, not time: in one of them it is heard
        await asyncio.sleep(0)
    output = len(client.told)
    await asyncio.sleep(0.05)
    assert len(client.told) == output
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering


async def test_a_short_call_is_plain_json_on_the_wire(server: Program, http: aiohttp.ClientSession) -> None:
    async with http.post(server.url, headers=CALL_HEADERS, json=CALL) as answer:
        assert (answer.status, answer.content_type) == (200, "application/json")
        assert "principal" in await tool_result(answer)


@pytest.mark.parametrize(
    ("name", "arguments", "header"),
    [("echo", {}, "other"), ("none", {}, "none"), (7, {}, "7"), ("echo", 7, "echo"), ("echo", {}, "echo")],
)
async def test_both_ways_answer_alike(
    server: Program, http: aiohttp.ClientSession, name: object, arguments: object, header: str
) -> None:
    headers, message = modern("tools/call", {"name": name, "arguments": arguments})
    wanting = {**message["params"]["_meta"], "progressToken": 1}
    answers = []
    for asked in (message, {**message, "params": {**message["params"], "_meta": wanting}}):
        async with http.post(server.url, headers={**headers, "Mcp-Name": header}, json=asked) as answer:
            answers.append((answer.status, answer.content_type, await answer.json()))
    assert answers[0] == answers[1]


async def test_a_call_with_a_progress_token_gets_progress(server: Program, http: aiohttp.ClientSession) -> None:
    headers, message = modern_call("slow", {"seconds": 1.2})
    message["params"]["_meta"]["progressToken"] = "here"
    async with http.post(server.url, headers=headers, json=message) as answer:
        text = await answer.text()
    assert '"progressToken":"here"' in text and "done 12" in text
