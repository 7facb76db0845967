"""One process a document, used once: started, told, watched, ended, always reaped.

One that is loaded and waits is kept ready once the first document has come, so that the next need not wait
for imports; it is never used for a second document.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scraper.workers import single_use_main
from scraper.workers.errors import WorkerDiedError, WorkerFailedError, WorkerMemoryError, WorkerTimeoutError
from scraper.workers.sandbox import SandboxLimits

_INHERITED = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""A parser of hostile bytes needs no tokens and no proxy passwords in its environment."""
_SPARING = {"MALLOC_ARENA_MAX": "1", "RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Each thread of a native reader would map 64 MB of addresses of its own."""

_CHUNK = 1 << 18
_EXIT_LIMIT_S = 5.0
_READY_LIMIT_S = 30.0
"""For imports on a busy machine; alone they take a fifth of a second."""
_WARM_IDLE_S = 600.0
"""A loaded process costs 50 MB; where no document comes for so long it is let go."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Bounds that are kept from outside, whatever the process does."""

    wall_s: float = 30.0
    memory_bytes: int = 600_000_000
    """Resident; looked at every `look_s`."""
    answer_bytes: int = 64 << 20
    look_s: float = 0.05
    allowance: SandboxLimits = field(default_factory=SandboxLimits)


class SingleUseProcesses:
    """Hands each document to a process of its own; a few at once."""

    def __init__(
        self, at_once: int | None = None, *, watch: ResourceLimits | None = None, keep_warm: bool = True
    ) -> None:
        self._room = asyncio.Semaphore(at_once or min(4, os.cpu_count() or 1))
        self._watch = watch or ResourceLimits()
        self._keep_warm = keep_warm
        self._warm: asyncio.Task[_Child] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._open = True
        self._ending: set[asyncio.Task[None]] = set()

    async def run(
        self, asked: Mapping[str, Any], data: bytes, *, limit_s: float | None = None
    ) -> dict[str, Any]:
        """The answer of a process to one document, as it gave it: not to be trusted further than a page.

        Raises:
            WorkerTimeout: it took too long, by the clock or by the processor, and was killed.
            WorkerMemory: it took too much memory.
            WorkerDied: it crashed.
            WorkerFailed: it answered nonsense.
        """
        wall_s = min(self._watch.wall_s, limit_s or self._watch.wall_s)
        try:
            # Who waits for room waits for others: that time is none of this document's.
            async with self._room, asyncio.timeout(wall_s), self._child() as child:
                answer = await child.answer(asked, data, self._watch)
        except TimeoutError:
            raise WorkerTimeoutError(f"it took longer than {wall_s:g} s") from None
        return answer

    async def close(self) -> None:
        """End what waits; what is under way ends with its call."""
        self._open = False
        await self._let_go()
        await asyncio.gather(*self._ending, return_exceptions=True)

    @asynccontextmanager
    async def _child(self) -> AsyncIterator[_Child]:
        if not self._open:
            raise WorkerDiedError("the readers of documents are closed")
        child = await self._taken()
        try:
            yield child
        finally:
            await child.end()
            if self._keep_warm and self._open and self._warm is None:
                self._warm = asyncio.get_running_loop().create_task(self._warmed())
                self._rest()

    async def _taken(self) -> _Child:
        """The one that waits, or a new one."""
        warm, self._warm = self._warm, None
        if warm is not None:
            with contextlib.suppress(WorkerDiedError, TimeoutError):
                child = await _unless_cancelled(warm)
                await asyncio.sleep(0)  # news of its death may wait to be heard
                if child.alive:
                    return child
                await child.end()
        return await _Child.start(self._watch.allowance, warm=False)

    async def _warmed(self) -> _Child:
        child = await _Child.start(self._watch.allowance, warm=True)
        try:
            await child.ready()
        except BaseException:
            await child.end()
            raise
        return child

    def _rest(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        loop = asyncio.get_running_loop()

        def drop() -> None:
            task = loop.create_task(self._let_go())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

        self._idle = loop.call_later(_WARM_IDLE_S, drop)

    async def _let_go(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        warm, self._warm = self._warm, None
        if warm is None:
            return
        warm.cancel()
        with contextlib.suppress(asyncio.CancelledError, WorkerDiedError, TimeoutError):
            await (await warm).end()


async def _unless_cancelled(task: asyncio.Task[_Child]) -> _Child:
    """The child of a task; who leaves while it starts leaves no child behind."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, WorkerDiedError, TimeoutError):
            await (await task).end()
        raise


class _Child:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._is_ready = False
        self._resident_bytes = 0
        self._watch_bytes = 0
        self._over_memory = False

    @classmethod
    async def start(cls, allowance: SandboxLimits, *, warm: bool) -> _Child:
        """A new process, not yet ready; its death is this process's concern alone."""
        setup = {
            "path": _import_path(),
            "allowance": asdict(allowance),
            "warm": warm,
            "parent": os.getpid(),
        }
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                single_use_main.__file__,
                json.dumps(setup),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={name: os.environ[name] for name in _INHERITED if name in os.environ} | _SPARING,
                cwd=Path(single_use_main.__file__).anchor,
                start_new_session=True,
                limit=_CHUNK,
            )
        except OSError as error:
            raise WorkerDiedError(f"no process can be started: {error.strerror}") from error
        return cls(process)

    @property
    def alive(self) -> bool:
        """Whether it has not ended, as far as is known."""
        stdout = self._process.stdout
        return self._process.returncode is None and stdout is not None and not stdout.at_eof()

    async def ready(self) -> None:
        """Return when it has loaded everything.

        Raises:
            WorkerDied: it ended before.
            TimeoutError: it did not get there.
        """
        if self._is_ready:
            return
        async with asyncio.timeout(_READY_LIMIT_S):
            await self._exactly(1)
        self._is_ready = True

    async def answer(self, asked: Mapping[str, Any], data: bytes, watch: ResourceLimits) -> dict[str, Any]:
        """What it says of a document, while its memory is watched."""
        await self.ready()
        self._watch_bytes = watch.memory_bytes
        watcher = asyncio.get_running_loop().create_task(self._watch_memory(watch))
        try:
            await self._send(json.dumps(asked).encode(), data)
            head = await self._exactly(single_use_main.LENGTH.size)
            (length,) = single_use_main.LENGTH.unpack(head)
            if length > watch.answer_bytes:
                raise WorkerMemoryError("its answer was larger than any document")
            return _understood(await self._exactly(length))
        finally:
            watcher.cancel()

    async def end(self) -> None:
        """Kill it and all it may have started, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_LIMIT_S):
                await self._process.wait()

    async def _send(self, *frames: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            for frame in frames:
                stdin.write(single_use_main.LENGTH.pack(len(frame)))
                stdin.write(frame)
            await stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died; what it left on its way out is read next

    async def _exactly(self, count: int) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None
        pieces = bytearray()
        while len(pieces) < count:
            piece = await stdout.read(min(_CHUNK, count - len(pieces)))
            if not piece:
                raise await self._death()
            pieces += piece
        return bytes(pieces)

    async def _death(self) -> WorkerFailedError:
        """Why it ended: by a limit or by itself."""
        code = await self._process.wait()
        # Native readers abort where there is no memory left; nobody but us and the system's own last resort
        # against too little memory kills.
        starved = code == -signal.SIGABRT and self._resident_bytes > self._watch_bytes / 2
        if self._over_memory or starved or code == -signal.SIGKILL:
            return WorkerMemoryError("it needed more memory than it may have")
        if code == -signal.SIGXCPU:
            return WorkerTimeoutError("it took more processor time than it may have")
        return WorkerDiedError(f"its process died ({_named(code)})")

    async def _watch_memory(self, watch: ResourceLimits) -> None:
        """End when it holds too much, having killed it; where nothing tells, its own limit stands."""
        statm = f"/proc/{self._process.pid}/statm"
        while self.alive:
            try:
                resident = _resident_bytes(statm)
            except (OSError, IndexError, ValueError):
                await asyncio.sleep(3_600)
                continue
            self._resident_bytes = max(resident, self._resident_bytes)
            if resident > watch.memory_bytes:
                self._over_memory = True
                os.killpg(self._process.pid, signal.SIGKILL)
                return
            await asyncio.sleep(watch.look_s)


def _import_path() -> list[str]:
    return [os.path.abspath(entry) for entry in sys.path]


def _resident_bytes(statm: str) -> int:
    """What a process holds; the file is the kernel's, and reading it never waits."""
    with open(statm, encoding="ascii") as opened:
        return int(opened.read().split()[1]) * _PAGE_BYTES


def _understood(answer: bytes) -> dict[str, Any]:
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise WorkerFailedError("its answer could not be read") from error
    if not isinstance(data, dict):
        raise WorkerFailedError("its answer could not be read")
    return data


def _named(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
