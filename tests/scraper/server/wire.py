"""Raw messages of the protocol, for what the SDK's own client would hide or never send."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
from mcp.types import CallToolResult, TextContent

from tests.growth import full_size

ERAS = ("legacy", "auto")
"""Modes of the SDK's client: protocol version 2025-11-25, and the newest that the server supports."""
SLOW_TEST_ERAS = ("auto", full_size("legacy", id="legacy"))
"""Modes for tests that take seconds: `make test` runs them with the newest version only."""

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def initialize(number: int = 1) -> dict[str, Any]:
    """Return the handshake of 2025-11-25."""
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


def call(name: str, arguments: dict[str, Any] | None = None, *, number: int = 2) -> dict[str, Any]:
    """Return a tool call."""
    params = {"name": name, "arguments": arguments or {}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def modern_call(name: str, arguments: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and message of a tool call of 2026-07-28, which needs no handshake."""
    headers, message = modern("tools/call", {"name": name, "arguments": arguments})
    return {**headers, "Mcp-Name": name}, message


def modern(method: str, params: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and message of any request of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": {**params, "_meta": meta}}
    return {**HEADERS, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}, message


def text_of(answer: CallToolResult) -> str:
    """Return the text of an answer that has nothing else."""
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


async def open_session(http: aiohttp.ClientSession, url: str, headers: dict[str, str] | None = None) -> str:
    """Return the id of a new session."""
    async with http.post(url, headers={**HEADERS, **(headers or {})}, json=initialize()) as answer:
        assert answer.status == 200, await answer.text()
        session = answer.headers["Mcp-Session-Id"]
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    session_headers = {**HEADERS, **(headers or {}), "Mcp-Session-Id": session}
    async with http.post(url, headers=session_headers, json=note) as answer:
        assert answer.status == 202
    return session


async def body_of(answer: aiohttp.ClientResponse) -> dict[str, Any]:
    """Return the last message of a response, plain or as an event stream."""
    text = await answer.text()
    lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
    message: dict[str, Any] = json.loads(lines[-1] if lines else text)
    return message


async def tool_result(answer: aiohttp.ClientResponse) -> str:
    """Return the text of a tool's answer."""
    text: str = (await body_of(answer))["result"]["content"][0]["text"]
    return text
