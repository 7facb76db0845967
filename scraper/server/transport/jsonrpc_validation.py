"""Validate JSON-RPC messages, and answer invalid lines of a stdio client with an error.

The SDK only logs an invalid line, and its sender would wait for a response.
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

from scraper.server.http.request_body import replace_lone_surrogates

BATCH_PROTOCOL_VERSION = "2025-03-26"
"""The only protocol revision with batches."""
INVALID_MESSAGE = "Invalid request: no message of JSON-RPC 2.0."

Refuse = Callable[[JSONRPCError], Awaitable[None]]


class JsonRpcValidator:
    """Iterate over the valid messages in the lines of a client."""

    def __init__(self, lines: AsyncIterable[str], refuse: Refuse) -> None:
        """Read `lines`, and pass errors for invalid ones to `refuse`."""
        self._lines = lines
        self._refuse = refuse
        self._accepts_batches = False

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield valid messages, one per line."""
        async for line in self._lines:
            line = replace_lone_surrogates(line.encode("utf-8", "replace")).decode()
            for one in _split_batch(line) if self._accepts_batches else (line,):
                fault = self._fault(one) if one.strip() else None
                if fault is not None:
                    await self._refuse(fault)
                elif one.strip():
                    yield one

    def _fault(self, line: str) -> JSONRPCError | None:
        """Return the error for an invalid line, or None."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except (ValidationError, ValueError):
            return _explain(line)
        if isinstance(message, JSONRPCNotification) and is_request(json.loads(line)):
            return _explain(line)
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            self._accepts_batches = (message.params or {}).get("protocolVersion") == BATCH_PROTOCOL_VERSION
        return None


def _split_batch(line: str) -> Iterator[str]:
    """Yield the messages of a batch, each as its own line; yield any other line unchanged."""
    try:
        messages = json.loads(line) if line.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        messages = None
    if messages and isinstance(messages, list):
        yield from map(json.dumps, messages)
    else:
        yield line


def is_request(message: Mapping[str, Any]) -> bool:
    """Return True if a message that the SDK took for a notification is a request.

    Its id is one that no response can carry; this function does not examine it.
    """
    method = message.get("method")
    return isinstance(method, str) and not method.startswith("notifications/") and "id" in message


def id_of(message: Mapping[str, Any]) -> str | int | None:
    """Return the id of a message, or None if no response can carry it."""
    request_id: Any = message.get("id")
    return request_id if _is_usable_id(request_id) else None


def _explain(line: str) -> JSONRPCError:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "Parse error: the line is not JSON.")
    return _error(id_of(message) if isinstance(message, dict) else None, INVALID_REQUEST, INVALID_MESSAGE)


def _is_usable_id(value: object) -> bool:
    """Return True if a response can carry an id; a lone surrogate cannot be encoded."""
    return type(value) is int or (isinstance(value, str) and value.encode(errors="ignore").decode() == value)


def _error(request_id: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
