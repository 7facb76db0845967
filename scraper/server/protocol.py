"""The tools as the Model Context Protocol sees them; both protocol eras are the SDK's business."""

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
    ToolAnnotations,
)
from mcp.types import Tool as WireTool
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from scraper.server.calls import Caller, Calls
from scraper.server.instructions import INSTRUCTIONS
from scraper.server.streams import client_gone
from scraper.tools.model import Answer, Tool

__all__ = ["INSTRUCTIONS", "build"]

Context = ServerRequestContext[Any, Any]

_LISTS_LAST = CacheHint(ttl_ms=3_600_000, scope="public")
"""The tools of a running server never change, and are the same for everyone."""
_HANDSHAKE = frozenset({"initialize", "server/discover", "ping"})


def build(
    tools: Sequence[Tool], calls: Calls, *, version: str, on_settled: Callable[[], object]
) -> Server[Any]:
    """A server of these tools; `on_settled` is called when a client has had its handshake answered."""
    listing = ListToolsResult(tools=[_described(tool) for tool in tools])

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return listing

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        answer = await calls.answer(params.name, params.arguments or {}, _caller(context))
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
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": _LISTS_LAST},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(notice)
    return server


def _described(tool: Tool) -> WireTool:
    return WireTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def _caller(context: Context) -> Caller:
    scope: Mapping[str, Any] = {} if context.request is None else context.request.scope
    user = scope.get("user")
    wants_progress = context.meta is not None and "progress_token" in context.meta
    return Caller(
        principal="local" if user is None else user.access_token.client_id,
        request_id=str(context.request_id),
        send_progress=context.session.report_progress if wants_progress else None,
        gone=client_gone(scope),
    )


def _result(answer: Answer, protocol_version: str) -> CallToolResult:
    structured: Any = answer.structured
    if isinstance(structured, list) and protocol_version not in MODERN_PROTOCOL_VERSIONS:
        structured = {"result": structured}  # only an object is allowed before 2026-07-28
    return CallToolResult(
        content=[TextContent(text=answer.text)], structured_content=structured, is_error=answer.is_error
    )
