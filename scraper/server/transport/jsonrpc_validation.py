"""Tells a client at the other end of a pipe which of its lines is no message; the SDK would only log it.

Who sends a damaged request waits for its answer; over HTTP the transport says so, here nobody would.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

BATCHES_SINCE = "2025-03-26"
"""The one revision in which messages may come in lists; the next took them out again."""
NO_MESSAGE = "Invalid request: no message of JSON-RPC 2.0."

Refuse = Callable[[JSONRPCError], Awaitable[None]]


class JsonRpcValidator:
    """The lines that are messages of the protocol."""

    def __init__(self, lines: AsyncIterable[str], refuse: Refuse) -> None:
        self._lines = lines
        self._refuse = refuse
        self._takes_lists = False

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            for one in _listed(line) if self._takes_lists else (line,):
                fault = self._fault(one) if one.strip() else None
                if fault is not None:
                    await self._refuse(fault)
                elif one.strip():
                    yield one

    def _fault(self, line: str) -> JSONRPCError | None:
        """What is wrong with a line; None when it is a message."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except (ValidationError, ValueError):
            return _refusal(line)
        if isinstance(message, JSONRPCNotification) and has_odd_id(json.loads(line)):
            return _refusal(line)
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            self._takes_lists = (message.params or {}).get("protocolVersion") == BATCHES_SINCE
        return None


def _listed(line: str) -> Iterator[str]:
    """The messages of a line, each as a line of its own; a line that is no list of some is one."""
    try:
        messages = json.loads(line) if line.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        messages = None
    if messages and isinstance(messages, list):
        yield from map(json.dumps, messages)
    else:
        yield line


def has_odd_id(message: Mapping[str, Any]) -> bool:
    """Whether this is a request with an id that no answer can carry: it would pass for a notification."""
    method = message.get("method")
    return isinstance(method, str) and not method.startswith("notifications/") and "id" in message


def id_of(message: Mapping[str, Any]) -> str | int | None:
    """The id of a message; None where an answer cannot carry it."""
    name: Any = message.get("id")
    return name if _is_id(name) else None


def _refusal(line: str) -> JSONRPCError:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "Parse error: the line is no JSON.")
    return _error(id_of(message) if isinstance(message, dict) else None, INVALID_REQUEST, NO_MESSAGE)


def _is_id(name: object) -> bool:
    """Whether an answer can carry it: half of a surrogate pair cannot be written."""
    return type(name) is int or (isinstance(name, str) and name.encode(errors="ignore").decode() == name)


def _error(name: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=name, error=ErrorData(code=code, message=message))
