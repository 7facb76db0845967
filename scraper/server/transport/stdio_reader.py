"""Reads the client's lines from standard input without a thread.

The SDK reads standard input in a worker thread, and a thread that is blocked on a pipe cannot be ended: after
SIGTERM such a process waits for its client to hang up. Here the event loop waits for the descriptor instead.
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
"""A longer message is dropped: the same bound as for an HTTP body."""


@contextlib.contextmanager
def private_stdin() -> Iterator[int]:
    """Move standard input to a descriptor of ours, so that no child process can read from the client."""
    wire = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        yield wire
    finally:
        os.dup2(wire, 0)
        os.close(wire)


class StdinReader:
    """The lines of a descriptor, decoded, until the client or `end` ends them."""

    def __init__(self, descriptor: int) -> None:
        self.ended = asyncio.Event()
        self._descriptor = descriptor
        self._is_file = _is_file(descriptor)
        self._ending = False
        self._ready = asyncio.Event()

    def end(self) -> None:
        """End here, as if the client had hung up."""
        self._ending = True
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        held = bytearray()
        while chunk := await self._chunk():
            for index, piece in enumerate(chunk.split(b"\n")):
                if index:
                    yield held.decode("utf-8", "replace")
                    held = bytearray()
                _keep(held, piece)
        self.ended.set()
        if held:
            yield held.decode("utf-8", "replace")

    async def _chunk(self) -> bytes:
        """What there is to read; empty at the end."""
        await self._readable()
        if self._ending:
            return b""
        try:
            return os.read(self._descriptor, _CHUNK_BYTES)
        except OSError:  # the terminal of an interactive client was closed
            return b""

    async def _readable(self) -> None:
        if self._is_file:
            # Always readable: Linux cannot poll it, and macOS would wait at its end for more to be written.
            return await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(self._descriptor, self._ready.set)
        except OSError:  # a device that cannot be polled, as macOS says of /dev/null
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


def _keep(held: bytearray, piece: bytes) -> None:
    """Append, unless the line is already too long to be a message: what is left of it is then no JSON."""
    if len(held) <= _LINE_BYTES:
        held += piece
