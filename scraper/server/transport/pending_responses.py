"""Knows which requests of a conversation still wait for their answer to be handed to the client.

A conversation may only be ended after that: ending it drops what has not been handed over.
"""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse


class PendingResponses:
    """Stands in front of a write stream, and among the server's middleware."""

    def __init__(self) -> None:
        self._stream: WriteStream[SessionMessage] | None = None
        self._given = asyncio.Event()
        self._open: set[str | int] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    def to(self, stream: WriteStream[SessionMessage]) -> PendingResponses:
        """Hand everything over to `stream`."""
        self._stream = stream
        self._given.set()
        return self

    async def middleware(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Note each request; a cancelled one is never answered."""
        if ctx.request_id is None:
            return await call_next(ctx)
        self._open.add(ctx.request_id)
        self._empty.clear()
        try:
            return await call_next(ctx)
        except asyncio.CancelledError:
            self._close(ctx.request_id)
            raise

    async def emptied(self, limit_s: float) -> None:
        """Return when every answer has been handed over, or after `limit_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._empty.wait()

    async def send(self, item: SessionMessage, /) -> None:
        """Hand one message over."""
        assert self._stream is not None
        await self._stream.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
            self._close(item.message.id)

    async def refuse(self, error: JSONRPCError) -> None:
        """Hand over what is wrong with a message that nobody else will see."""
        await self._given.wait()
        await self.send(SessionMessage(error))

    async def aclose(self) -> None:
        """Close the stream."""
        if self._stream is not None:
            await self._stream.aclose()

    async def __aenter__(self) -> PendingResponses:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _close(self, request_id: str | int) -> None:
        self._open.discard(request_id)
        if not self._open:
            self._empty.set()
