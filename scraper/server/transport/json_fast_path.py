"""Answers a call of the newer era in one piece, in the task that heard it: half of what the protocol costs.

For what may be told on the way the SDK gives each such call a stream and two tasks, and ends them by
cancelling. A client that asked for no progress is told nothing on the way but that its connection is alive.
That, and seeing that it has gone, is only wanted of calls that last, and is begun when they do.
"""

from __future__ import annotations

import asyncio

from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scraper.server.http.request_body import read_body

_LASTS_S = 0.25
"""A client that leaves sooner than this after it called is noticed then: its tab is back within a second."""
_SILENCE_S = 15.0
"""The SDK's own: proxies cut connections on which nothing is said, some after half a minute."""
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
_ALIVE = b": ping\r\n\r\n"


class JsonFastPath:
    """ASGI endpoint: such calls to `app`, which answers with JSON alone; the rest to `otherwise`."""

    def __init__(
        self,
        app: ASGIApp,
        otherwise: ASGIApp,
        body_limit_bytes: int,
        *,
        lasts_s: float = _LASTS_S,
        silence_s: float = _SILENCE_S,
    ) -> None:
        self._app = app
        self._otherwise = otherwise
        self._body_limit_bytes = body_limit_bytes
        self._lasts_s = lasts_s
        self._silence_s = silence_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_call(scope):
            await self._otherwise(scope, receive, send)
            return
        body = await read_body(receive, self._body_limit_bytes)
        if body.is_cut or body.mentions(_PROGRESS):
            await self._otherwise(scope, body.receive, send)
            return
        answer = _Answer(send)
        companions: list[asyncio.Task[None]] = []

        def accompany() -> None:
            companions.append(asyncio.create_task(answer.keep_alive(receive, self._silence_s)))

        timer = asyncio.get_running_loop().call_later(self._lasts_s, accompany)
        try:
            await self._app(scope, body.receive, answer.send)
        finally:
            timer.cancel()
            for companion in companions:
                companion.cancel()
                await asyncio.wait({companion})


class _Answer:
    """A JSON answer, given as the one event of a stream where the client had to be kept waiting."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False
        self._in_turn = asyncio.Lock()
        self._is_stream = False

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on."""
        async with self._in_turn:
            self._begun = True
            if not self._is_stream:
                await self._send(message)
            elif message["type"] == "http.response.body":
                event = b"event: message\r\ndata: " + message.get("body", b"") + b"\r\n\r\n"
                await self._send({**message, "body": event})

    async def keep_alive(self, receive: Receive, silence_s: float) -> None:
        """Say that the call is alive as long as the client is there and has no answer."""
        while True:
            try:
                async with asyncio.timeout(silence_s):
                    if (await receive())["type"] == "http.disconnect":
                        return
            except TimeoutError:
                await self._say_alive()

    async def _say_alive(self) -> None:
        async with self._in_turn:
            if self._begun:
                return
            if not self._is_stream:
                self._is_stream = True
                # A list of its own: layers in front add to it.
                headers = list(_STREAM_HEADERS)
                await self._send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._send({"type": "http.response.body", "body": _ALIVE, "more_body": True})


def _is_call(scope: Scope) -> bool:
    """Whether a request is a call of the newer era, of no session, whose client takes streams too."""
    # Of two the first counts, as it does for the SDK, which then refuses both.
    headers = dict(reversed(scope["headers"]))
    return (
        scope["method"] == "POST"
        and headers.get(_METHOD) == _CALL
        and headers.get(_VERSION) in _VERSIONS
        and _STREAM in headers.get(b"accept", b"")
        and _SESSION not in headers
    )
