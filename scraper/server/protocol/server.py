"""What is offered as the Model Context Protocol sees it; both protocol eras are the SDK's business."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from opentelemetry import trace

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.rate_limit import RateLimiter
from scraper.server.protocol import prompts as prompting
from scraper.server.protocol import resources, schemas, search_methods
from scraper.server.protocol.caller_identity import caller_of
from scraper.server.protocol.cursors import refuse_cursor
from scraper.server.protocol.instructions import INSTRUCTIONS, PAIR_INSTRUCTIONS
from scraper.tools.model import Tool, ToolAnswer
from scraper.tools.prompts import prompts_for

Context = ServerRequestContext[Any, Any]

_LISTS_LAST = CacheHint(ttl_ms=3_600_000, scope="public")
"""The tools of a running server never change, and are the same for everyone."""
_CACHE_HINTS: Mapping[Any, CacheHint] = {
    "tools/list": _LISTS_LAST,
    "prompts/list": _LISTS_LAST,
    "resources/templates/list": _LISTS_LAST,
}
_HEADER = "x-mcp-header"
"""Marks a parameter that a client repeats as a header of its request, for proxies to go by."""
_HANDSHAKE = frozenset({"initialize", "server/discover", "ping"})


def build(
    tools: Sequence[Tool],
    calls: CallDispatcher,
    *,
    version: str,
    on_settled: Callable[[], object],
    rate: RateLimiter | None = None,
) -> Server[Any]:
    """A server of these tools, of the prompts that go with them, and of what is kept.

    `on_settled` is called when a client has had its handshake answered; `rate` bounds searches of the offer.
    """
    prompts = prompts_for(tools)
    server = _server(tools, calls, version, INSTRUCTIONS, on_settled)
    prompting.add(server, prompts)
    resources.add(server, calls)
    search_methods.add(
        server, calls, rate or RateLimiter(calls.limits, name="searches"), tools=tools, prompts=prompts
    )
    return server


def build_pair(
    tools: Sequence[Tool], calls: CallDispatcher, *, version: str, on_settled: Callable[[], object]
) -> Server[Any]:
    """A server of these tools and of nothing else."""
    return _server(tools, calls, version, PAIR_INSTRUCTIONS, on_settled)


def _server(
    tools: Sequence[Tool],
    calls: CallDispatcher,
    version: str,
    instructions: str,
    on_settled: Callable[[], object],
) -> Server[Any]:
    listing = ListToolsResult(tools=[schemas.tool(tool) for tool in tools])
    known = {tool.name: tool for tool in tools}

    async def list_tools(_context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        refuse_cursor(params)
        return listing

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        answer = await calls.answer(params.name, params.arguments or {}, caller_of(context), known)
        return _result(answer, context.protocol_version)

    async def notice(ctx: Context, call_next: CallNext) -> HandlerResult:
        # Whatever follows the handshake proves that its answer has arrived.
        if ctx.method not in _HANDSHAKE:
            on_settled()
        return await call_next(ctx)

    server: Server[Any] = Server(
        "search-mcp",
        title="Search MCP",
        version=version,
        instructions=instructions,
        cache_hints=_CACHE_HINTS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=_naming_headers(tools).get,
    )
    if not _is_traced():
        server.middleware.clear()  # the SDK's spans, at a tenth of what the protocol costs a call
    server.middleware.append(notice)
    return server


def _naming_headers(tools: Sequence[Tool]) -> dict[str, Mapping[str, Any]]:
    """The schemas that the SDK holds a call's headers against.

    Without `get_tool_input_schema` it lists all tools for each call, and through a schema that names no
    header it walks to no end.
    """
    return {tool.name: tool.input_schema for tool in tools if _HEADER in str(tool.input_schema)}


def _is_traced() -> bool:
    """Whether anybody takes spans: `server.start` sees to that before servers are built."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def _result(answer: ToolAnswer, protocol_version: str) -> CallToolResult:
    structured: Any = answer.structured
    if isinstance(structured, list) and protocol_version not in MODERN_PROTOCOL_VERSIONS:
        structured = {"result": structured}  # only an object is allowed before 2026-07-28
    return CallToolResult(
        content=[TextContent(text=answer.text)], structured_content=structured, is_error=answer.is_error
    )
