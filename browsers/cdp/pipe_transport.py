"""The shared pipe: Playwright launches the browser and keeps its session; our messages go straight to it.

Chromium's debugging pipe has one client. Here that is this process: it passes on what Playwright and Chromium
say to each other, and speaks on the same pipe through a browser session of its own. There is no debugging
port that others on this machine could open, and no node process in between.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import socket
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path

from browsers.cdp.session import Message

LAUNCHER = Path(__file__).with_name("pipe_launcher.py")
ATTACH = 1 << 30
LEAVE_TABS_ALONE = ATTACH + 1
"""Numbers of our commands on the root session, whose other numbers are Playwright's, from 1 upwards."""
TAIL_BYTES = 80
"""A session id stands at the very end of a message: `,"sessionId":"32 characters"}`."""
_ENCODED = json.JSONEncoder(separators=(",", ":")).encode
"""`json.dumps` makes an encoder at each call that asks for one of its own."""
_GONE = "the browser ended at its start"


class PipeHandshake:
    """Waits where the launcher brings Playwright's ends of the pipe; serves one launch after the other."""

    def __init__(self, folder: Path, chromium: str) -> None:
        self.executable = folder / f"chromium-{os.getpid()}-{id(self):x}"
        """What Playwright is told to start."""
        self._address = folder / f"{id(self):x}.sock"
        self._chromium = chromium
        self._listener: socket.socket | None = None

    def open(self) -> bool:
        """Set up; False where the folder's scripts cannot be executed or its path is too long."""
        if os.statvfs(self._address.parent).f_flag & getattr(os, "ST_NOEXEC", 8):
            return False
        words = [sys.executable, "-IS", str(LAUNCHER), str(self._address), self._chromium]
        # A path may hold bytes that are no text.
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

    async def meet(self) -> PipeTransport:
        """The wire of the browser that is being launched now."""
        assert self._listener is not None
        # asyncio's own `sock_accept`, cancelled just when somebody knocks, logs a fault of the closed socket.
        await _readable(self._listener)
        peer, _ = self._listener.accept()
        peer.setblocking(False)
        try:
            await _readable(peer)
            # Nothing is awaited from here on until the descriptors have their owner.
            _, received, _, _ = socket.recv_fds(peer, 1, 2)
            if len(received) != 2:
                raise ConnectionError("the launcher ended before it handed its pipe over")
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
        """Stop waiting."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._address.unlink(missing_ok=True)
        self.executable.unlink(missing_ok=True)


class _Reader(asyncio.Protocol):
    """Cuts a pipe's bytes into messages, which end with NUL."""

    def __init__(self, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_message = on_message
        self._on_end = on_end
        self._begun: list[bytes] = []
        self._ended: deque[bytes] = deque()

    def data_received(self, data: bytes) -> None:
        *ended, rest = data.split(b"\0")
        for piece in ended:
            if self._begun:
                self._begun.append(piece)
                piece = b"".join(self._begun)
                self._begun = []
            self._ended.append(piece)
        if rest:
            self._begun.append(rest)
        self._hand_on()

    def _hand_on(self) -> None:
        """A message that its receiver stumbles over keeps none that came with it from others."""
        while self._ended:
            try:
                self._on_message(self._ended.popleft())
            except BaseException:
                asyncio.get_running_loop().call_soon(self._hand_on)
                raise

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


class PipeTransport:
    """One browser's pipe, shared with Playwright."""

    flat = True

    def __init__(self) -> None:
        self._to_chromium: asyncio.WriteTransport | None = None
        self._to_playwright: asyncio.WriteTransport | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self._own: str | None = None
        self._attached: asyncio.Future[str] | None = None
        self._on_message: Callable[[str | None, Message], None] = lambda *_: None
        self._on_lost: Callable[[], None] = lambda: None
        self._lost = False
        self._outgoing: list[bytes] = []
        self._ours: set[str] = set()

    @classmethod
    async def open(
        cls, from_playwright: int, to_playwright: int, commands: int, answers: int
    ) -> PipeTransport:
        """Over four descriptors, which it owns from now on."""
        wire, loop = cls(), asyncio.get_running_loop()

        async def read(
            descriptor: int, on_message: Callable[[bytes], None], on_end: Callable[[], None]
        ) -> None:
            transport, _ = await loop.connect_read_pipe(
                lambda: _Reader(on_message, on_end), os.fdopen(descriptor, "rb", 0)
            )
            wire._transports.append(transport)

        async def write(descriptor: int) -> asyncio.WriteTransport:
            transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(descriptor, "wb", 0))
            wire._transports.append(transport)
            return transport

        wire._to_chromium = await write(commands)
        wire._to_playwright = await write(to_playwright)
        await read(answers, wire._from_chromium, wire._end)
        await read(from_playwright, wire._from_playwright, wire._driver_gone)
        if wire._lost:
            # It died meanwhile; an end left open would keep that from Playwright for its whole time limit.
            wire.close()
        return wire

    async def attach(self) -> None:
        """Get a browser session of our own; what is attached through it is never Playwright's business.

        Raises:
            ConnectionError: the browser is gone.
        """
        if self._lost:
            raise ConnectionError(_GONE)
        self._attached = asyncio.get_running_loop().create_future()
        self._write({"id": ATTACH, "method": "Target.attachToBrowserTarget"})
        self._own = await self._attached
        self._ours.add(self._own)
        # Playwright would be shown each of our tabs, halted, to say that it does not want it: a detour for
        # every tab, and a tab that stays halted for ever when Playwright's driver has died.
        params = {"autoAttach": False, "waitForDebuggerOnStart": False, "flatten": True}
        command = {"id": LEAVE_TABS_ALONE, "method": "Target.setAutoAttach", "params": params}
        self._write(command)

    def bind(self, on_message: Callable[[str | None, Message], None], on_lost: Callable[[], None]) -> None:
        """See Wire."""
        self._on_message = on_message
        self._on_lost = on_lost
        if self._lost:
            on_lost()

    def send(self, session_id: str | None, message: Message) -> None:
        """See Wire."""
        message["sessionId"] = session_id or self._own
        self._write(message)

    def close(self) -> None:
        """Close every end: Chromium exits when its pipe does."""
        for transport in self._transports:
            if not transport.is_closing():
                transport.close()

    def _from_playwright(self, message: bytes) -> None:
        if self._to_chromium is not None and not self._to_chromium.is_closing():
            self._to_chromium.write(message + b"\0")

    def _from_chromium(self, message: bytes) -> None:
        session_id = _session_of(message)
        if session_id in self._ours:
            self._take(session_id, json.loads(message))
        elif message.startswith(b'{"id":%d,' % ATTACH):
            if self._attached is not None and not self._attached.done():
                self._attached.set_result(json.loads(message)["result"]["sessionId"])
        elif message.startswith(b'{"id":%d,' % LEAVE_TABS_ALONE):
            return  # Playwright did not ask, and stops working on an answer that it cannot place
        elif self._to_playwright is not None and not self._to_playwright.is_closing():
            self._to_playwright.write(message + b"\0")

    def _take(self, session_id: str | None, message: Message) -> None:
        # A session is ours from the moment it is announced on one of ours, before anything it says.
        method = message.get("method")
        if method == "Target.attachedToTarget":
            self._ours.add(message["params"]["sessionId"])
        elif method == "Target.detachedFromTarget":
            self._ours.discard(message["params"]["sessionId"])
        self._on_message(None if session_id == self._own else session_id, message)

    def _write(self, message: Message) -> None:
        if not self._outgoing:
            asyncio.get_running_loop().call_soon(self._flush)
        self._outgoing.append(_ENCODED(message).encode())

    def _flush(self) -> None:
        """All commands of one turn in one write: a tenth of the server's time went into writes."""
        outgoing, self._outgoing = self._outgoing, []
        if self._to_chromium is not None and not self._to_chromium.is_closing():
            self._to_chromium.write(b"\0".join(outgoing) + b"\0")

    def _driver_gone(self) -> None:
        """Chromium's pipe is ours: it goes on without Playwright, and the visits in it do not notice."""
        if self._to_playwright is not None and not self._to_playwright.is_closing():
            self._to_playwright.close()
        self._to_playwright = None

    def _end(self) -> None:
        if not self._lost:
            self._lost = True
            self.close()
            if self._attached is not None and not self._attached.done():
                self._attached.set_exception(ConnectionError(_GONE))
            self._on_lost()


def _session_of(message: bytes) -> str | None:
    tail = message[-TAIL_BYTES:]
    at = tail.rfind(b'"sessionId":"')
    return tail[at + 13 : -2].decode("latin-1") if at >= 0 and tail.endswith(b'"}') else None


async def _readable(peer: socket.socket) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    # By its number: whoever gives up waiting may have closed it.
    descriptor = peer.fileno()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
