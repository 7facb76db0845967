"""The server's end of the worker processes: starting them, speaking with one, ending them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from scraper.workers import forkserver
from scraper.workers.errors import WorkerFailedError, WorkerMemoryError

_INHERITED = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")
"""Parsers of hostile pages need no tokens and no proxy passwords in their environment."""

_SINGLE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1"}
"""There are as many workers as are wanted at once: threads of numpy's own (macOS's library has the last name)
would only wait for each other, and none of them outlives a fork."""

_TRUSTED = (
    "scraper.model",
    "scraper.errors",
    "scraper.extract",
    "scraper.retrieval",
    "scraper.engines",
    "browsers.model",
    "browsers.errors",
    "datetime",
)
"""Modules whose classes an answer may hold; exceptions may come from any module that is loaded here."""

_FACELESS = ("browsers",)
"""Its data are wanted in a worker; its face would import Playwright and asyncio: .12 s more than .18 s."""

_CHUNK = 1 << 16
_EXIT_LIMIT_S = 2.0
_LOOK_S = 0.2
"""Between two looks whether the nursery lives, while a worker starts."""
_BUFFER_BYTES = 1 << 20
"""A page fits into the socket, so that neither side wakes more often than once."""


class ProcessGoneError(Exception):
    """The process at the other end is no more."""


class ForkServerClient:
    """The process that forks workers. Made in the thread that stays: its death would be the nursery's."""

    def __init__(self, *, preload: tuple[str, ...], memory_bytes: int) -> None:
        self._control, theirs = socket.socketpair()
        path = [os.path.abspath(entry) for entry in sys.path]
        setup = {"path": path, "faceless": _FACELESS, "preload": preload, "memory_bytes": memory_bytes}
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    forkserver.__file__,
                    str(theirs.fileno()),
                    json.dumps(setup),
                    str(os.getpid()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=_SINGLE | {name: os.environ[name] for name in _INHERITED if name in os.environ},
                start_new_session=True,
                cwd=Path(forkserver.__file__).anchor,
            )
        self._forked = 0

    @property
    def alive(self) -> bool:
        """Whether it can still fork."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def fork(self) -> Worker:
        """A new worker; it is there when it has said so.

        Raises:
            Gone: the nursery is.
        """
        self._forked += 1
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        ours.setblocking(False)
        command = forkserver.COMMAND.pack(forkserver.FORK, self._forked)
        try:
            socket.send_fds(self._control, [command], [theirs.fileno()])
        except OSError as error:
            ours.close()
            theirs.close()
            raise ProcessGoneError("the nursery is gone") from error
        return Worker(self, self._forked, ours, theirs)

    def kill(self, number: int) -> None:
        """Kill one worker."""
        with contextlib.suppress(OSError):
            self._control.send(forkserver.COMMAND.pack(forkserver.KILL, number))

    def let_go(self) -> None:
        """Close the socket: it ends, and its workers with it."""
        self._control.close()

    async def close(self) -> None:
        """End it and all its workers."""
        self.let_go()
        for pause_s in (0.002, 0.005, 0.01, 0.02, *[0.05] * int(_EXIT_LIMIT_S / 0.05)):
            if not self.alive:
                return
            await asyncio.sleep(pause_s)
        self._process.kill()
        self._process.wait()


class Worker:
    """One worker process and the socket to it; makes one call at a time."""

    def __init__(
        self, parent: ForkServerClient, number: int, channel: socket.socket, theirs: socket.socket
    ) -> None:
        self.pid: int | None = None
        self.usable = False
        """It came to the end of its last call, and means to stay."""
        self._parent = parent
        self._number = number
        self._channel = channel
        self._theirs: socket.socket | None = theirs
        if sys.platform != "darwin":  # there, a socket under way must stay open until it has arrived
            self._close_theirs()

    @property
    def alive(self) -> bool:
        """Whether an idle worker is still there."""
        try:
            return bool(self._channel.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    async def greeted(self) -> None:
        """Return when the process is up.

        Raises:
            Gone: it died before.
        """
        # Where our own copy of its socket is still open, no end of file tells that nobody will come.
        watch = asyncio.create_task(self._interrupt_without_nursery())
        try:
            self.pid = _loads(await self._receive())
        finally:
            watch.cancel()
        self._close_theirs()

    async def _interrupt_without_nursery(self) -> None:
        while self._parent.alive:  # noqa: ASYNC110  # the end of a process sets no event
            await asyncio.sleep(_LOOK_S)
        self.interrupt()

    async def call(self, request: bytes) -> Any:
        """The answer to a packed call.

        Raises:
            Gone: the process died.
            WorkerMemory: it ran out of memory.
            WorkerFailed: the function raised what cannot travel.
        """
        self.usable = False
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(self._channel, forkserver.LENGTH.pack(len(request)) + request)
        except OSError as error:
            raise ProcessGoneError("the worker died") from error
        kind, leaving, value = _loads(await self._receive())
        self.usable = not leaving
        if kind == forkserver.RESULT:
            return value
        if kind == forkserver.RAISED:
            raise _rebuilt(*value)
        if kind == forkserver.MEMORY:
            raise WorkerMemoryError("it needed more memory than a worker may have")
        raise WorkerFailedError(f"its answer could not be sent: {value}")

    def end(self) -> None:
        """Wake whoever waits for this worker, kill it, and let go of it."""
        self._close_theirs()
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        self._channel.close()
        self._parent.kill(self._number)

    def interrupt(self) -> None:
        """Wake whoever waits for this worker: it is gone."""
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)

    def _close_theirs(self) -> None:
        if self._theirs is not None:
            self._theirs.close()
            self._theirs = None

    async def _receive(self) -> bytes:
        loop = asyncio.get_running_loop()
        try:
            data = await loop.sock_recv(self._channel, _CHUNK)
            while data and len(data) < forkserver.LENGTH.size:
                data += await loop.sock_recv(self._channel, _CHUNK)
            if not data:
                raise ProcessGoneError("the worker died")
            (length,) = forkserver.LENGTH.unpack_from(data)
            payload = bytearray(length)
            got = len(data) - forkserver.LENGTH.size
            payload[:got] = data[forkserver.LENGTH.size :]
            view = memoryview(payload)
            while got < length:
                count = await loop.sock_recv_into(self._channel, view[got:])
                if not count:
                    raise ProcessGoneError("the worker died")
                got += count
        except OSError as error:
            raise ProcessGoneError("the worker died") from error
        return bytes(view)


def packed(limit_s: float, function: object, arguments: tuple[object, ...]) -> bytes:
    """A call as a worker takes it."""
    return forkserver.dumps((limit_s, function, arguments))


class _Unpickler(pickle.Unpickler):
    """Takes data, not programs: a page that breaks a parser and takes over its process gets no further."""

    def find_class(self, module: str, name: str) -> Any:
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if isinstance(found, type) and (issubclass(found, BaseException) or _is_trusted(module)):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is not taken from a worker")


def _is_trusted(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _TRUSTED)


def _loads(payload: bytes) -> Any:
    try:
        return _Unpickler(io.BytesIO(payload)).load()
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, TypeError, ValueError) as error:
        raise WorkerFailedError(f"its answer could not be read: {error}") from error


def _rebuilt(
    kind: type[BaseException], arguments: tuple[Any, ...], state: dict[str, Any], trace: str
) -> BaseException:
    """The exception as it was raised, without running its constructor again; its origin as a note."""
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(state)
    error.add_note(f"In a worker:\n{trace}")
    return error
