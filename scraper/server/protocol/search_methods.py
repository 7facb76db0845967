"""Serve `tools/search`, `prompts/search` and `resources/search`, an extension of the protocol.

The SDK knows neither the methods nor the capability; handlers and a middleware add them.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, ListPromptsResult, ListResourcesResult, ListToolsResult, RequestParams

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.limits import RateLimiter
from scraper.server.protocol import sdk_conversion
from scraper.server.protocol.request_caller import caller_of
from scraper.tools import cached_resources
from scraper.tools.model import Tool
from scraper.tools.prompts import Prompt
from scraper.tools.tool_search import (
    ITEMS_PER_PAGE,
    MAX_DEPTH,
    MAX_QUERY_CHARS,
    rank_items,
    searchable_prompt,
    searchable_tool,
)

Context = ServerRequestContext[Any, Any]

_AREAS = ("tools", "prompts", "resources")
_HANDSHAKES = frozenset({"initialize", "server/discover"})
_DIGEST_BYTES = 9
_NO_CACHE: dict[str, Any] = {"ttl_ms": 0, "cache_scope": "private"}
"""The contract requires that clients do not cache search results."""


class _SearchParams(RequestParams):
    """Parameters of a search, checked by `_parse` for better error messages."""

    query: Any = None
    cursor: Any = None


def add(
    server: Server[Any],
    calls: CallDispatcher,
    rate: RateLimiter,
    *,
    tools: Sequence[Tool],
    prompts: Sequence[Prompt],
    output_schemas: bool = False,
) -> None:
    """Add the three methods and their capability."""
    tool_items = [searchable_tool(tool) for tool in tools]
    prompt_items = [searchable_prompt(prompt) for prompt in prompts]

    async def search_tools(context: Context, params: _SearchParams) -> ListToolsResult:
        query, start = await _parse(context, params, rate)
        indexes, cursor = _page(rank_items(query, tool_items), query, start)
        version = context.protocol_version if output_schemas else None
        found = [sdk_conversion.to_sdk_tool(tools[at], version) for at in indexes]
        return ListToolsResult(tools=found, next_cursor=cursor, **_NO_CACHE)

    async def search_prompts(context: Context, params: _SearchParams) -> ListPromptsResult:
        query, start = await _parse(context, params, rate)
        indexes, cursor = _page(rank_items(query, prompt_items), query, start)
        found = [sdk_conversion.to_sdk_prompt(prompts[at]) for at in indexes]
        return ListPromptsResult(prompts=found, next_cursor=cursor, **_NO_CACHE)

    async def search_resources(context: Context, params: _SearchParams) -> ListResourcesResult:
        query, start = await _parse(context, params, rate)
        caller = caller_of(context)
        items, more = await calls.query(
            context.method,
            caller,
            lambda app: cached_resources.search(app, caller.principal, query, start, ITEMS_PER_PAGE),
        )
        end = start + ITEMS_PER_PAGE
        cursor = _cursor(query, end) if more and end < MAX_DEPTH else None
        found = [sdk_conversion.to_sdk_resource(item) for item in items]
        return ListResourcesResult(resources=found, next_cursor=cursor, **_NO_CACHE)

    server.add_request_handler("tools/search", _SearchParams, search_tools)
    server.add_request_handler("prompts/search", _SearchParams, search_prompts)
    server.add_request_handler("resources/search", _SearchParams, search_resources)
    server.middleware.append(_declare_search)


async def _declare_search(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Add `search: true` to the capabilities in the response to a handshake."""
    result = await call_next(ctx)
    if ctx.method in _HANDSHAKES and isinstance(result, dict):
        capabilities = dict(result["capabilities"])
        for area in _AREAS:
            if area in capabilities:
                capabilities[area] = {**capabilities[area], "search": True}
        return {**result, "capabilities": capabilities}
    return result


async def _parse(context: Context, params: _SearchParams, rate: RateLimiter) -> tuple[str, int]:
    """Return the query and the index of the first result.

    Raises:
        MCPError: A parameter is invalid, or the caller searches too often.
    """
    query = params.query
    if not isinstance(query, str) or not query.strip() or len(query) > MAX_QUERY_CHARS:
        raise MCPError(INVALID_PARAMS, f"query must be given: a string of 1 to {MAX_QUERY_CHARS:,} characters.")
    start = 0 if params.cursor is None else _parse_cursor(params.cursor, query)
    await rate.take(caller_of(context).principal)
    return query, start


def _page(indexes: list[int], query: str, start: int) -> tuple[list[int], str | None]:
    end = start + ITEMS_PER_PAGE
    return indexes[start:end], _cursor(query, end) if len(indexes) > end else None


def _cursor(query: str, start: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([_digest(query), start]).encode()).decode()


def _parse_cursor(cursor: object, query: str) -> int:
    """Return the start of a cursor, or raise MCPError if it is invalid or belongs to another query."""
    with contextlib.suppress(ValueError, TypeError, binascii.Error, RecursionError):
        digest, start = json.loads(base64.urlsafe_b64decode(str(cursor).encode()))
        if digest == _digest(query) and type(start) is int and 0 < start < MAX_DEPTH and not start % ITEMS_PER_PAGE:
            return start
    raise MCPError(INVALID_PARAMS, "Invalid cursor: give the one of the last answer, with its query.")


def _digest(query: str) -> str:
    full = hashlib.sha256(query.encode("utf-8", "replace")).digest()
    return base64.urlsafe_b64encode(full[:_DIGEST_BYTES]).decode()
