"""Processes of `python -m MODULE` that a warm process forks, which has imported what they import.

A start of the command line or a server costs a second of CPU, nearly all of it for imports.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import struct
import subprocess
import sys
from asyncio.base_subprocess import BaseSubprocessTransport
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from pathlib import Path
from typing import IO, Any, cast

__all__ = ["MODULES", "ForkServer"]

MODULES = frozenset({"scraper.cli.main", "tests.scraper.server.stand_in"})
"""Modules that are run by a fork."""

_PRELOAD = (*MODULES, *"scraper.server.application scraper.services playwright.async_api uvicorn aiohttp".split())
_NUMBER = struct.Struct("i")
_REPOSITORY = Path(__file__).parents[1]


class ForkServer:
    """The warm process; start processes with it."""

    def __init__(self) -> None:
        """Start the process; its modules load in the background."""
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forked_python", str(theirs.fileno())],
                cwd=_REPOSITORY,
                pass_fds=(theirs.fileno(),),
            )

    async def start(
        self, module: str, *arguments: str, env: dict[str, str], files: tuple[int | None, int | None, int], limit: int
    ) -> Process:
        """Return a process like that of `asyncio.create_subprocess_exec`; `files` are as in `subprocess`."""
        loop = asyncio.get_running_loop()
        command = {"module": module, "arguments": arguments, "env": env}
        protocol = SubprocessStreamProtocol(limit=limit, loop=loop)
        started = loop.create_future()
        transport = _ForkTransport(self, command, started, loop, protocol, files)
        await started
        return Process(transport, protocol, loop)

    def fork(self, command: dict[str, Any], files: list[int]) -> tuple[int, socket.socket]:
        """Return the number of a new process, and a socket on which its exit code arrives."""
        told, theirs = socket.socketpair()
        with theirs:
            request = json.dumps(command).encode()
            socket.send_fds(self._control, [_NUMBER.pack(len(request))], [theirs.fileno(), *files])
            self._control.sendall(request)
        return _NUMBER.unpack(told.recv(_NUMBER.size, socket.MSG_WAITALL))[0], told

    def close(self) -> None:
        """End the warm process."""
        self._control.close()
        self._process.wait()


class _Forked:
    """As much of `subprocess.Popen` as asyncio uses."""

    def __init__(self, pid: int, pipes: list[IO[bytes] | None]) -> None:
        self.pid = pid
        self.stdin, self.stdout, self.stderr = pipes
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class _ForkTransport(BaseSubprocessTransport):
    """Transport of asyncio whose process is a fork."""

    def __init__(
        self,
        server: ForkServer,
        command: dict[str, Any],
        started: asyncio.Future[None],
        loop: asyncio.AbstractEventLoop,
        protocol: SubprocessStreamProtocol,
        files: tuple[int | None, int | None, int],
    ) -> None:
        self._server, self._command = server, command
        stdin, stdout, stderr = files
        super().__init__(loop, protocol, (), False, stdin, stdout, stderr, 0, waiter=started)

    def _start(self, args: Any, shell: bool, stdin: Any, stdout: Any, stderr: Any, bufsize: int, **_: Any) -> None:
        given: list[int] = []
        ours: list[IO[bytes] | None] = []
        closed = []
        for number, wanted in enumerate((stdin, stdout, stderr)):
            if wanted == PIPE:
                # Both ends of standard input are sockets, as in asyncio, which notices when the other end closes.
                ends = [end.detach() for end in socket.socketpair()] if number == 0 else list(os.pipe())
                theirs, mine = ends if number == 0 else ends[::-1]
                given.append(theirs)
                closed.append(theirs)
                ours.append(os.fdopen(mine, "wb" if number == 0 else "rb", buffering=0))
                continue
            if wanted is None or wanted >= 0:
                given.append(number if wanted is None else wanted)
            else:
                closed.append(os.open(os.devnull, os.O_RDWR))
                given.append(closed[-1])
            ours.append(None)
        pid, self._told = self._server.fork(self._command, given)
        for end in closed:
            os.close(end)
        self._proc = cast(Any, _Forked(pid, ours))
        self._loop.add_reader(self._told, self._exited)

    def _exited(self) -> None:
        self._loop.remove_reader(self._told)
        answer = self._told.recv(_NUMBER.size)
        self._told.close()
        self._process_exited(_NUMBER.unpack(answer)[0] if answer else -signal.SIGKILL)


def _serve(control: socket.socket) -> None:
    """Fork a process for each request until the socket closes, in which this function returns."""
    for module in _PRELOAD:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    # The child of each fork waits for its own child, so this process need not wait for either.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        length, files, _, _ = socket.recv_fds(control, _NUMBER.size, 4)
        if not length:
            sys.exit()
        request = control.recv(_NUMBER.unpack(length)[0], socket.MSG_WAITALL)
        if os.fork() == 0:
            break
        for end in files:
            os.close(end)
    control.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    told, *streams = files
    if pid := os.fork():
        for end in streams:
            os.close(end)
        os.write(told, _NUMBER.pack(pid))
        status = os.waitpid(pid, 0)[1]
        with contextlib.suppress(OSError):
            os.write(told, _NUMBER.pack(os.waitstatus_to_exitcode(status)))
        # A normal exit would spend time on cleaning up modules, and no process reads its status.
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(told)
    for number, end in enumerate(streams):
        os.dup2(end, number)
    for end in streams:
        if end > 2:
            os.close(end)
    # The streams of the warm process remember whether its files can be sought in.
    for number, (name, mode) in enumerate((("stdin", "rb"), ("stdout", "wb"), ("stderr", "wb"))):
        old = getattr(sys, name)
        binary = open(number, mode, closefd=False)  # noqa: SIM115 - it stays open as long as the process
        is_line_buffered = name == "stderr" or binary.isatty()
        new = io.TextIOWrapper(binary, encoding=old.encoding, errors=old.errors, line_buffering=is_line_buffered)
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    command = json.loads(request)
    os.environ.clear()
    os.environ.update(command["env"])
    sys.argv = [command["module"], *command["arguments"]]
    # Otherwise `runpy` warns that it is imported already.
    del sys.modules[command["module"]]


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
