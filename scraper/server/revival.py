"""Serves clients whose session this process does not know, as after a restart or an idle timeout.

Many clients answer "404 Session not found" with an error instead of a new `initialize` and lose their tools
(claude-code #55970, #60949, python-sdk #1676, mcp-remote #106). None of our tools needs the session, so such
a request is served without one.
"""

from __future__ import annotations

from collections import OrderedDict

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

__all__ = ["Revival"]

_SESSION = "mcp-session-id"
_REMEMBERED_ENDS = 10_000
"""Ids of 32 characters that clients ended themselves; they must stay 404."""


class Revival:
    """ASGI endpoint: known sessions to the stateful manager, lost ones to the stateless one."""

    def __init__(
        self, stateful: StreamableHTTPSessionManager, stateless: StreamableHTTPSessionManager
    ) -> None:
        self._stateful = stateful
        self._stateless = stateless
        self._ended: OrderedDict[str, None] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get(_SESSION, "")
        if not session or self._is_known(session):
            await self._stateful.asgi_app(scope, receive, send)
            if scope["method"] == "DELETE" and session and not self._is_open(session):
                self._remember_end(session)
        elif scope["method"] == "POST":
            headers = MutableHeaders(raw=list(scope["headers"]))
            del headers[_SESSION]
            await self._stateless.asgi_app({**scope, "headers": headers.raw}, receive, send)
        else:
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)

    def _is_known(self, session: str) -> bool:
        return session in self._ended or self._is_open(session)

    def _is_open(self, session: str) -> bool:
        # The SDK tells no other way which sessions are alive; a test fails when this name goes.
        return session in self._stateful._server_instances

    def _remember_end(self, session: str) -> None:
        self._ended[session] = None
        while len(self._ended) > _REMEMBERED_ENDS:
            self._ended.popitem(last=False)
