"""Code of the worker processes: the fork server, its pool workers, and single-use processes.

The fork server imports the pure packages once and forks workers on command. A new worker starts in milliseconds and
shares the memory of the imports. All processes end with the server: the fork server ends when its socket closes, its
children end when it does, and single-use processes end when their parent does.
"""

import contextlib
import gc
import importlib
import json
import os
import pickle
import pkgutil
import resource
import select
import signal
import socket
import sys
import traceback
from typing import Any

from scraper.workers import messages, sandbox

_GRACE_S = 1.0
"""Seconds. A hanging worker whose server is gone kills itself this long after its limit."""

_RECYCLE_CALLS = 2_000
"""Calls before a worker is replaced: libxml2 stores every name that it parsed, and a heap never shrinks."""

_RECYCLE_BYTES = 300 * 1024 * 1024
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1_024

COLLECT_AFTER = 200_000
"""Objects created and not freed between two garbage collections. More than most pages create, so that reading seldom
waits for one. With 20,000, a page takes 2 % longer. After 300 pages a worker has 14 MB more than then."""


def run(setup: dict[str, Any]) -> None:
    """Load the modules of the setup, and call their warm-up functions; then serve the channel until it closes."""
    sandbox.die_with_parent(setup["parent"])
    channel = socket.socket(fileno=setup["channel"])
    limits = sandbox.SandboxLimits(**setup["limits"])
    if "job" not in setup:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_IGN)
    else:
        gc.disable()  # One document makes few cycles, and the process ends after it.
    for name in setup["preload"]:
        module, _, function = name.partition(":")
        # `pkgutil.resolve_name` would hide which module is missing.
        loaded = importlib.import_module(module)
        if function:
            getattr(loaded, function)()
    if "job" in setup:
        channel.sendall(messages.pack_frame(b""))
        with channel.makefile("rb") as stream:
            request, data = messages.read_frame(stream), messages.read_frame(stream)
        if request is not None and data is not None:
            sandbox.apply_limits(limits)
            # The job loads its modules, confines the process, and only then reads the data.
            answer = pkgutil.resolve_name(setup["job"])(data, json.loads(request), sandbox.confine)
            with contextlib.suppress(ConnectionError):
                channel.sendall(messages.pack_frame(json.dumps(answer).encode("utf-8", "replace")))
        os._exit(0)
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    _ForkServer(channel, limits).serve()


class _ForkServer:
    """Parent of all pool workers. It reaps them itself, so that a process number never refers to another process."""

    def __init__(self, control: socket.socket, limits: sandbox.SandboxLimits) -> None:
        """Listen on the control socket and for ended children."""
        self._control = control
        self._limits = limits
        self._children: dict[int, int] = {}
        self._wake_read, self._wake_write = os.pipe()
        for end in (self._wake_read, self._wake_write):
            os.set_blocking(end, False)
        # Not `select`, which supports descriptors up to 1,023: the socket has the number it had in the server.
        self._events = select.poll()
        for end in (control.fileno(), self._wake_read):
            self._events.register(end, select.POLLIN)

    def serve(self) -> None:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        try:
            while self._step():
                pass
        finally:
            for pid in self._children.values():
                os.kill(pid, signal.SIGKILL)

    def _step(self) -> bool:
        ready = {end for end, _ in self._events.poll()}
        if self._wake_read in ready:
            os.read(self._wake_read, 4096)
            with contextlib.suppress(ChildProcessError):
                while (pid := os.waitpid(-1, os.WNOHANG)[0]) > 0:
                    self._children = {number: child for number, child in self._children.items() if child != pid}
        return self._control.fileno() not in ready or self._run_command()

    def _run_command(self) -> bool:
        command, sockets, _, _ = socket.recv_fds(self._control, messages.COMMAND.size, 1, socket.MSG_WAITALL)
        if len(command) < messages.COMMAND.size:
            return False
        letter, number = messages.COMMAND.unpack(command)
        if letter == messages.FORK:
            self._fork(number, sockets[0])
        elif number in self._children:
            os.kill(self._children[number], signal.SIGKILL)
        return True

    def _fork(self, number: int, channel: int) -> None:
        fork_server = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            with socket.socket(fileno=channel) as refused, contextlib.suppress(OSError):
                # Closing alone does not reach a server that still has a copy open.
                refused.shutdown(socket.SHUT_RDWR)
            return
        if pid:
            self._children[number] = pid
            os.close(channel)
            return
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.close()
            os.close(self._wake_read)
            os.close(self._wake_write)
            sandbox.die_with_parent(fork_server)
            _serve_calls(socket.socket(fileno=channel), self._limits)
        except ConnectionError:
            pass  # The server closed the channel before this worker was ready.
        except Exception:  # The process ends here: an error that is not printed is lost.
            traceback.print_exc()
        finally:
            os._exit(0)


def _serve_calls(channel: socket.socket, limits: sandbox.SandboxLimits) -> None:
    sandbox.apply_limits(limits)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    channel.sendall(messages.pack_frame(str(os.getpid()).encode()))
    with channel.makefile("rb") as stream:
        for calls in range(1, _RECYCLE_CALLS + 1):
            request = messages.read_frame(stream)
            if request is None:
                return
            outcome, value = _call(request)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            is_last = outcome == messages.MEMORY or calls == _RECYCLE_CALLS or peak * _PEAK_UNIT > _RECYCLE_BYTES
            channel.sendall(messages.pack_answer(outcome, value, is_last))
            if is_last:
                return


def _call(request: bytes) -> tuple[int, Any]:
    try:
        limit_s, function, arguments = pickle.loads(request)
        signal.setitimer(signal.ITIMER_REAL, limit_s + _GRACE_S)
        try:
            return messages.RESULT, function(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except MemoryError:
        return messages.MEMORY, None
    except Exception as error:
        return messages.RAISED, (type(error), error.args, error.__dict__, messages.format_traceback(error))
