"""Two sockets joined: the hot path, which every byte of every page passes.

Measured, CPU of this process (Python 3.11, loopback, 128 MB and 400 connections of 30 kB):

    asyncio.Protocol, transport.write        0.48 ms/MB   0.28 ms a connection
    asyncio.BufferedProtocol, 64 kB          0.40 ms/MB   0.24 ms
    bare sockets, add_reader, 64 kB          0.45 ms/MB   0.23 ms
    bare sockets, add_reader, 256 kB         0.40 ms/MB   0.25 ms
    bare sockets, add_reader, 1 MB           0.27 ms/MB   0.23 ms   <- this
    os.splice through a pipe (Linux only)    0.26 ms/MB   0.28 ms, and two more descriptors each way

The whole wall on two busy cores (`python -m benchmarks.egress`): 0.28-0.44 ms a MB, and 10-13 ms for a page
of 40 resources, which Chromium loads over 38 connections.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Protocol

from browsers.egress.traffic_log import TrafficLog

BUFFER_BYTES = 1024 * 1024
"""One for all connections of a loop: each turn reads and sends before it gives the loop back."""


class ByteCounter(Protocol):
    """Who counts the bytes, and what happens when they are used up."""

    @property
    def ledger(self) -> TrafficLog:
        """Of the visit that is going on."""
        ...

    def overflow(self) -> None:
        """The visit's bytes are used up."""
        ...


class Pump:
    """One direction of a link: what the source says, the sink hears."""

    __slots__ = (
        "_buffer",
        "_link",
        "_loop",
        "_pending",
        "_sink",
        "_sink_fd",
        "_source",
        "_source_fd",
        "_watching",
        "ended",
        "moved",
    )

    def __init__(self, link: Relay, source: socket.socket, sink: socket.socket, buffer: memoryview) -> None:
        self._link = link
        self._loop = link.loop
        self._source = source
        self._sink = sink
        # Watched by number: of a socket that is not watched yet, the selector makes an error with its repr,
        # which asks the kernel for both of its addresses: a quarter of the CPU of the wall went there.
        self._source_fd = source.fileno()
        self._sink_fd = sink.fileno()
        self._buffer = buffer
        self._pending = memoryview(b"")
        self.moved = False
        self.ended = False
        # Whoever had the socket before may have left a watch on it, which then is ours to end.
        self._watching = True

    def start(self, first: bytes = b"") -> None:
        """Begin, with what was read from the source already."""
        if first:
            self._count(len(first))
        if not self._link.closed:
            self._watch_source()
            self._pass_on(memoryview(first))

    def stop(self) -> None:
        """Watch neither source nor sink any more."""
        if self._watching:
            self._loop.remove_reader(self._source_fd)
        if self._pending:
            self._loop.remove_writer(self._sink_fd)

    def _watch_source(self) -> None:
        self._watching = True
        self._loop.add_reader(self._source_fd, self._read)

    def _leave_source(self) -> None:
        self._watching = False
        self._loop.remove_reader(self._source_fd)

    def _read(self) -> None:
        try:
            count = self._source.recv_into(self._buffer)
        except BlockingIOError:
            return
        except OSError:
            self._link.close()
            return
        if not count:
            self._end()
        elif self._count(count):
            self._pass_on(self._buffer[:count])

    def _count(self, count: int) -> bool:
        """Whether so many bytes more may pass."""
        raise NotImplementedError

    def _pass_on(self, data: memoryview) -> None:
        try:
            sent = self._sink.send(data) if data else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self._link.close()
            return
        if sent < len(data):
            # A sink that is slower than its source holds the source back: nothing more is read meanwhile.
            self._pending = memoryview(bytes(data[sent:]))
            self._leave_source()
            self._loop.add_writer(self._sink_fd, self._flush)

    def _flush(self) -> None:
        try:
            sent = self._sink.send(self._pending)
        except BlockingIOError:
            return
        except OSError:
            self._link.close()
            return
        self._pending = self._pending[sent:]
        if not self._pending:
            self._loop.remove_writer(self._sink_fd)
            self._watch_source()

    def _end(self) -> None:
        """The source has said its last; the other direction may go on."""
        self._leave_source()
        self.ended = True
        try:
            self._sink.shutdown(socket.SHUT_WR)
        except OSError:
            self._link.close()
            return
        self._link.ended_one()


class DownloadPump(Pump):
    """From the site to the browser."""

    __slots__ = ()

    def _count(self, count: int) -> bool:
        self.moved = True
        ledger = self._link.meter.ledger
        ledger.down_bytes += count
        ledger.last_byte_at = self._link.last_byte_at = time.monotonic()
        if ledger.down_bytes > ledger.wire_bytes:
            self._link.meter.overflow()
            return False
        return True


class UploadPump(Pump):
    """From the browser to the site."""

    __slots__ = ("left",)

    left: int | None
    """How many bytes may still go up on this connection; None for any number."""

    def _count(self, count: int) -> bool:
        self.moved = True
        ledger = self._link.meter.ledger
        ledger.up_bytes += count
        ledger.last_byte_at = self._link.last_byte_at = time.monotonic()
        if ledger.up_bytes > ledger.wire_bytes:
            self._link.meter.overflow()
            return False
        if self.left is not None:
            self.left -= count
            if self.left < 0:
                self._link.close()
                return False
        return True


class Relay:
    """Two connected sockets, owned until both sides have ended or one broke."""

    __slots__ = ("_far", "_near", "_on_close", "closed", "down", "last_byte_at", "loop", "meter", "up")

    def __init__(
        self,
        near: socket.socket,
        far: socket.socket,
        *,
        meter: ByteCounter,
        buffer: memoryview,
        on_close: Callable[[], None],
        up_left: int | None = None,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.meter = meter
        self.closed = False
        self.last_byte_at = time.monotonic()
        self._near = near
        self._far = far
        self._on_close = on_close
        self.up = UploadPump(self, near, far, buffer)
        self.up.left = up_left
        self.down = DownloadPump(self, far, near, buffer)

    def ended_one(self) -> None:
        """One direction is over; with the other, so is the link."""
        if self.up.ended and self.down.ended:
            self.close()

    def close(self) -> None:
        """Close both sockets now."""
        if self.closed:
            return
        self.closed = True
        self.up.stop()
        self.down.stop()
        self._near.close()
        self._far.close()
        self._on_close()
