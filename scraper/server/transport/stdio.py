"""Serve the tools over standard input and output to the client that started this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import stat
import sys
import time
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, cast

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from scraper.server.calls.dispatcher import make_dispatcher
from scraper.server.http.middleware import MESSAGE_BYTES
from scraper.server.lifecycle import ServerContext, last_bytes_s, wait_for_first
from scraper.server.protocol import mcp_server as protocol
from scraper.server.protocol.handshake import FirstMessage
from scraper.server.transport.jsonrpc_middleware import JsonRpcValidator

_END_BYTES = 1_024
"""Bytes of the end of a message that is too long, beyond `MESSAGE_BYTES` of its beginning. Either may hold its id."""


class StdinReader:
    """Iterate over the decoded lines of a descriptor until its end, or until `end` is called."""

    def __init__(self, descriptor: int, begin: bytes = b"") -> None:
        """Read from `descriptor`, after the bytes `begin`."""
        self.ended = asyncio.Event()
        self.released = asyncio.Event()
        """Set by `end`."""
        self._descriptor = descriptor
        self._begin = begin
        self._is_file = _is_file(descriptor)
        self._ready = asyncio.Event()

    def end(self) -> None:
        """Stop as if the client had disconnected."""
        self.released.set()
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield lines."""
        line = bytearray()
        while chunk := await self._read_chunk():
            for index, piece in enumerate(chunk.split(b"\n")):
                if index:
                    yield line.decode("utf-8", "replace")
                    line = bytearray()
                line += piece
                del line[MESSAGE_BYTES:-_END_BYTES]
        if line:
            yield line.decode("utf-8", "replace")
        self.ended.set()

    async def _read_chunk(self) -> bytes:
        if self._begin:
            begin, self._begin = self._begin, b""
            return begin
        await self._wait_until_readable()
        if self.released.is_set():
            return b""
        with contextlib.suppress(OSError):  # the terminal of an interactive client was closed
            return os.read(self._descriptor, 65_536)
        return b""

    async def _wait_until_readable(self) -> None:
        if self._is_file:
            # A file is always readable: Linux cannot poll it, and macOS would wait at its end for more data.
            return await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(self._descriptor, self._ready.set)
        except OSError:  # a device that cannot be polled, as /dev/null on macOS
            return await asyncio.sleep(0)
        try:
            await self._ready.wait()
        finally:
            loop.remove_reader(self._descriptor)
            self._ready.clear()


def _is_file(descriptor: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False


_LOG = logging.getLogger(__name__)


async def serve_connection(service: ServerContext, descriptor: int, first: FirstMessage) -> bool:
    """Serve until the client disconnects or a stop signal arrives; return False if it does not read its responses."""
    calls, stops = make_dispatcher(service), service.stops
    server = (protocol.build_openai if service.openai_tools else protocol.build_for)(service, calls)
    lines, responses = StdinReader(descriptor, first.data), PendingResponses(first.answered_id)
    server.middleware.append(responses.middleware)
    conversation = asyncio.create_task(_converse(server, lines, responses))
    output = os.dup(1)  # the SDK redirects descriptor 1
    await wait_for_first(conversation, lines.ended.wait(), stops.requested.wait())
    start = time.monotonic()
    drain_s = service.settings.drain_s
    if lines.ended.is_set():
        # The client sends nothing more, but may still wait for its answers.
        answered = _wait_for_answers(service, responses)
        await wait_for_first(conversation, answered, stops.requested.wait(), _wait_until_unread(output))
        drain_s = 0
    os.close(output)
    await calls.drain(drain_s, stops.at_once)
    left_s = last_bytes_s(time.monotonic() - start)
    await responses.wait_until_sent(left_s)
    lines.end()
    await asyncio.wait({conversation}, timeout=left_s)
    if not conversation.done():
        conversation.cancel()
        await asyncio.wait({conversation}, timeout=left_s)
    if conversation.done() and not conversation.cancelled() and (error := conversation.exception()):
        _LOG.warning("the connection was interrupted: %r", error)
    return conversation.done()


async def _wait_for_answers(service: ServerContext, responses: PendingResponses) -> None:
    """Wait until all responses are sent; the start of the services, for the first call, takes no time of the limit."""
    if responses.are_expected:
        await wait_for_first(service.holder.open(), responses.wait_until_sent(None))
    await responses.wait_until_sent(service.settings.drain_s)


async def _converse(server: Server[Any], lines: StdinReader, responses: PendingResponses) -> None:
    async def messages() -> AsyncIterator[str]:
        """Yield messages, and end only when `lines.end` is called: the SDK cancels all calls after the last one."""
        async for message in JsonRpcValidator(lines, responses.refuse, responses.note):
            yield message
        await lines.released.wait()

    # The SDK only iterates over the lines.
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", messages())) as (read, write):
        try:
            await server.run(read, responses.attach(write), server.create_initialization_options())
        finally:
            # Flush prints while the SDK still redirects them.
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()


async def _wait_until_unread(descriptor: int) -> None:
    """Return when a pipe or socket has no reader; a file always has one."""
    poll = select.poll()
    poll.register(descriptor, 0)  # errors and hang-ups are always reported
    while not poll.poll(0):  # noqa: ASYNC110 - the event loop reports no hang-up of an idle output
        await asyncio.sleep(0.05)


class PendingResponses(contextlib.AbstractAsyncContextManager["PendingResponses"]):
    """Track the requests whose responses are not sent yet.

    A conversation may end only when there are none, because unsent responses are lost. The class wraps a write stream
    and is a middleware of the server.
    """

    def __init__(self, answered_id: str | int | None = None) -> None:
        """Start without a stream; the first response to the request `answered_id` is dropped."""
        self._answered_id = answered_id
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
        """Expect no response to a canceled request."""
        try:
            return await call_next(ctx)
        except asyncio.CancelledError:
            if ctx.request_id is not None:
                self._close(ctx.request_id)
            raise

    def note(self, request: JSONRPCRequest) -> None:
        """Expect a response to a request."""
        self._open.add(request.id)
        self._empty.clear()

    @property
    def are_expected(self) -> bool:
        """True if a response is not sent yet."""
        return bool(self._open)

    async def wait_until_sent(self, limit_s: float | None) -> None:
        """Return when all responses are sent, or after `limit_s`; None is no limit."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._empty.wait()

    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""
        assert self._stream is not None
        answered = item.message.id if isinstance(item.message, JSONRPCResponse | JSONRPCError) else None
        if answered is not None and answered == self._answered_id:
            self._answered_id = None
        else:
            await self._stream.send(item)
        if answered is not None:
            self._close(answered)

    async def refuse(self, error: JSONRPCError) -> None:
        """Send the error for an invalid message."""
        await self._attached.wait()
        await self.send(SessionMessage(error))

    async def aclose(self) -> None:
        """Close the stream."""
        if self._stream is not None:
            await self._stream.aclose()

    async def __aexit__(
        self, _kind: type[BaseException] | None, _validation_error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close the stream."""
        await self.aclose()

    def _close(self, request_id: str | int) -> None:
        self._open.discard(request_id)
        if not self._open:
            self._empty.set()
