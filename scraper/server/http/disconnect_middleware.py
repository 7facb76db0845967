"""Detect clients that disconnect before their response, so that their calls are canceled.

Protocol revisions up to 2025-11-25 do not treat a lost connection as a cancellation, because a client may resume the
stream from an event store. This server has no event store: a response without its stream is lost, so its work is
stopped. A server with an event store must not use this layer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scraper.server.lifecycle import ActiveCount

_KEY = "search_mcp.client_gone"
_SHUTTING_DOWN = JSONResponse(
    {"error": "The server is shutting down. Try again in a few seconds."}, 503, headers={"Retry-After": "5"}
)


def disconnect_future(scope: Mapping[str, Any]) -> asyncio.Future[None] | None:
    """Return a future that is done when the client disconnects before its response."""
    disconnected: asyncio.Future[None] | None = scope.get(_KEY)
    return disconnected


class DisconnectMiddleware:
    """ASGI middleware that watches the connection of each request, and ends idle streams at shutdown."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app
        self._receivers = _Receivers()
        self._closing = False
        self._unanswered = ActiveCount()

    def close_after_response(self) -> None:
        """Close each connection after its next response, so that no request arrives meanwhile."""
        self._closing = True

    async def wait_until_answered(self, limit_s: float) -> None:
        """Return when all POST requests are answered, or after `limit_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._unanswered.none.wait()

    def stop(self) -> None:
        """End all open streams: the inner application sees disconnected clients."""
        self._receivers.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if self._receivers.stopped:
            await _SHUTTING_DOWN(scope, receive, self._add_close_header(send))
            return
        exchange = _Exchange(receive, send, self._receivers)
        scope[_KEY] = exchange.disconnected
        # A stream opened by GET gets no response.
        with self._unanswered.add() if scope["method"] == "POST" else contextlib.nullcontext():
            await self._app(scope, exchange.receive, self._add_close_header(exchange.send))
            await exchange.finish()

    def _add_close_header(self, send: Send) -> Send:
        async def send_with_header(message: Message) -> None:
            if self._closing and message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        return send_with_header


class _Receivers:
    """All pending `receive` calls; `stop` ends them."""

    def __init__(self) -> None:
        self.stopped = False
        self._waits: set[asyncio.Timeout] = set()

    async def wait(self, receive: Receive) -> Message | None:
        """Return the next message of the client, or None after `stop`."""
        if self.stopped:
            return None
        try:
            # A timeout that `stop` sets is cheaper than a second task.
            async with asyncio.timeout(None) as timeout:
                self._waits.add(timeout)
                try:
                    return await receive()
                finally:
                    self._waits.discard(timeout)
        except TimeoutError:
            return None

    def stop(self) -> None:
        """End all pending calls."""
        self.stopped = True
        now = asyncio.get_running_loop().time()
        for timeout in self._waits:
            timeout.reschedule(now)


class _Exchange:
    """One request and its response."""

    def __init__(self, receive: Receive, send: Send, receivers: _Receivers) -> None:
        self.disconnected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._receive = receive
        self._send = send
        self._receivers = receivers
        self._has_response_started = False
        self._answered = False

    async def receive(self) -> Message:
        """Return the next message of the client, or a disconnect."""
        message = await self._receivers.wait(self._receive)
        if message is None:
            return {"type": "http.disconnect"}
        if message["type"] == "http.disconnect" and not self._answered and not self.disconnected.done():
            self.disconnected.set_result(None)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the response; drop a second response, which the SDK sends for an ended session."""
        if self._answered:
            return
        self._has_response_started = True
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._answered = True
        await self._send(message)

    async def finish(self) -> None:
        """End an incomplete response, so that the connection is closed properly."""
        if self._has_response_started and not self._answered:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
