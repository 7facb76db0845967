"""Identify the caller of a request, and reject cursors of lists that have only one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, PaginatedRequestParams

from scraper.server.access.header_rules import principal_of
from scraper.server.calls.dispatcher import ADMITTED_KEY, ToolCaller
from scraper.server.http.middleware import disconnect_future


def caller_of(context: ServerRequestContext[Any, Any]) -> ToolCaller:
    """Return the caller of a request on any transport."""
    scope: Mapping[str, Any] = {} if context.request is None else context.request.scope
    wants_progress = context.meta is not None and "progress_token" in context.meta
    return ToolCaller(
        principal=principal_of(scope) or "local",
        request_id=str(context.request_id),
        send_progress=context.session.report_progress if wants_progress else None,
        disconnected=disconnect_future(scope),
        admitted=bool(scope.get(ADMITTED_KEY)),
    )


def refuse_cursor(params: PaginatedRequestParams | None) -> None:
    """Reject a cursor, because a client that follows it would get the same list again forever."""
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "Invalid cursor: the list has one page.")
