"""Start worker processes, exchange frames with them, and end them, from the server's side."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scraper.workers import bootstrap, messages
from scraper.workers.messages import WorkerMemoryError
from scraper.workers.sandbox import SandboxLimits

_INHERITED = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Environment variables that processes inherit. Others, such as tokens, are kept from parsers of hostile data."""

_FORK_SERVER_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1"}
"""One thread for numpy (macOS's library has the last name): there are as many workers as should run at once, so more
threads would only wait for each other, and threads do not survive a fork."""

_CHUNK_BYTES = 1 << 16
_BUFFER_BYTES = 1 << 20
"""Bytes of a socket's send buffer. A whole page fits, so that each side wakes only once."""
_EXIT_POLL_S = 0.02
"""Seconds between two checks whether a process has ended, on systems that do not report it."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_POLL_S = 0.2
"""Seconds between two checks that the fork server is alive, while a worker starts."""


class ProcessGoneError(Exception):
    """The process at the other end of a channel has ended."""


class Channel:
    """Socket to one process, on which both sides send frames in turn."""

    def __init__(self, end: socket.socket) -> None:
        """Use a connected socket."""
        self._socket = end
        end.setblocking(False)

    @property
    def is_open(self) -> bool:
        """Return True while the other end is open and has sent nothing, as an idle process should."""
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    async def send(self, *payloads: bytes) -> None:
        """Send one frame per payload; raise ProcessGoneError if the other end is closed."""
        loop = asyncio.get_running_loop()
        try:
            for payload in payloads:
                await loop.sock_sendall(self._socket, messages.pack_frame(payload))
        except OSError as error:
            raise ProcessGoneError("the worker died") from error

    async def receive(self, max_bytes: int) -> bytes:
        """Return the payload of the next frame, or raise ProcessGoneError, or WorkerMemoryError beyond `max_bytes`."""
        loop = asyncio.get_running_loop()
        try:
            data = b""
            while len(data) < messages.LENGTH.size:
                more = await loop.sock_recv(self._socket, _CHUNK_BYTES)
                if not more:
                    raise ProcessGoneError("the worker died")
                data += more
            (length,) = messages.LENGTH.unpack_from(data)
            if length > max_bytes:
                raise WorkerMemoryError(f"the answer is larger than {max_bytes:,} bytes")
            payload = bytearray(length)
            data = data[messages.LENGTH.size : messages.LENGTH.size + length]
            payload[: len(data)] = data
            view, count = memoryview(payload), len(data)
            while count < length:
                read = await loop.sock_recv_into(self._socket, view[count:])
                if not read:
                    raise ProcessGoneError("the worker died")
                count += read
        except OSError as error:
            raise ProcessGoneError("the worker died") from error
        return bytes(payload)

    def interrupt(self) -> None:
        """Wake the task that waits for a frame with a ProcessGoneError."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket, and wake the task that waits for a frame."""
        self.interrupt()
        self._socket.close()


def create_socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets with large send buffers."""
    pair = socket.socketpair()
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
    return pair


def launch(
    setup: Mapping[str, Any],
    theirs: socket.socket,
    limits: SandboxLimits,
    *,
    environment: Mapping[str, str],
    has_stderr: bool,
) -> subprocess.Popen[bytes]:
    """Start a process that imports no part of the server and inherits only `theirs`; close that, or raise OSError.

    Call it in a thread that lives as long as the process: Linux kills the process when that thread ends.
    """
    full_setup = {
        "path": [os.path.abspath(entry) for entry in sys.path],
        "channel": theirs.fileno(),
        "parent": os.getpid(),
        "limits": asdict(limits),
        **setup,
    }
    with theirs:
        return subprocess.Popen(
            [sys.executable, "-I", bootstrap.__file__, json.dumps(full_setup)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if has_stderr else subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            env={**environment, **{name: os.environ[name] for name in _INHERITED if name in os.environ}},
            start_new_session=True,
            cwd=Path(bootstrap.__file__).anchor,
        )


async def wait_for_exit(process: subprocess.Popen[bytes]) -> int:
    """Reap a process and return its exit code."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # Already reaped, no descriptor left, or an old kernel.
            pidfd = os.pidfd_open(process.pid)
            ended = asyncio.Event()
            loop = asyncio.get_running_loop()
            loop.add_reader(pidfd, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(pidfd)
                os.close(pidfd)
    while (code := process.poll()) is None:  # noqa: ASYNC110  # elsewhere the end of a process sets no event
        await asyncio.sleep(_EXIT_POLL_S)
    return code


def read_cpu_s(pid: int) -> float:
    """Return the CPU time of a process, user and system; raise OSError, IndexError or ValueError without `/proc`."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as opened:
        fields = opened.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


class ForkServerClient:
    """Start, command and end the process that forks the workers of a pool."""

    def __init__(self, *, preload: tuple[str, ...], memory_bytes: int) -> None:
        """Start the process; its modules load in the background."""
        self._control, theirs = socket.socketpair()
        self.memory_bytes = memory_bytes
        environment = dict(_FORK_SERVER_ENVIRONMENT)
        if "TMPDIR" in os.environ:
            environment["TMPDIR"] = os.environ["TMPDIR"]
        limits = SandboxLimits(memory_bytes, cpu_s=None, output_bytes=None, open_files=None)
        self._process = launch({"preload": preload}, theirs, limits, environment=environment, has_stderr=True)
        self.pid = self._process.pid
        self._forked = 0

    @property
    def is_alive(self) -> bool:
        """Return True while it can fork."""
        return self._process.poll() is None

    def fork(self) -> "Worker":
        """Start a worker for `Worker.wait_until_ready`; raise ProcessGoneError if the fork server has ended."""
        self._forked += 1
        ours, theirs = create_socket_pair()
        command = messages.COMMAND.pack(messages.FORK, self._forked)
        try:
            socket.send_fds(self._control, [command], [theirs.fileno()])
        except OSError as error:
            ours.close()
            theirs.close()
            raise ProcessGoneError("the fork server is gone") from error
        return Worker(self, self._forked, ours, theirs)

    def kill(self, number: int) -> None:
        """Kill one worker."""
        with contextlib.suppress(OSError):
            self._control.send(messages.COMMAND.pack(messages.KILL, number))

    def release(self) -> None:
        """Close the socket, so that the fork server and its workers end."""
        self._control.close()

    async def close(self) -> None:
        """End the fork server and all its workers."""
        self.release()
        try:
            async with asyncio.timeout(2.0):
                await wait_for_exit(self._process)
        except TimeoutError:
            self._process.kill()
            self._process.wait()


class Worker(Channel):
    """Channel to one pool worker, which runs one call at a time."""

    def __init__(self, parent: ForkServerClient, number: int, ours: socket.socket, theirs: socket.socket) -> None:
        """Use a worker that the fork server is about to start."""
        super().__init__(ours)
        self.pid: int | None = None
        self.is_usable = False
        """Its last call ended, and it accepts another."""
        self._parent = parent
        self._number = number
        self._theirs: socket.socket | None = theirs
        if sys.platform != "darwin":  # There, a socket must stay open until the receiver has it.
            self._close_theirs()

    async def wait_until_ready(self) -> None:
        """Return when the process accepts calls; raise ProcessGoneError if it died before."""

        # While our own copy of its socket is open, the end of the fork server causes no end of file.
        async def watch() -> None:
            while self._parent.is_alive:  # noqa: ASYNC110  # the end of a process sets no event
                await asyncio.sleep(_POLL_S)
            self.interrupt()

        watching = asyncio.create_task(watch())
        try:
            self.pid = int(await self.receive(_CHUNK_BYTES))
        finally:
            watching.cancel()
        self._close_theirs()

    async def call(self, request: bytes) -> Any:
        """Return the result of a packed call; raise ProcessGoneError or as `unpack_result` does."""
        self.is_usable = False
        await self.send(request)
        answer = await self.receive(self._parent.memory_bytes)
        outcome, is_last, value = messages.load_answer(answer)
        self.is_usable = not is_last
        return messages.unpack_result(outcome, value)

    def cpu_s(self) -> float | None:
        """Return the CPU time of the process in seconds, or None if it is unknown."""
        try:
            return None if self.pid is None else read_cpu_s(self.pid)
        except (OSError, IndexError, ValueError):
            return None

    def end(self) -> None:
        """Kill the worker, and wake the task that waits for it."""
        self._close_theirs()
        self.close()
        self._parent.kill(self._number)

    def _close_theirs(self) -> None:
        if self._theirs is not None:
            self._theirs.close()
            self._theirs = None
