"""The answer to a handshake that is given before the SDK is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, cast

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.protocol import handshake, mcp_server
from scraper.settings import Settings
from scraper.settings.files import version
from scraper.tools import registry

SETTINGS = Settings()
CLIENT = {"name": "a client", "version": "1"}
DEEP = [
    json.loads(start + '{"a":' * 350 + "{}" + "}" * 350 + end) for start, end in (("", ""), ('{"experimental":', "}"))
]
"""Capabilities whose depth ended the check of the handshake, or that the SDK refuses."""


def message(
    protocol: Any = "2025-06-18", client: Any = None, capabilities: Any = None, **others: Any
) -> dict[str, Any]:
    params = {"protocolVersion": protocol, "capabilities": capabilities or {}, "clientInfo": client or CLIENT}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params, **others}


def early(sent: Any, settings: Settings = SETTINGS) -> dict[str, Any] | None:
    return handshake.answer_of(json.dumps(sent).encode() + b"\nrest", settings)


async def answer_of_the_sdk(sent: dict[str, Any], settings: Settings) -> dict[str, Any]:
    tools = registry.available_tools(settings)
    calls = CallDispatcher(tools, cast(Any, None), deadline_s=1)
    server = mcp_server.build(
        tools,
        calls,
        version=version(),
        on_handshake=lambda: None,
        resources=settings.resources,
        strict_clients=settings.strict_clients,
    )
    to_server, read = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    write, from_server = anyio.create_memory_object_stream[SessionMessage](1)
    async with anyio.create_task_group() as group:
        group.start_soon(server.run, read, write, server.create_initialization_options())
        await to_server.send(SessionMessage(JSONRPCRequest.model_validate(sent)))
        answer = (await from_server.receive()).message
        group.cancel_scope.cancel()
    for stream in (to_server, read, write, from_server):
        await stream.aclose()
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)


@pytest.mark.parametrize(
    ("sent", "settings"),
    [
        *((message(protocol), SETTINGS) for protocol in (*HANDSHAKE_PROTOCOL_VERSIONS, "2026-07-28", "1999-01-01", "")),
        (message(id="text ä"), SETTINGS),
        (message(client={**CLIENT, "title": "A Client", "websiteUrl": "https://a.example"}), SETTINGS),
        (message(client={"name": "Java SDK MCP Client 0.9", "version": "0"}), SETTINGS),
        (message(capabilities={"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}}), SETTINGS),
        (message(capabilities={"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}}), SETTINGS),
        (message(), Settings(resources=False)),
    ],
)
async def test_the_early_answer_is_that_of_the_sdk(sent: dict[str, Any], settings: Settings) -> None:
    assert early(sent, settings) == await answer_of_the_sdk(sent, settings)


@pytest.mark.parametrize(
    "sent",
    [
        [message()],
        "initialize",
        None,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}},
        message(id=None),
        message(id=1.5),
        message(id=True),
        message(id="\ud800"),
        message(method="ping"),
        message(jsonrpc="1.0"),
        message(more=1),
        message(protocol=7),
        message(client=["a"]),
        message(client={"name": "only a name"}),
        message(client={**CLIENT, "icons": [{"src": 1}]}),
        message(capabilities=["roots"]),
        message(capabilities={"roots": 5}),
        message(capabilities={"roots": {"listChanged": "yes"}}),
        message(capabilities={"experimental": {"a": 1}}),
        *(message(capabilities=nested) for nested in DEEP),
        {**message(), "params": {**message()["params"], "_meta": {"progressToken": []}}},
    ],
)
def test_what_needs_more_checks_is_left_to_the_sdk(sent: Any) -> None:
    assert early(sent) is None


@pytest.mark.parametrize("data", [b"", b"\n", b"[" * 60_000 + b"\n", json.dumps(message()).encode()])
def test_no_line_gets_no_early_answer(data: bytes) -> None:
    assert handshake.answer_of(data, SETTINGS) is None


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["fetch", "https://a.example"], {}),
        (["stdio", "--toolset", "openai"], {}),
        (["stdio"], {"SEARCH_MCP_TOOLS": "unknown"}),
        (["stdio"], {"SEARCH_MCP_CACHE_MB": "many"}),
        (["stdio"], {"SEARCH_MCP_TRACES": "1"}),
    ],
)
def test_other_commands_and_doubtful_settings_read_nothing(
    arguments: list[str], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("standard input was read"))
    assert handshake.answer_first_message(arguments) == handshake.FirstMessage()


def test_a_real_server_answers_once_and_goes_on() -> None:
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = "\n".join(map(json.dumps, (message(), ready, listing, message(id=3)))) + "\n"
    command = [sys.executable, "-c", "from scraper.cli.entry import main; main()", "stdio"]
    ended = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=120, check=True)
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["id"] for one in answers] == [1, 2, 3]
    assert answers[0] == early(message()) and answers[2]["result"] == answers[0]["result"]
    assert {tool["name"] for tool in answers[1]["result"]["tools"]} >= {"fetch", "search"}


def test_the_handshake_imports_none_of_the_heavy_modules() -> None:
    code = "import sys, scraper.cli.entry, scraper.server.protocol.handshake; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"mcp", "pydantic", "click", "asyncio", "lxml", "playwright", "starlette"} & set(loaded)
