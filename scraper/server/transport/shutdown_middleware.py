"""Leaves new work to another server while this one ends: 503 is what a proxy sends elsewhere.

Inside the protocol a refusal is an answer like any other, with status 200, and would reach the client. A
status says before any work has begun that none will be done here, so the same request can be sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.types import ErrorData, JSONRPCError
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from scraper.server.calls.dispatcher import CallDispatcher, ShuttingDownError
from scraper.server.http.request_body import read_body

_NEW_WORK = frozenset({"initialize", "tools/call"})
"""What another server does as well. The rest is answered to the last: a client lists the tools before it
hands over the answer of its first call, and a cancellation belongs to the call that runs here."""
_RETRY_AFTER_S = 5
_ADMITTED = "search_mcp.admitted"


def is_admitted(scope: Mapping[str, Any]) -> bool:
    """Whether a request came before the process was told to stop."""
    return bool(scope.get(_ADMITTED))


class ShutdownMiddleware:
    """ASGI endpoint in front of another, closed to new work while `calls` drain."""

    def __init__(self, app: ASGIApp, calls: CallDispatcher, body_limit_bytes: int) -> None:
        self._app = app
        self._calls = calls
        self._body_limit_bytes = body_limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        if not self._calls.draining:
            with self._calls.admitted():
                await self._app({**scope, _ADMITTED: True}, receive, send)
            return
        body = await read_body(receive, self._body_limit_bytes)
        message = body.message()
        if message.get("method") in _NEW_WORK:
            await _refusal(message.get("id"))(scope, receive, send)
        else:
            await self._app(scope, body.receive, send)


def _refusal(request_id: Any) -> Response:
    known = request_id if isinstance(request_id, str | int) else None
    why = ShuttingDownError().error
    error = JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=why.code, message=why.message))
    body = error.model_dump_json(by_alias=True, exclude_unset=True)
    headers = {"Retry-After": str(_RETRY_AFTER_S)}
    return Response(body, 503, headers=headers, media_type="application/json")
