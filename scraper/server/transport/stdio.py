"""Serve the tools over standard input and output to the client that started this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from types import TracebackType
from typing import Any, cast

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse

from scraper.server.calls.dispatcher import make_dispatcher
from scraper.server.lifecycle import LAST_BYTES_S, ServerContext, last_bytes_s, wait_for_first
from scraper.server.protocol import mcp_server as protocol
from scraper.server.transport.jsonrpc_validation import JsonRpcValidator
from scraper.server.transport.stdio_reader import StdinReader

_LOG = logging.getLogger(__name__)

_LAST_BYTES_S = LAST_BYTES_S
"""Seconds that a client has to read its last response at shutdown."""


async def serve_connection(service: ServerContext, descriptor: int) -> bool:
    """Serve until the client disconnects or a stop signal arrives; return False if it does not read its responses."""
    calls, stops = make_dispatcher(service), service.stops
    options: Any = {"version": service.version, "on_handshake": service.holder.open}
    if service.openai_tools:
        server = protocol.build_openai(service.openai_tools, calls, **options)
    else:
        server = protocol.build(service.tools, calls, output_schemas=service.settings.output_schemas, **options)
    lines, responses = StdinReader(descriptor), PendingResponses()
    server.middleware.append(responses.middleware)
    conversation = asyncio.create_task(_converse(server, lines, responses))
    await wait_for_first(conversation, lines.ended.wait(), stops.requested.wait())
    start = time.monotonic()
    await calls.drain(service.settings.drain_s, stops.at_once)
    left_s = last_bytes_s(time.monotonic() - start, _LAST_BYTES_S)
    await responses.wait_until_sent(left_s)
    lines.end()
    await _end_conversation(conversation, left_s)
    return conversation.done()


async def _converse(server: Server[Any], lines: StdinReader, responses: PendingResponses) -> None:
    # The SDK only iterates over the lines.
    messages = JsonRpcValidator(lines, responses.refuse)
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", messages)) as (read, write):
        try:
            await server.run(read, responses.attach(write), server.create_initialization_options())
        finally:
            # Flush prints while the SDK still redirects them.
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()


async def _end_conversation(conversation: asyncio.Task[None], limit_s: float) -> None:
    """Wait up to `limit_s` until the client has read the responses; then cancel, and wait up to `limit_s` again."""
    _, left = await asyncio.wait({conversation}, timeout=limit_s)
    if left:
        conversation.cancel()
        await asyncio.wait({conversation}, timeout=limit_s)
    if conversation.done() and not conversation.cancelled() and (error := conversation.exception()):
        _LOG.warning("the connection was interrupted: %r", error)


class PendingResponses(contextlib.AbstractAsyncContextManager["PendingResponses"]):
    """Track the requests whose responses are not sent yet.

    A conversation may end only when there are none, because unsent responses are lost. The class wraps a write stream
    and is a middleware of the server.
    """

    def __init__(self) -> None:
        """Start without a stream."""
        self._stream: WriteStream[SessionMessage] | None = None
        self._attached = asyncio.Event()
        self._open: set[str | int] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    def attach(self, stream: WriteStream[SessionMessage]) -> PendingResponses:
        """Send everything to `stream`."""
        self._stream = stream
        self._attached.set()
        return self

    async def middleware(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Record each request; a canceled one gets no response."""
        if ctx.request_id is None:
            return await call_next(ctx)
        self._open.add(ctx.request_id)
        self._empty.clear()
        try:
            return await call_next(ctx)
        except asyncio.CancelledError:
            self._close(ctx.request_id)
            raise

    async def wait_until_sent(self, limit_s: float) -> None:
        """Return when all responses are sent, or after `limit_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._empty.wait()

    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""
        assert self._stream is not None
        await self._stream.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
            self._close(item.message.id)

    async def refuse(self, error: JSONRPCError) -> None:
        """Send the error for an invalid message."""
        await self._attached.wait()
        await self.send(SessionMessage(error))

    async def aclose(self) -> None:
        """Close the stream."""
        if self._stream is not None:
            await self._stream.aclose()

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close the stream."""
        await self.aclose()

    def _close(self, request_id: str | int) -> None:
        self._open.discard(request_id)
        if not self._open:
            self._empty.set()
