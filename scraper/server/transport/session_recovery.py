"""Serves clients whose session this process does not know: after a restart, an idle timeout, or at another
of several servers.

Many clients answer "404 Session not found" with an error instead of a new `initialize` and lose their tools
(claude-code #55970, #60949, python-sdk #1676, mcp-remote #106). None of our tools needs the session, so such
a request is served without one, and any server can go on where another ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from scraper.server.http.disconnect_middleware import client_gone
from scraper.server.http.request_body import read_body

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_REMEMBERED_ENDS = 10_000
"""Ids of 32 characters that clients ended themselves; they must stay 404."""
_CANCELLED = "notifications/cancelled"

_Call = tuple[str, str, str]
"""Principal, session and request of a call under way."""


class SessionRecovery:
    """ASGI endpoint: known sessions to the stateful manager, lost ones to the stateless one."""

    def __init__(
        self, stateful: StreamableHTTPSessionManager, stateless: StreamableHTTPSessionManager
    ) -> None:
        self._stateful = stateful
        self._stateless = stateless
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._under_way: dict[_Call, asyncio.Future[None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        session = headers.get(_SESSION, "")
        if not session and self._is_full() and _is_handshake_era(scope["method"], headers):
            await self._stateless.asgi_app(scope, receive, _naming_a_session(send))
        elif not session or self._is_known(session):
            await self._stateful.asgi_app(scope, receive, send)
            if scope["method"] == "DELETE" and session and not self._is_open(session):
                self._remember_end(session)
        elif scope["method"] == "POST":
            await self._revive(session, scope, receive, send)
        else:
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)

    async def _revive(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of a lost session by itself, so that a later message can still cancel it."""
        body = await read_body(receive, self._stateless.max_request_body_size)
        message = body.message()
        if message.get("method") == _CANCELLED:
            self._cancel(_call(scope, session, _named(message.get("params"))))
            await Response(status_code=202)(scope, receive, send)
            return
        headers = MutableHeaders(raw=list(scope["headers"]))
        del headers[_SESSION]
        with self._cancellable(_call(scope, session, message.get("id")), client_gone(scope)):
            await self._stateless.asgi_app({**scope, "headers": headers.raw}, body.receive, send)

    @contextlib.contextmanager
    def _cancellable(self, call: _Call, gone: asyncio.Future[None] | None) -> Iterator[None]:
        if gone is None:
            yield
            return
        self._under_way[call] = gone
        try:
            yield
        finally:
            if self._under_way.get(call) is gone:
                del self._under_way[call]

    def _cancel(self, call: _Call) -> None:
        """End a call as if its client had gone: it waits for no answer."""
        gone = self._under_way.get(call)
        if gone is not None and not gone.done():
            gone.set_result(None)

    def _is_known(self, session: str) -> bool:
        return session in self._ended or self._is_open(session)

    def _is_open(self, session: str) -> bool:
        # The SDK tells no other way which sessions are alive; a test fails when this name goes.
        return session in self._stateful._server_instances

    def _is_full(self) -> bool:
        """Whether the SDK would turn a new client away."""
        limit = self._stateful.max_sessions
        return limit is not None and len(self._stateful._server_instances) >= limit

    def _remember_end(self, session: str) -> None:
        self._ended[session] = None
        while len(self._ended) > _REMEMBERED_ENDS:
            self._ended.popitem(last=False)


def _is_handshake_era(method: str, headers: Headers) -> bool:
    """Whether a request without a session would open one; newer ones have none."""
    return method == "POST" and headers.get(_VERSION) in (None, *HANDSHAKE_PROTOCOL_VERSIONS)


def _naming_a_session(send: Send) -> Send:
    """Give the client a session id that nobody keeps: its next request is revived, here or elsewhere."""

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)[_SESSION] = uuid.uuid4().hex
        await send(message)

    return named


def _call(scope: Scope, session: str, request: object) -> _Call:
    user = scope.get("user")
    return ("" if user is None else user.access_token.client_id, session, json.dumps(request))


def _named(params: Any) -> object:
    return params.get("requestId") if isinstance(params, dict) else None
