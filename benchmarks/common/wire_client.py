"""HTTP client that sends messages unchanged, in both protocol versions."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.scraper.server.wire import HEADERS, body_of, call, modern_call, open_session

ERAS = ("2025-11-25", "2026-07-28")


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of one call."""

    text: str
    is_error: bool
    is_refused: bool = False
    """True for a JSON-RPC error instead of a result."""


class WireClient:
    """One MCP client over HTTP."""

    def __init__(self, http: aiohttp.ClientSession, url: str, session: str | None) -> None:
        self._http = http
        self._url = url
        self._session = session
        self._numbers = itertools.count(10)

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallOutcome:
        """Call a tool."""
        if self._session is None:
            headers, message = modern_call(tool, arguments)
        else:
            headers = {**HEADERS, "Mcp-Session-Id": self._session, "MCP-Protocol-Version": "2025-11-25"}
            message = call(tool, arguments)
        message["id"] = next(self._numbers)
        async with self._http.post(self._url, headers=headers, json=message) as answer:
            body = await body_of(answer)
        if body.get("id") != message["id"]:
            raise AssertionError(f"request {message['id']} got the response to {body.get('id')}")
        if "error" in body:
            return CallOutcome(body["error"]["message"], is_error=True, is_refused=True)
        result = body["result"]
        return CallOutcome(result["content"][0]["text"], is_error=bool(result.get("isError")))


@asynccontextmanager
async def wire_client(url: str, era: str, *, limit_s: float = 120.0) -> AsyncIterator[WireClient]:
    """Open a client with its own connections."""
    timeout = aiohttp.ClientTimeout(total=limit_s)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as http:
        session = await open_session(http, url) if era == ERAS[0] else None
        yield WireClient(http, url, session)
