"""`tools/search`, `prompts/search`, `resources/search`: an extension of the protocol, below the tool layer.

The SDK knows neither the methods nor the capability, which it would drop: handlers and a middleware add them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    RequestParams,
)

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.rate_limit import RateLimiter
from scraper.server.protocol import schemas
from scraper.server.protocol.caller_identity import caller_of
from scraper.tools import cached_resources
from scraper.tools.find_tools import (
    MAX_DEPTH,
    MAX_QUERY_CHARS,
    PAGE_ITEMS,
    searchable_prompt,
    searchable_tool,
)
from scraper.tools.model import Tool
from scraper.tools.prompts import Prompt
from scraper.tools.tool_ranking import rank

Context = ServerRequestContext[Any, Any]

AREAS = ("tools", "prompts", "resources")
_HANDSHAKES = frozenset({"initialize", "server/discover"})
_MARK_BYTES = 9
_FRESH: dict[str, Any] = {"ttl_ms": 0, "cache_scope": "private"}
"""The contract asks clients not to keep results of searches."""


class SearchParams(RequestParams):
    """What a search may hold; read by hand, so that the error says what is wrong."""

    query: Any = None
    cursor: Any = None


def add(
    server: Server[Any],
    calls: CallDispatcher,
    rate: RateLimiter,
    *,
    tools: Sequence[Tool],
    prompts: Sequence[Prompt],
) -> None:
    """Serve the three methods and declare them."""
    tool_offers = [searchable_tool(tool) for tool in tools]
    prompt_offers = [searchable_prompt(prompt) for prompt in prompts]

    async def search_tools(context: Context, params: SearchParams) -> ListToolsResult:
        query, start = await _asked(context, params, rate)
        places, cursor = _page(rank(query, tool_offers), query, start)
        found = [schemas.tool(tools[at]) for at in places]
        return ListToolsResult(tools=found, next_cursor=cursor, **_FRESH)

    async def search_prompts(context: Context, params: SearchParams) -> ListPromptsResult:
        query, start = await _asked(context, params, rate)
        places, cursor = _page(rank(query, prompt_offers), query, start)
        found = [schemas.prompt(prompts[at]) for at in places]
        return ListPromptsResult(prompts=found, next_cursor=cursor, **_FRESH)

    async def search_resources(context: Context, params: SearchParams) -> ListResourcesResult:
        query, start = await _asked(context, params, rate)
        caller = caller_of(context)
        items, more = await calls.look(
            context.method,
            caller,
            lambda app: cached_resources.search(app, caller.principal, query, start, PAGE_ITEMS),
        )
        end = start + PAGE_ITEMS
        cursor = _cursor(query, end) if more and end < MAX_DEPTH else None
        found = [schemas.resource(item) for item in items]
        return ListResourcesResult(resources=found, next_cursor=cursor, **_FRESH)

    server.add_request_handler("tools/search", SearchParams, search_tools)
    server.add_request_handler("prompts/search", SearchParams, search_prompts)
    server.add_request_handler("resources/search", SearchParams, search_resources)
    server.middleware.append(declared)


async def declared(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Middleware: `search: true` with each area that a handshake tells of."""
    result = await call_next(ctx)
    if ctx.method in _HANDSHAKES and isinstance(result, dict):
        capabilities = dict(result["capabilities"])
        for area in AREAS:
            if area in capabilities:
                capabilities[area] = {**capabilities[area], "search": True}
        return {**result, "capabilities": capabilities}
    return result


async def _asked(context: Context, params: SearchParams, rate: RateLimiter) -> tuple[str, int]:
    """What is searched for, and from which place on.

    Raises:
        MCPError: it makes no sense, or there were too many.
    """
    query = params.query
    if not isinstance(query, str) or not query.strip() or len(query) > MAX_QUERY_CHARS:
        raise MCPError(
            INVALID_PARAMS, f"query must be given: a string of 1 to {MAX_QUERY_CHARS:,} characters."
        )
    start = 0 if params.cursor is None else _start(params.cursor, query)
    await rate.take(caller_of(context).principal)
    return query, start


def _page(places: list[int], query: str, start: int) -> tuple[list[int], str | None]:
    end = start + PAGE_ITEMS
    return places[start:end], _cursor(query, end) if len(places) > end else None


def _cursor(query: str, place: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([_mark(query), place]).encode()).decode()


def _start(cursor: object, query: str) -> int:
    """The place that a cursor names; one of another query is none."""
    try:
        mark, place = json.loads(base64.urlsafe_b64decode(str(cursor).encode()))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise _bad_cursor() from None
    if mark != _mark(query) or type(place) is not int or not 0 < place < MAX_DEPTH or place % PAGE_ITEMS:
        raise _bad_cursor()
    return place


def _mark(query: str) -> str:
    digest = hashlib.sha256(query.encode("utf-8", "replace")).digest()
    return base64.urlsafe_b64encode(digest[:_MARK_BYTES]).decode()


def _bad_cursor() -> MCPError:
    return MCPError(INVALID_PARAMS, "Invalid cursor: give the one of the last answer, with its query.")
