"""Knows when the client of an HTTP request has gone, so that its call can end and its tab be given back.

The protocol revisions up to 2025-11-25 say that a lost connection is not a cancelled request, because a
client may resume the stream from an event store. We keep no event store: an answer whose stream is gone
reaches nobody, so its work is stopped. A server that keeps events must not put this layer in front.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_KEY = "search_mcp.client_gone"
_TOO_LATE = JSONResponse(
    {"error": "The server is shutting down. Try again in a few seconds."}, 503, headers={"Retry-After": "5"}
)


def client_gone(scope: Mapping[str, Any]) -> asyncio.Future[None] | None:
    """A future that is done once the client of this request has gone before its answer."""
    gone: asyncio.Future[None] | None = scope.get(_KEY)
    return gone


class DisconnectMiddleware:
    """ASGI layer that watches each request's connection, and ends the idle ones when the server stops."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._listening = _Listening()
        self._closing = False
        self._unanswered: set[_Exchange] = set()
        self._all_answered = asyncio.Event()
        self._all_answered.set()

    def close_behind(self) -> None:
        """End each connection with its next answer, so that none is left on which a request could cross with
        its end."""
        self._closing = True

    async def answered(self, limit_s: float) -> None:
        """Return when every posted request has been answered, or after `limit_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._all_answered.wait()

    def stop(self) -> None:
        """End every open stream: to the layers behind it looks as if the client had hung up."""
        self._listening.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._listening.stopped:
            await _TOO_LATE(scope, receive, self._closing_behind(send))
            return
        exchange = _Exchange(receive, send, self._listening)
        scope[_KEY] = exchange.gone
        with self._counted(exchange, scope["method"]):
            await self._app(scope, exchange.receive, self._closing_behind(exchange.send))
            await exchange.finish()

    def _closing_behind(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if self._closing and message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        return sent

    @contextlib.contextmanager
    def _counted(self, exchange: _Exchange, method: str) -> Iterator[None]:
        """Count what will have an answer; a stream opened with GET never does."""
        if method == "POST":
            self._unanswered.add(exchange)
            self._all_answered.clear()
        try:
            yield
        finally:
            self._unanswered.discard(exchange)
            if not self._unanswered:
                self._all_answered.set()


class _Listening:
    """Everyone who waits for a client's next word, until told to stop."""

    def __init__(self) -> None:
        self.stopped = False
        self._waits: set[asyncio.Timeout] = set()

    async def hear(self, receive: Receive) -> Message | None:
        """What the client says next; None when told to stop."""
        if self.stopped:
            return None
        try:
            # A limit that is set when all are to stop costs less than a task to be waited for beside it.
            async with asyncio.timeout(None) as wait:
                self._waits.add(wait)
                try:
                    return await receive()
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            return None

    def stop(self) -> None:
        """Nobody waits any longer."""
        self.stopped = True
        now = asyncio.get_running_loop().time()
        for wait in self._waits:
            wait.reschedule(now)


class _Exchange:
    """One request and its answer."""

    def __init__(self, receive: Receive, send: Send, listening: _Listening) -> None:
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._receive = receive
        self._send = send
        self._listening = listening
        self._begun = False
        self._answered = False

    async def receive(self) -> Message:
        """What the client says next, or that it is over."""
        message = await self._listening.hear(self._receive)
        if message is None:
            return {"type": "http.disconnect"}
        if message["type"] == "http.disconnect" and not self._answered and not self.gone.done():
            self.gone.set_result(None)
        return message

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on."""
        self._begun = True
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._answered = True
        await self._send(message)

    async def finish(self) -> None:
        """End an answer that was cut off, so that the connection closes in order."""
        if self._begun and not self._answered:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
