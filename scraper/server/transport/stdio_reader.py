"""Read the lines of the client from standard input without a thread.

The SDK reads in a worker thread, and a thread that is blocked on a pipe cannot be ended: after SIGTERM, the process
would wait until its client disconnects. Here the event loop waits for the descriptor.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import stat
from collections.abc import AsyncIterator, Iterator

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
