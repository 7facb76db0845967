"""Tells a client at the other end of a pipe which of its lines is no message; the SDK would only log it.

Who sends a damaged request waits for its answer; over HTTP the transport says so, here nobody would.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Any

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

__all__ = ["Messages"]

Refuse = Callable[[JSONRPCError], Awaitable[None]]


class Messages:
    """The lines that are messages of the protocol."""

    def __init__(self, lines: AsyncIterable[str], refuse: Refuse) -> None:
        self._lines = lines
        self._refuse = refuse

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            fault = _fault(line) if line.strip() else None
            if fault is not None:
                await self._refuse(fault)
            elif line.strip():
                yield line


def _fault(line: str) -> JSONRPCError | None:
    """What is wrong with a line; None when it is a message."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValidationError, ValueError):
        return _refusal(line)
    if isinstance(message, JSONRPCNotification) and _has_odd_id(line, message.method):
        return _refusal(line)
    return None


def _has_odd_id(line: str, method: str) -> bool:
    """Whether this is a request with an id that no answer can carry: it would pass for a notification."""
    return not method.startswith("notifications/") and "id" in json.loads(line)


def _refusal(line: str) -> JSONRPCError:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "Parse error: the line is no JSON.")
    name = message.get("id") if isinstance(message, dict) else None
    return _error(
        name if _is_id(name) else None, INVALID_REQUEST, "Invalid request: no message of JSON-RPC 2.0."
    )


def _is_id(name: object) -> bool:
    """Whether an answer can carry it: half of a surrogate pair cannot be written."""
    return type(name) is int or (isinstance(name, str) and name.encode(errors="ignore").decode() == name)


def _error(name: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=name, error=ErrorData(code=code, message=message))
