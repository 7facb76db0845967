"""Relay bytes between two sockets. Every byte of every page takes this path.

Measured, CPU of this process (Python 3.11, loopback, 128 MB and 400 connections of 30 kB):

    asyncio.Protocol, transport.write        0.48 ms/MB   0.28 ms a connection
    asyncio.BufferedProtocol, 64 kB          0.40 ms/MB   0.24 ms
    bare sockets, add_reader, 64 kB          0.45 ms/MB   0.23 ms
    bare sockets, add_reader, 256 kB         0.40 ms/MB   0.25 ms
    bare sockets, add_reader, 1 MB           0.27 ms/MB   0.23 ms   <- this
    os.splice through a pipe (Linux only)    0.26 ms/MB   0.28 ms, and two more descriptors each way

The whole proxy on two busy cores (`python -m benchmarks.egress`): 0.28-0.44 ms a MB, and 10-13 ms for a page of 40
resources, which Chromium loads over 38 connections.
"""

import asyncio
import socket
import time
from collections.abc import Callable

BUFFER_BYTES = 1024 * 1024
"""Bytes of one buffer for all connections of a loop: each callback reads and sends before it returns."""


class _Pump:
    def __init__(
        self, relay: "Relay", source: socket.socket, sink: socket.socket, buffer: memoryview, *, is_upload: bool
    ) -> None:
        """Copy from `source` to `sink` through the shared buffer. An upload goes to the site."""
        self._relay = relay
        self._loop = relay.loop
        self._source = source
        self._sink = sink
        # Register by number: for an unregistered socket the selector raises an error with the socket's repr, which
        # reads both addresses from the kernel. That took a quarter of the proxy's CPU.
        self._source_fd = source.fileno()
        self._sink_fd = sink.fileno()
        self._buffer = buffer
        self._is_upload = is_upload
        self._pending = memoryview(b"")
        self.left: int | None = None
        """Bytes that may still pass on this connection, or None for no limit."""
        self.has_moved = False
        self.has_ended = False
        # The previous owner of the socket may have left a reader on it, which this object must remove.
        self._is_watching = True
        self._is_started = False

    def start(self, first: bytes = b"") -> None:
        """Start to copy, beginning with bytes already read from the source."""
        self._is_started = True
        if first:
            self._count(memoryview(first))
        if self._relay.is_closed:
            return
        if self._relay.is_paused:
            self._unwatch_source()
            self._pending = memoryview(first)
        else:
            self._watch_source()
            self._send(memoryview(first))

    def pause(self) -> None:
        """Move no bytes until `resume`. If not started, leave the source to its previous owner."""
        if self._is_started:
            self.stop()

    def resume(self) -> None:
        """Continue after `pause`."""
        if self._pending:
            self._loop.add_writer(self._sink_fd, self._flush)
        elif self._is_started and not self.has_ended:
            self._watch_source()

    def stop(self) -> None:
        """Remove the callbacks of source and sink."""
        if self._is_watching:
            self._unwatch_source()
        if self._pending:
            self._loop.remove_writer(self._sink_fd)

    def _watch_source(self) -> None:
        self._is_watching = True
        self._loop.add_reader(self._source_fd, self._read)

    def _unwatch_source(self) -> None:
        self._is_watching = False
        self._loop.remove_reader(self._source_fd)

    def _read(self) -> None:
        try:
            count = self._source.recv_into(self._buffer)
        except BlockingIOError:
            return
        except OSError:
            self._relay.close()
            return
        if not count:
            self._end()
        elif self._count(data := self._buffer[:count]):
            self._send(data)

    def _count(self, data: memoryview) -> bool:
        self.has_moved = True
        self._relay.last_byte_at = time.monotonic()
        if not self._relay.count_bytes(data, self._is_upload):
            return False
        if self.left is not None:
            self.left -= len(data)
            if self.left < 0:
                self._relay.close()
                return False
        return True

    def _send(self, data: memoryview) -> None:
        try:
            sent = self._sink.send(data) if data else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self._relay.close()
            return
        if sent < len(data):
            # Backpressure: read no more from the source until the sink has taken everything.
            self._pending = memoryview(bytes(data[sent:]))
            self._unwatch_source()
            self._loop.add_writer(self._sink_fd, self._flush)

    def _flush(self) -> None:
        try:
            sent = self._sink.send(self._pending)
        except BlockingIOError:
            return
        except OSError:
            self._relay.close()
            return
        self._pending = self._pending[sent:]
        if not self._pending:
            self._loop.remove_writer(self._sink_fd)
            self._watch_source()

    def _end(self) -> None:
        """Shut the sink down at the end of the source. The other direction may continue."""
        self._unwatch_source()
        self.has_ended = True
        try:
            self._sink.shutdown(socket.SHUT_WR)
        except OSError:
            self._relay.close()
            return
        if self._relay.up.has_ended and self._relay.down.has_ended:
            self._relay.close()


class Relay:
    """Relay bytes between two connected sockets until both directions have ended or one failed; then close both."""

    def __init__(
        self,
        near: socket.socket,
        far: socket.socket,
        *,
        count_bytes: Callable[[memoryview, bool], bool],
        buffer: memoryview,
        on_close: Callable[[], None],
    ) -> None:
        """Join two sockets; bytes pass if `count_bytes(data, is_upload)` returns True. `on_close` is called once."""
        self.loop = asyncio.get_running_loop()
        self.count_bytes = count_bytes
        self.is_closed = self.is_paused = False
        self.last_byte_at = time.monotonic()
        self._near = near
        self._far = far
        self._on_close = on_close
        self.up = _Pump(self, near, far, buffer, is_upload=True)
        self.down = _Pump(self, far, near, buffer, is_upload=False)

    def pause(self) -> None:
        """Move no bytes in either direction until `resume`."""
        self.is_paused = True
        self.up.pause()
        self.down.pause()

    def resume(self) -> None:
        """Continue after `pause`. The time of the pause does not count as idle."""
        if self.is_paused:
            self.is_paused = False
            self.last_byte_at = time.monotonic()
            self.up.resume()
            self.down.resume()

    def close(self) -> None:
        """Close both sockets now."""
        if self.is_closed:
            return
        self.is_closed = True
        self.up.stop()
        self.down.stop()
        self._near.close()
        self._far.close()
        self._on_close()
