"""What runs in the worker processes. Started as a script, so that nothing of the server is imported here.

One process, the nursery, imports the pure rooms once and forks workers on demand: a new one is there in
milliseconds, warm, and shares the memory of the imports. Nobody outlives the server: the nursery ends when
its socket closes, its children when the nursery does.

To the nursery: one letter and the number of a worker: `F` fork, with the worker's socket attached; `K` kill.
To a worker and back: a length of 8 bytes, then a pickle.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import enum
import functools
import gc
import importlib
import importlib.machinery
import io
import json
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import traceback
import types
from typing import Any

COMMAND = struct.Struct("<cI")
LENGTH = struct.Struct("<Q")
FORK, KILL = b"F", b"K"

RESULT, RAISED, FAULT, MEMORY = range(4)
"""How a call ended: a value; an exception; one that cannot travel, told in words; no memory left."""

PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""

GRACE_S = 1.0
"""A worker whose server is gone and which hangs kills itself this long after its limit."""

RECYCLE_CALLS = 2_000
"""libxml2 keeps every name it ever saw, and a heap never shrinks to what it was."""

RECYCLE_BYTES = 300 * 1024 * 1024

COLLECT_AFTER = 20_000
"""Objects made and not freed between two searches for cycles. A page makes some thousands, none in a cycle:
at Python's 700 the searches take 5 % of its reading."""


def main(arguments: list[str]) -> None:
    """Import, then fork and kill as told until the socket closes."""
    die_with(int(arguments[2]))
    control = socket.socket(fileno=int(arguments[0]))
    setup = json.loads(arguments[1])
    sys.path[:] = setup["path"]
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    for name in setup["faceless"]:
        without_face(name)
    for name in setup["preload"]:
        prepare(name)
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    ForkServer(control, setup["memory_bytes"]).serve()


def prepare(name: str) -> None:
    """Import a module, or call `module:function`, whose result all workers then share."""
    module, _, function = name.partition(":")
    imported = importlib.import_module(module)
    if function:
        getattr(imported, function)()


def without_face(package: str) -> None:
    """Let modules of a package be imported without what its `__init__` brings along."""
    spec = importlib.machinery.PathFinder.find_spec(package)
    if spec is not None:
        module = types.ModuleType(package)
        module.__path__ = list(spec.submodule_search_locations or ())
        sys.modules[package] = module


class ForkServer:
    """Parent of all workers; reaps them, so that a number never stands for another process."""

    def __init__(self, control: socket.socket, memory_bytes: int) -> None:
        self._control = control
        self._memory_bytes = memory_bytes
        self._children: dict[int, int] = {}
        self._wake_read, self._wake_write = os.pipe()
        for end in (self._wake_read, self._wake_write):
            os.set_blocking(end, False)
        # Not `select`, which ends at number 1,023: the socket has the number it had in the server.
        self._events = select.poll()
        for end in (control.fileno(), self._wake_read):
            self._events.register(end, select.POLLIN)

    def serve(self) -> None:
        """Until the server closes the socket or is gone."""
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
            self._reap()
        return self._control.fileno() not in ready or self._obey()

    def _obey(self) -> bool:
        command, sockets, _, _ = socket.recv_fds(self._control, COMMAND.size, 1, socket.MSG_WAITALL)
        if len(command) < COMMAND.size:
            return False
        letter, number = COMMAND.unpack(command)
        if letter == FORK:
            self._fork(number, sockets[0])
        elif number in self._children:
            os.kill(self._children[number], signal.SIGKILL)
        return True

    def _fork(self, number: int, channel: int) -> None:
        nursery = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            with socket.socket(fileno=channel) as refused, contextlib.suppress(OSError):
                # Closing alone tells nobody where the server has kept a copy open.
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
            die_with(nursery)
            work(socket.socket(fileno=channel), self._memory_bytes)
        except ConnectionError:
            pass  # the server closed before this worker had begun
        except Exception:  # the end of this process: what is not told here is never told
            traceback.print_exc()
        finally:
            os._exit(0)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) > 0:
                self._children = {number: child for number, child in self._children.items() if child != pid}


def die_with(parent: int) -> None:
    """Be killed when the parent dies, where the system can do that; at once if it is gone already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def work(channel: socket.socket, memory_bytes: int) -> None:
    """Call what is sent, answer, until the channel closes or it is time for a fresh process."""
    limit_memory(memory_bytes)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    channel.sendall(frame(pickle.dumps(os.getpid())))
    for calls in range(1, RECYCLE_CALLS + 1):
        request = receive(channel)
        if request is None:
            return
        kind, value = call(request)
        leaving = kind == MEMORY or calls == RECYCLE_CALLS or peak_bytes() > RECYCLE_BYTES
        channel.sendall(answer(kind, value, leaving))
        if leaving:
            return


def call(request: bytearray) -> tuple[int, Any]:
    """How a call ends, and with what."""
    try:
        limit_s, function, arguments = pickle.loads(request)
        signal.setitimer(signal.ITIMER_REAL, limit_s + GRACE_S)
        try:
            return RESULT, function(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except MemoryError:
        return MEMORY, None
    except Exception as error:
        return RAISED, (type(error), error.args, error.__dict__, told(error))


def answer(kind: int, value: Any, leaving: bool) -> bytes:
    """The frame of an answer; a value that cannot be sent is told in words."""
    try:
        return frame(dumps((kind, leaving, value)))
    except MemoryError:
        return frame(pickle.dumps((MEMORY, True, None)))
    except Exception as error:
        words = value[3] if kind == RAISED else told(error)
        return frame(pickle.dumps((FAULT, leaving, words)))


def told(error: BaseException) -> str:
    """The end of an error's traceback; it goes to the log and never to a user."""
    return "".join(traceback.format_exception(error))[-4000:]


def dumps(value: Any) -> bytes:
    """A pickle, in which read-only mappings may stand; they arrive as dictionaries."""
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, 5)
    pickler.dispatch_table = {types.MappingProxyType: lambda mapping: (dict, (dict(mapping),))}
    pickler.dump(value)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    """Writes an enum's member and a dataclass as a call of its class.

    Of enums early releases of Python 3.11 (Debian 12 has 3.11.2) write a call of `getattr`, which is rightly
    refused. Of dataclasses with slots, Python asks for the list of their fields at both ends: a thousand
    links took 3.2 ms there, and so take 1.2.
    """

    def reducer_override(self, value: Any) -> Any:
        kind: Any = type(value)
        fields = _plain_fields(kind)
        if fields is not None:
            return kind, tuple([getattr(value, name) for name in fields])
        return (kind, (value.value,)) if isinstance(value, enum.Enum) else NotImplemented


@functools.cache
def _plain_fields(kind: type[object]) -> tuple[str, ...] | None:
    """What a dataclass is made of, where calling it makes an equal one; None for all other classes."""
    if not dataclasses.is_dataclass(kind) or kind.__dictoffset__ or hasattr(kind, "__post_init__"):
        return None
    fields = dataclasses.fields(kind)
    is_plain = all(field.init and not field.kw_only for field in fields)
    return tuple(field.name for field in fields) if is_plain else None


def frame(payload: bytes) -> bytes:
    """A pickle with its length before it."""
    return LENGTH.pack(len(payload)) + payload


def receive(channel: socket.socket) -> bytearray | None:
    """The next pickle; None when the channel is closed."""
    head = channel.recv(LENGTH.size, socket.MSG_WAITALL)
    if len(head) < LENGTH.size:
        return None
    payload = bytearray(LENGTH.unpack(head)[0])
    view, got = memoryview(payload), 0
    while got < len(payload):
        count = channel.recv_into(view[got:])
        if not count:
            return None
        got += count
    return payload


def limit_memory(memory_bytes: int) -> None:
    """Address space, where the system keeps such a limit; and no core dumps of other people's pages."""
    for kind, most in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


def peak_bytes() -> int:
    """The most memory this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    main(sys.argv[1:])
