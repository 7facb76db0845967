"""Serve the tools over standard input and output to the client that started this process."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import stat
import sys
import time
from collections.abc import AsyncIterator, Iterator
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
from scraper.server.transport.jsonrpc_middleware import JsonRpcValidator

_CHUNK_BYTES = 64 * 1024
_LINE_BYTES = 4 * 1024 * 1024
"""Bytes of a message, as for an HTTP body. A longer one is cut, and rejected because it is not JSON."""


@contextlib.contextmanager
def private_stdin() -> Iterator[int]:
    """Move standard input to a private descriptor, so that no child process can read from the client."""
    wire = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        yield wire
    finally:
        os.dup2(wire, 0)
        os.close(wire)


class StdinReader:
    """Iterate over the decoded lines of a descriptor until its end, or until `end` is called."""

    def __init__(self, descriptor: int) -> None:
        """Read from `descriptor`."""
        self.ended = asyncio.Event()
        self._descriptor = descriptor
        self._is_file = _is_file(descriptor)
        self._ending = False
        self._ready = asyncio.Event()

    def end(self) -> None:
        """Stop as if the client had disconnected."""
        self._ending = True
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield lines."""
        line = bytearray()
        while chunk := await self._read_chunk():
            for index, piece in enumerate(chunk.split(b"\n")):
                if index:
                    yield line.decode("utf-8", "replace")
                    line = bytearray()
                _append(line, piece)
        self.ended.set()
        if line:
            yield line.decode("utf-8", "replace")

    async def _read_chunk(self) -> bytes:
        """Read available bytes; b"" at the end."""
        await self._wait_until_readable()
        if self._ending:
            return b""
        try:
            return os.read(self._descriptor, _CHUNK_BYTES)
        except OSError:  # the terminal of an interactive client was closed
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


def _append(line: bytearray, piece: bytes) -> None:
    """Append to a line up to the limit; a longer line becomes invalid JSON."""
    if len(line) <= _LINE_BYTES:
        line += piece


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
        self, _kind: type[BaseException] | None, _validation_error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close the stream."""
        await self.aclose()

    def _close(self, request_id: str | int) -> None:
        self._open.discard(request_id)
        if not self._open:
            self._empty.set()
