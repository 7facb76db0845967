"""Who sent a message, and how to reach them while it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext

from scraper.server.calls.dispatcher import ToolCaller
from scraper.server.http.disconnect_middleware import client_gone
from scraper.server.transport.shutdown_middleware import is_admitted


def caller_of(context: ServerRequestContext[Any, Any]) -> ToolCaller:
    """The caller of a request, on whichever transport."""
    scope: Mapping[str, Any] = {} if context.request is None else context.request.scope
    user = scope.get("user")
    wants_progress = context.meta is not None and "progress_token" in context.meta
    return ToolCaller(
        principal="local" if user is None else user.access_token.client_id,
        request_id=str(context.request_id),
        send_progress=context.session.report_progress if wants_progress else None,
        gone=client_gone(scope),
        admitted=is_admitted(scope),
    )
