"""Two transports for messages to a browser: a pipe shared with Playwright, and Playwright's own session.

Playwright launches the browser and keeps its session. Chromium's debugging pipe has one client: with `PipeTransport`
this process is the client. It relays the messages between Playwright and Chromium, and sends its own messages on the
same pipe through a browser session of its own. There is no debugging port that other programs could open, and no Node
process in between.

To share the pipe, Playwright starts a launcher in place of Chromium. It sends Playwright's pipe ends to this process
(`PipeHandshake`), receives the ends of a new pipe, and becomes Chromium.

`PlaywrightTransport` needs nothing from the host: messages travel inside Playwright's browser session. Playwright
ignores contexts that it did not create. Attaching with `flatten=false` nests our messages in its browser session, where
it does not read them. Each message is packed twice and passes Playwright's driver.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import shlex
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from browsers.cdp.session import Message

if TYPE_CHECKING:
    from playwright.async_api import CDPSession


_LAUNCHER = Path(__file__).with_name("fd_passing_launcher.py")
_ATTACH = 1 << 30
_STOP_AUTO_ATTACH = _ATTACH + 1
"""Ids of our commands on the root session. Playwright uses the ids from 1 upwards."""
_TAIL_BYTES = 80
"""Bytes at the end of a message with the session id: `,"sessionId":"32 characters"}`."""
_ENCODED = json.JSONEncoder(separators=(",", ":")).encode
"""Reused encoder: `json.dumps` creates one at each call with options."""
MAX_MESSAGE_BYTES = 192_000_000
"""Maximum bytes of one message. The largest DOM that is captured is smaller."""
_LARGE_BYTES = 1_000_000
"""Bytes. Above this size, decoding pauses the garbage collector: for 11 MB it took 0.7 s, decoding 0.2 s of CPU."""
_BROWSER_ENDED = "the browser ended at its start"


class PipeHandshake:
    """Exchange pipe ends with the launcher that Playwright starts in place of Chromium, for one launch."""

    def __init__(self, folder: Path, chromium: str) -> None:
        """Prepare the handshake for the Chromium at `chromium`, with files in `folder`."""
        self.executable = folder / f"chromium-{os.getpid()}-{id(self):x}"
        """Script that Playwright starts instead of Chromium."""
        self._address = folder / f"{id(self):x}.sock"
        self._chromium = chromium
        self._listener: socket.socket | None = None

    def open(self) -> bool:
        """Create the script and the socket. Return False if scripts cannot run or the path is too long."""
        if os.statvfs(self._address.parent).f_flag & getattr(os, "ST_NOEXEC", 8):
            return False
        words = [sys.executable, "-IS", str(_LAUNCHER), str(self._address), self._chromium]
        # A path may contain bytes that are not valid text.
        self.executable.write_bytes(os.fsencode(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'))
        self.executable.chmod(0o700)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(self._address))
        except OSError:
            listener.close()
            return False
        listener.listen(1)
        listener.setblocking(False)
        self._listener = listener
        return True

    async def wait_connected(self) -> PipeTransport:
        """Wait for the launcher's browser. Raises ConnectionError if the launcher ended before it sent its pipe."""
        assert self._listener is not None
        # asyncio's `sock_accept`, if canceled during a connect, logs an error of the closed socket.
        await _readable(self._listener)
        peer, _ = self._listener.accept()
        peer.setblocking(False)
        try:
            await _readable(peer)
            # No await from here on until the descriptors have an owner.
            _, received, _, _ = socket.recv_fds(peer, 1, 2)
            if len(received) != 2:
                raise ConnectionError("the launcher ended before it sent its pipe")
            from_playwright, to_playwright = received
            commands_out, commands_in = os.pipe()
            answers_out, answers_in = os.pipe()
            socket.send_fds(peer, [b"c"], [commands_out, answers_in])
            os.close(commands_out)
            os.close(answers_in)
        finally:
            peer.close()
        return await PipeTransport.open(from_playwright, to_playwright, commands_in, answers_out)

    def close(self) -> None:
        """Close the socket and remove the files."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._address.unlink(missing_ok=True)
        self.executable.unlink(missing_ok=True)


class _Reader(asyncio.Protocol):
    def __init__(self, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_message = on_message
        self._on_end = on_end
        self._partial: list[bytes] = []
        """Pieces of a message without its end so far."""
        self._partial_bytes = 0
        self._complete: deque[bytes] = deque()

    def data_received(self, data: bytes) -> None:
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

    def _deliver(self) -> None:
        """Deliver the messages. An error in a handler does not stop the messages after it."""
        while self._complete:
            try:
                self._on_message(self._complete.popleft())
            except BaseException:
                asyncio.get_running_loop().call_soon(self._deliver)
                raise

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


class PipeTransport:
    """Pipe of one browser, shared with Playwright."""

    flat = True

    def __init__(self) -> None:
        """Start without descriptors; `open` sets them."""
        self._to_chromium: asyncio.WriteTransport | None = None
        self._to_playwright: asyncio.WriteTransport | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self._root_session: str | None = None
        self._attached: asyncio.Future[str] | None = None
        self._on_message: Callable[[str | None, Message, int], None] = lambda *_: None
        self._on_lost: Callable[[], None] = lambda: None
        self._lost = False
        self._outgoing: list[bytes] = []
        self._sessions: set[str] = set()
        self._muted: set[str] = set()
        """Sessions whose messages are discarded, until they end."""

    @classmethod
    async def open(cls, from_playwright: int, to_playwright: int, commands: int, answers: int) -> PipeTransport:
        """Open the transport over four file descriptors, which it owns from now on.

        Playwright's commands are read from the first and its answers written to the second. Commands to Chromium are
        written to the third, and its answers and events read from the fourth.
        """
        opened, loop = cls(), asyncio.get_running_loop()

        async def read(descriptor: int, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
            pipe = os.fdopen(descriptor, "rb", 0)
            transport, _ = await loop.connect_read_pipe(lambda: _Reader(on_message, on_end), pipe)
            opened._transports.append(transport)

        async def write(descriptor: int) -> asyncio.WriteTransport:
            transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(descriptor, "wb", 0))
            opened._transports.append(transport)
            return transport

        opened._to_chromium = await write(commands)
        opened._to_playwright = await write(to_playwright)
        await read(answers, opened._from_chromium, opened._end)
        await read(from_playwright, opened._from_playwright, opened._on_driver_end)
        if opened._lost:
            # The browser crashed. With an open end Playwright would not notice before its time limit.
            opened.close()
        return opened

    async def attach(self) -> None:
        """Open a session that Playwright does not see, and end its attachment to tabs. Raises ConnectionError."""
        if self._lost:
            raise ConnectionError(_BROWSER_ENDED)
        self._attached = asyncio.get_running_loop().create_future()
        self._write({"id": _ATTACH, "method": "Target.attachToBrowserTarget"})
        self._root_session = await self._attached
        self._sessions.add(self._root_session)
        # Playwright would see each of our tabs paused and detach from it: a round trip for every tab, and a tab that
        # stays paused forever if Playwright's driver has crashed.
        params = {"autoAttach": False, "waitForDebuggerOnStart": False, "flatten": True}
        self._write({"id": _STOP_AUTO_ATTACH, "method": "Target.setAutoAttach", "params": params})

    def bind(self, on_message: Callable[[str | None, Message, int], None], on_lost: Callable[[], None]) -> None:
        """See CdpTransport."""
        self._on_message = on_message
        self._on_lost = on_lost
        if self._lost:
            on_lost()

    def send(self, session_id: str | None, message: Message) -> None:
        """See CdpTransport."""
        message["sessionId"] = session_id or self._root_session
        self._write(message)

    def mute(self, session_id: str) -> None:
        """See CdpTransport."""
        self._muted.add(session_id)

    def close(self) -> None:
        """Close every end. Chromium exits when its pipe closes."""
        for transport in self._transports:
            if not transport.is_closing():
                transport.close()

    def _from_playwright(self, message: bytes) -> None:
        if self._to_chromium is not None and not self._to_chromium.is_closing():
            self._to_chromium.write(message + b"\0")

    def _from_chromium(self, message: bytes) -> None:
        tail = message[-_TAIL_BYTES:]
        at = tail.rfind(b'"sessionId":"')
        session_id = tail[at + 13 : -2].decode("latin-1") if at >= 0 and tail.endswith(b'"}') else None
        if session_id in self._muted:
            return
        if session_id in self._sessions:
            self._receive(session_id, _decode(message), len(message))
        elif message.startswith(b'{"id":%d,' % _ATTACH):
            if self._attached is not None and not self._attached.done():
                self._attached.set_result(json.loads(message)["result"]["sessionId"])
        elif message.startswith(b'{"id":%d,' % _STOP_AUTO_ATTACH):
            return  # Playwright did not send it and fails on an unknown answer
        elif self._to_playwright is not None and not self._to_playwright.is_closing():
            self._to_playwright.write(message + b"\0")

    def _receive(self, session_id: str | None, message: Message, size: int) -> None:
        # A session is ours as soon as one of ours announces it, before its first message.
        method = message.get("method")
        if method == "Target.attachedToTarget":
            self._sessions.add(message["params"]["sessionId"])
        elif method == "Target.detachedFromTarget":
            self._sessions.discard(message["params"]["sessionId"])
            self._muted.discard(message["params"]["sessionId"])
        self._on_message(None if session_id == self._root_session else session_id, message, size)

    def _write(self, message: Message) -> None:
        if not self._outgoing:
            asyncio.get_running_loop().call_soon(self._flush)
        self._outgoing.append(_ENCODED(message).encode())

    def _flush(self) -> None:
        """Write all commands of one loop iteration at once: single writes took a tenth of the server's time."""
        outgoing, self._outgoing = self._outgoing, []
        if self._to_chromium is not None and not self._to_chromium.is_closing():
            self._to_chromium.write(b"\0".join(outgoing) + b"\0")

    def _on_driver_end(self) -> None:
        """Continue without Playwright: Chromium's pipe belongs to this process, so visits do not notice."""
        if self._to_playwright is not None and not self._to_playwright.is_closing():
            self._to_playwright.close()
        self._to_playwright = None

    def _end(self) -> None:
        if not self._lost:
            self._lost = True
            self.close()
            if self._attached is not None and not self._attached.done():
                self._attached.set_exception(ConnectionError(_BROWSER_ENDED))
            self._on_lost()


def _decode(message: bytes | str) -> Any:
    with paused_collector() if len(message) >= _LARGE_BYTES else contextlib.nullcontext():
        return json.loads(message)


async def _readable(peer: socket.socket) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    # By its number: a canceled caller may have closed it.
    descriptor = peer.fileno()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


class PlaywrightTransport:
    """Send by `Target.sendMessageToTarget` and receive by `Target.receivedMessageFromTarget`."""

    flat = False

    def __init__(self, session: CDPSession) -> None:
        """Use Playwright's browser session."""
        self._session = session
        self._sending: set[asyncio.Future[Any]] = set()
        self._parents: dict[str, str] = {}
        self._muted: set[str] = set()
        self._on_message: Callable[[str | None, Message, int], None] = lambda *_: None
        self._on_lost: Callable[[], None] = lambda: None

    def bind(self, on_message: Callable[[str | None, Message, int], None], on_lost: Callable[[], None]) -> None:
        """See CdpTransport."""
        self._on_message = on_message
        self._on_lost = on_lost
        self._session.on("Target.receivedMessageFromTarget", self._unpack)
        for event in ("Target.attachedToTarget", "Target.detachedFromTarget"):
            self._session.on(
                event, lambda params, event=event: on_message(None, {"method": event, "params": params}, 0)
            )
        self._session.on("close", lambda *_: self.lost())

    def send(self, session_id: str | None, message: Message) -> None:
        """See CdpTransport."""
        if session_id is None:
            self._start(message["id"], None, message["method"], message["params"])
            return
        packed = json.dumps(message, separators=(",", ":"))
        nested = {"sessionId": session_id, "message": packed}
        parent = self._parents.get(session_id)
        if parent is None:
            self._start(message["id"], session_id, "Target.sendMessageToTarget", nested)
        else:
            # Ids are unique across sessions, and the answer to this command is ignored.
            self.send(parent, {"id": -message["id"], "method": "Target.sendMessageToTarget", "params": nested})

    def mute(self, session_id: str) -> None:
        """See CdpTransport."""
        self._muted.add(session_id)

    def close(self) -> None:
        """Do nothing: the session ends with its browser."""

    def lost(self) -> None:
        """Report that the connection has ended."""
        self._on_lost()

    def _start(self, number: int, session_id: str | None, method: str, params: dict[str, Any]) -> None:
        sent = asyncio.ensure_future(self._session.send(method, params))
        self._sending.add(sent)
        sent.add_done_callback(lambda future: self._after(number, session_id, future))

    def _after(self, number: int, session_id: str | None, sent: asyncio.Future[Any]) -> None:
        self._sending.discard(sent)
        if sent.cancelled():
            return
        error = sent.exception()
        if error is None:
            if session_id is None:
                self._on_message(None, {"id": number, "result": sent.result()}, 0)
            return
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "Protocol error" not in text or "closed" in text.lower():
            self.lost()
        else:
            self._on_message(session_id, {"id": number, "error": {"message": text}}, 0)

    def _unpack(self, params: dict[str, Any], parent: str | None = None) -> None:
        session_id = params["sessionId"]
        if session_id in self._muted:
            return
        if parent is not None:
            self._parents[session_id] = parent
        message = _decode(params["message"])
        if message.get("method") == "Target.receivedMessageFromTarget":
            self._unpack(message["params"], session_id)
            return
        if message.get("method") == "Target.attachedToTarget":
            self._parents[message["params"]["sessionId"]] = session_id
        self._on_message(session_id, message, len(params["message"]))


@contextmanager
def paused_collector() -> Iterator[None]:
    """Run the block without collections of cycles, which would search the whole tree again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
