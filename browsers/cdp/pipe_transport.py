"""Debugging pipe of a browser that this process starts: JSON messages in both directions, each ended by NUL.

There is no debugging port that other programs could open, and no process in between (docs/decisions/001-transport.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, cast

Message = dict[str, Any]

_WITH_PIPE = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null'
"""Script of the shell that becomes the browser, which reads its commands from descriptor 3 and answers on 4."""
_TAIL_BYTES = 80
"""Bytes at the end of a message with the session id: `,"sessionId":"32 characters"}`."""
_ENCODED = json.JSONEncoder(separators=(",", ":")).encode
"""Reused encoder: `json.dumps` creates one at each call with options."""
MAX_MESSAGE_BYTES = 192_000_000
"""Maximum bytes of one message. The largest DOM that is captured is smaller."""
_LARGE_BYTES = 1_000_000
"""Bytes. Above this size the garbage collector is paused during decoding: for 11 MB it took 0.7 s,
decoding 0.2 s of CPU."""
_MAX_OUTPUT_BYTES = 64_000
"""Bytes of the browser's error output that are kept, from its start."""


class PipeTransport(asyncio.SubprocessProtocol):
    """Pipe of one browser. The session id None means the browser itself."""

    def __init__(self) -> None:
        """Start without a browser; `start` creates one with its transport."""
        self.output = b""
        """Error output of the browser."""
        self._exited = asyncio.Event()
        self._process: asyncio.SubprocessTransport | None = None
        self._on_message: Callable[[str | None, Message, int], None] = lambda *_: None
        self._on_lost: Callable[[], None] = lambda: None
        self._is_lost = False
        self._outgoing: list[bytes] = []
        self._muted: set[str] = set()
        """Sessions whose messages are discarded, until they end."""
        self._partial: list[bytes] = []
        """Pieces of a message without its end so far."""
        self._partial_bytes = 0
        self._complete: deque[bytes] = deque()

    @classmethod
    async def start(cls, command: tuple[str, ...], environment: dict[str, str]) -> PipeTransport:
        """Start a browser and return the transport of its pipe. Raises OSError if no process can be started."""
        loop = asyncio.get_running_loop()
        # In a session of its own: an interrupt in the terminal must not end it.
        arguments = ("/bin/sh", "-c", _WITH_PIPE, *command)
        _, opened = await loop.subprocess_exec(cls, *arguments, env=environment, start_new_session=True)
        return opened

    def bind(self, on_message: Callable[[str | None, Message, int], None], on_lost: Callable[[], None]) -> None:
        """Set the handlers of messages, which get the bytes of each, and of the end of the connection."""
        self._on_message = on_message
        self._on_lost = on_lost
        if self._is_lost:
            on_lost()

    def send(self, session_id: str | None, message: Message) -> None:
        """Send a message. This never fails: a broken pipe calls `on_lost`."""
        if session_id is not None:
            message["sessionId"] = session_id
        if not self._outgoing:
            asyncio.get_running_loop().call_soon(self._flush)
        self._outgoing.append(_ENCODED(message).encode())

    def mute(self, session_id: str) -> None:
        """Discard all further messages of a session, unread."""
        self._muted.add(session_id)

    async def wait_exited(self, limit_s: float) -> bool:
        """Wait until the browser has ended and its output is read; return False after `limit_s`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), limit_s)
        return self._exited.is_set()

    def close(self) -> None:
        """Close the pipe, and kill the browser if it still runs."""
        if self._process is not None:
            self._process.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the process."""
        self._process = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Split the bytes of the pipe into messages, and keep the start of the error output."""
        if fd != 1:
            self.output += data[: max(0, _MAX_OUTPUT_BYTES - len(self.output))]
            return
        *ends, start = data.split(b"\0")
        for end in ends:
            if self._partial_bytes <= MAX_MESSAGE_BYTES:
                self._complete.append(b"".join((*self._partial, end)))
            self._partial.clear()
            self._partial_bytes = 0
        if start:
            self._partial_bytes += len(start)
            if self._partial_bytes <= MAX_MESSAGE_BYTES:
                self._partial.append(start)
            else:
                # Discarded up to its end. If it was an answer, its command fails by its time limit.
                self._partial.clear()
        self._deliver()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """End the connection when the browser closes its end."""
        if fd != 2:
            self._end()

    def process_exited(self) -> None:
        """End the connection with the browser."""
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the browser and of its output."""
        self._exited.set()
        self.close()

    def _end(self) -> None:
        if not self._is_lost:
            self._is_lost = True
            self._on_lost()

    def _deliver(self) -> None:
        """Deliver the messages. An error in a handler does not stop the messages after it."""
        while self._complete:
            try:
                self._receive(self._complete.popleft())
            except BaseException:
                asyncio.get_running_loop().call_soon(self._deliver)
                raise

    def _receive(self, raw: bytes) -> None:
        tail = raw[-_TAIL_BYTES:]
        at = tail.rfind(b'"sessionId":"')
        session_id = tail[at + 13 : -2].decode("latin-1") if at >= 0 and tail.endswith(b'"}') else None
        if session_id in self._muted:
            return
        with paused_collector() if len(raw) >= _LARGE_BYTES else contextlib.nullcontext():
            message = json.loads(raw)
        if message.get("method") == "Target.detachedFromTarget":
            self._muted.discard(message["params"]["sessionId"])
        self._on_message(message.get("sessionId"), message, len(raw))

    def _flush(self) -> None:
        """Write all commands of one loop iteration at once: single writes took a tenth of the server's time."""
        outgoing, self._outgoing = self._outgoing, []
        pipe = None if self._process is None else self._process.get_pipe_transport(0)
        if pipe is not None and not pipe.is_closing():
            cast(asyncio.WriteTransport, pipe).write(b"\0".join(outgoing) + b"\0")


@contextlib.contextmanager
def paused_collector() -> Iterator[None]:
    """Run the block without collections of cycles, which would search a large new tree again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
