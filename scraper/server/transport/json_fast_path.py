"""Answer tool calls without progress as one JSON response, in the task of the request.

This halves the cost of calls in newer protocol versions: for notifications, the SDK gives each call a stream and two
tasks, and cancels them at the end. A client that requested no progress only gets keep-alive pings. Pings and the
detection of a disconnect start only for long calls.
"""

from __future__ import annotations

import asyncio

from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scraper.server.http.middleware import read_body

_WATCH_AFTER_S = 0.25
"""Seconds until the connection of a call is watched, so that a tab is released within a second after a disconnect."""
_PING_INTERVAL_S = 15.0
"""Seconds, as in the SDK. Proxies cut silent connections, some after half a minute."""
_SESSION = b"mcp-session-id"
_VERSION = b"mcp-protocol-version"
_VERSIONS = frozenset(version.encode() for version in MODERN_PROTOCOL_VERSIONS)
_METHOD = b"mcp-method"
_CALL = b"tools/call"
_STREAM = b"text/event-stream"
_PROGRESS = b"progressToken"
_STREAM_HEADERS = (
    (b"content-type", _STREAM),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
)
_PING = b": ping\r\n\r\n"


class JsonFastPath:
    """Endpoint that chooses between a JSON-only endpoint and the general one."""

    def __init__(
        self,
        app: ASGIApp,
        fallback: ASGIApp,
        body_limit_bytes: int,
        *,
        watch_after_s: float = _WATCH_AFTER_S,
        ping_interval_s: float = _PING_INTERVAL_S,
    ) -> None:
        """Send suitable calls to `app`, which responds with JSON only, and all others to `fallback`."""
        self._app = app
        self._fallback = fallback
        self._body_limit_bytes = body_limit_bytes
        self._watch_after_s = watch_after_s
        self._ping_interval_s = ping_interval_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if not _is_suitable_call(scope):
            await self._fallback(scope, receive, send)
            return
        body = await read_body(receive, self._body_limit_bytes)
        if body.is_cut or body.mentions(_PROGRESS):
            await self._fallback(scope, body.receive, send)
            return
        response = _Response(send)
        watchers: list[asyncio.Task[None]] = []

        def watch() -> None:
            watchers.append(asyncio.create_task(response.keep_alive(receive, self._ping_interval_s)))

        timer = asyncio.get_running_loop().call_later(self._watch_after_s, watch)
        try:
            await self._app(scope, body.receive, response.send)
        finally:
            timer.cancel()
            for watcher in watchers:
                watcher.cancel()
                await asyncio.wait({watcher})


class _Response:
    """A JSON response; it becomes an event stream with one event if a ping was sent before."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_started = False
        self._lock = asyncio.Lock()
        self._is_stream = False

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        async with self._lock:
            self._has_started = True
            if not self._is_stream:
                await self._send(message)
            elif message["type"] == "http.response.body":
                event = b"event: message\r\ndata: " + message.get("body", b"") + b"\r\n\r\n"
                await self._send({**message, "body": event})

    async def keep_alive(self, receive: Receive, ping_interval_s: float) -> None:
        """Send pings until the client disconnects or this task is canceled."""
        while True:
            try:
                async with asyncio.timeout(ping_interval_s):
                    if (await receive())["type"] == "http.disconnect":
                        return
            except TimeoutError:
                await self._ping()

    async def _ping(self) -> None:
        async with self._lock:
            if self._has_started:
                return
            if not self._is_stream:
                self._is_stream = True
                # A new list, because outer layers append to it.
                headers = list(_STREAM_HEADERS)
                await self._send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._send({"type": "http.response.body", "body": _PING, "more_body": True})


def _is_suitable_call(scope: Scope) -> bool:
    """Return True for a tool call of a newer protocol version, without session, whose client also accepts streams."""
    # The first of two equal headers counts, as in the SDK, which then rejects both.
    headers = dict(reversed(scope["headers"]))
    return (
        scope["method"] == "POST"
        and headers.get(_METHOD) == _CALL
        and headers.get(_VERSION) in _VERSIONS
        and _STREAM in headers.get(b"accept", b"")
        and _SESSION not in headers
    )
