"""Serve requests of sessions that this process does not know, and plain calls without a stream.

Sessions are unknown after a restart, after an idle timeout or at another server. Many clients do not send a new
`initialize` after "404 Session not found" and lose their tools (claude-code #55970, #60949, python-sdk #1676,
mcp-remote #106). No tool needs a session, so such a request is served without one, by any server.
"""

import asyncio
import contextlib
import json
import logging
import uuid
from dataclasses import dataclass

import anyio
from cachetools import LRUCache
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scraper.server.access import principal_of
from scraper.server.http.middleware import disconnect_future, read_body

_WATCH_AFTER_S = 0.25
"""Seconds until the connection of a call is watched, so that a tab is released within a second after a disconnect."""
_PING_INTERVAL_S = 15.0
"""Seconds, as in the SDK. Proxies cut silent connections, some after half a minute."""
_SESSION = "mcp-session-id"
_VERSION_HEADER = b"mcp-protocol-version"
_VERSIONS = frozenset(version.encode() for version in MODERN_PROTOCOL_VERSIONS)
_STREAM = b"text/event-stream"
_STREAM_HEADERS = (
    (b"content-type", _STREAM),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
)


@dataclass(frozen=True, slots=True)
class JsonFastPath:
    """Endpoint that answers tool calls without progress as one JSON response, in the task of the request.

    Clients that accept no event streams get all their answers so, without a session. For others, this halves the cost
    of calls in newer protocol versions: for notifications, the SDK gives each call a stream and two tasks, and cancels
    them at the end. A client that requested no progress only gets keep-alive pings. Pings and the detection of a
    disconnect start only for long calls.
    """

    app: ASGIApp
    """Endpoint of suitable calls, which responds with JSON only."""
    fallback: ASGIApp
    body_limit_bytes: int
    watch_after_s: float = _WATCH_AFTER_S
    ping_interval_s: float = _PING_INTERVAL_S

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        is_post = scope["method"] == "POST"
        # The first of two equal headers counts, as in the SDK, which then rejects both.
        headers = dict(reversed(scope["headers"]))
        accepts_streams = not is_post or _STREAM in headers.get(b"accept", b"")
        # A tool call of a newer protocol version, without session.
        is_suitable = is_post and headers.get(b"mcp-method") == b"tools/call" and _SESSION.encode() not in headers
        if accepts_streams and not (is_suitable and headers.get(_VERSION_HEADER) in _VERSIONS):
            await self.fallback(scope, receive, send)
            return
        body = await read_body(receive, self.body_limit_bytes)
        if accepts_streams and (body.is_cut or b"progressToken" in body.data):
            await self.fallback(scope, body.receive, send)
            return
        lock, has_started, is_stream = asyncio.Lock(), False, False
        watchers: list[asyncio.Task[None]] = []

        async def send_json(message: Message) -> None:
            """Send a part of the JSON response; after a ping, it is the only event of a stream."""
            nonlocal has_started
            async with lock:
                has_started = True
                if is_stream and message["type"] == "http.response.body":
                    event = b"event: message\r\ndata: " + message.get("body", b"") + b"\r\n\r\n"
                    await send({**message, "body": event})
                elif not is_stream:
                    await send(message)

        async def keep_alive() -> None:
            """Watch the connection until it ends, with pings if the client accepts streams."""
            nonlocal is_stream
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self.ping_interval_s if accepts_streams else None):
                        if (await receive())["type"] == "http.disconnect":
                            return
                        continue
                async with lock:
                    if has_started:
                        continue
                    if not is_stream:
                        is_stream = True
                        # A new list, because outer layers append to it.
                        start = {"type": "http.response.start", "status": 200, "headers": list(_STREAM_HEADERS)}
                        await send(start)
                    await send({"type": "http.response.body", "body": b": ping\r\n\r\n", "more_body": True})

        def watch() -> None:
            watchers.append(asyncio.create_task(keep_alive()))

        timer = asyncio.get_running_loop().call_later(self.watch_after_s, watch)
        try:
            await self.app(scope, body.receive, send_json)
        finally:
            timer.cancel()
            for watcher in watchers:
                watcher.cancel()
                await asyncio.wait({watcher})


_MAX_ENDED_SESSIONS = 10_000
"""Ids, of 32 characters, of sessions that clients ended; they must stay 404."""
_ENDED_ERRORS = (anyio.ClosedResourceError, anyio.BrokenResourceError)
"""Exceptions that the SDK raises for a message to an ended session."""

_Call = tuple[str, str, str]
"""Principal, session and request id of a running call."""


def _is_no_ended_session(record: logging.LogRecord) -> bool:
    return not isinstance(record.exc_info and record.exc_info[1], _ENDED_ERRORS)


class SessionRecovery:
    """Serve POST requests of unknown sessions without a session, and all other requests with the stateful manager.

    Other methods of unknown sessions are rejected as not allowed. Clients that the stateful manager would reject
    because it is full are served without a session too.
    """

    def __init__(self, stateful: StreamableHTTPSessionManager, stateless: StreamableHTTPSessionManager) -> None:
        """Use the manager that keeps sessions and the one that does not."""
        self._stateful = stateful
        self._stateless = stateless
        self._ended: LRUCache[str, bool] = LRUCache(_MAX_ENDED_SESSIONS)
        self._running: dict[_Call, asyncio.Future[None]] = {}
        # Without the SDK's log event of a message whose session has ended.
        logging.getLogger("mcp.server.streamable_http").addFilter(_is_no_ended_session)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        headers = Headers(scope=scope)
        session, version = headers.get(_SESSION, ""), headers.get(_VERSION_HEADER.decode())
        # Newer protocol versions have no session.
        opens_session = scope["method"] == "POST" and version in (None, *HANDSHAKE_PROTOCOL_VERSIONS)
        limit = self._stateful.max_sessions
        is_full = limit is not None and len(self._stateful._server_instances) >= limit

        async def send_with_id(message: Message) -> None:
            """Add a session id which is not stored: the client's next request is recovered."""
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[_SESSION] = uuid.uuid4().hex
            await send(message)

        if not session and is_full and opens_session:
            await self._stateless.asgi_app(scope, receive, send_with_id)
        elif not session or session in self._ended or self._is_open(session):
            # A client may end its session before its last notification is processed.
            with contextlib.suppress(*_ENDED_ERRORS):
                await self._stateful.asgi_app(scope, receive, send)
            if scope["method"] == "DELETE" and session and not self._is_open(session):
                self._ended[session] = True
        elif scope["method"] == "POST":
            await self._recover(session, scope, receive, send)
        else:
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)

    async def _recover(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of an unknown session without a session; a later message can still cancel it."""
        body = await read_body(receive, self._stateless.max_request_body_size)
        message = body.message()
        if message.get("method") == "notifications/cancelled":
            params = message.get("params")
            canceled = params.get("requestId") if isinstance(params, dict) else None
            # As if its client had disconnected.
            disconnected = self._running.get(_call(scope, session, canceled))
            if disconnected is not None and not disconnected.done():
                disconnected.set_result(None)
            await Response(status_code=202)(scope, receive, send)
            return
        headers = MutableHeaders(raw=list(scope["headers"]))
        del headers[_SESSION]
        call, disconnected = _call(scope, session, message.get("id")), disconnect_future(scope)
        if disconnected is not None:
            self._running[call] = disconnected
        try:
            await self._stateless.asgi_app({**scope, "headers": headers.raw}, body.receive, send)
        finally:
            if disconnected is not None and self._running.get(call) is disconnected:
                del self._running[call]

    def _is_open(self, session: str) -> bool:
        # The SDK has no public interface for this; a test fails if the attribute disappears.
        return session in self._stateful._server_instances


def _call(scope: Scope, session: str, request: object) -> _Call:
    return principal_of(scope), session, json.dumps(request)
