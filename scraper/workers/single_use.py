"""Run each document job in a sandboxed process that is used only once.

After the first document, one loaded process waits, so that the next document does not wait for imports.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scraper.workers.messages import WorkerDiedError, WorkerFailedError, WorkerMemoryError, WorkerTimeoutError
from scraper.workers.process import Channel, ProcessGoneError, create_socket_pair, launch, read_cpu_s, wait_for_exit
from scraper.workers.sandbox import SandboxLimits

JOB = "scraper.documents.confined_job:parse"
"""Function of the job: `function(data, request, confine)`, which returns a JSON object."""
_PRELOAD = ("scraper.documents.confined_job:warm_up",)
"""Functions that a process calls before it waits for its document, to load their modules."""

_ENVIRONMENT = {"MALLOC_ARENA_MAX": "1", "RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Environment that limits threads: each thread of a native reader would map 64 MB of addresses of its own."""

_READY_LIMIT_S = 30.0
"""Seconds for imports on a busy machine; alone they take a fifth of a second."""
_WARM_IDLE_S = 600.0
"""Seconds until a waiting process is ended, because it needs 50 MB."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Limits enforced by the server from outside, and those of the sandbox."""

    wall_s: float = 120.0
    """Seconds of wall time. The sandbox limits CPU time: on a busy machine 3 s of it took over 30 s."""
    stalled_s: float = 20.0
    """Seconds without any use of CPU time, after which a process is killed."""
    memory_bytes: int = 600_000_000
    """Resident bytes; checked every `poll_s`."""
    answer_bytes: int = 64 << 20
    poll_s: float = 0.05
    sandbox: SandboxLimits = field(default_factory=SandboxLimits)


class SingleUseProcesses:
    """Run each job in a process of its own, a few at once."""

    def __init__(
        self, concurrency: int | None = None, *, limits: ResourceLimits | None = None, keep_warm: bool = True
    ) -> None:
        """Run up to `concurrency` jobs at once, by default one per CPU, at most 4, and keep a loaded process."""
        self._semaphore = asyncio.Semaphore(concurrency or min(4, os.cpu_count() or 1))
        self._limits = limits or ResourceLimits()
        self._keep_warm = keep_warm
        self.warm_process: asyncio.Task[_SingleUseProcess] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._is_open = True
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self, request: Mapping[str, Any], data: bytes, *, limit_s: float | None = None) -> dict[str, Any]:
        """Return the JSON object of the job, which is as untrusted as a web page.

        The limit of wall time is the smaller of `limit_s` and `wall_s`, without the wait for a free slot. A job without
        an answer raises a kind of WorkerFailedError.
        """
        wall_s = min(self._limits.wall_s, limit_s or self._limits.wall_s)
        try:
            async with self._semaphore, asyncio.timeout(wall_s):
                return await self._run_once(request, data)
        except TimeoutError:
            raise WorkerTimeoutError(f"the document took longer than {wall_s:g} s") from None

    async def close(self) -> None:
        """End the waiting process; running ones end with their call."""
        self._is_open = False
        await self._end_warm_process()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _run_once(self, request: Mapping[str, Any], data: bytes) -> dict[str, Any]:
        if not self._is_open:
            raise WorkerDiedError("the document processes are closed")
        process = await self._take_process()
        try:
            return await process.run(request, data, self._limits)
        finally:
            await process.end()
            if self._keep_warm and self._is_open and self.warm_process is None:
                self.warm_process = asyncio.get_running_loop().create_task(self._start_warm_process())
                if self._idle_timer is not None:
                    self._idle_timer.cancel()
                self._idle_timer = asyncio.get_running_loop().call_later(_WARM_IDLE_S, self._end_soon)

    async def _take_process(self) -> _SingleUseProcess:
        warm, self.warm_process = self.warm_process, None
        if warm is not None:
            with contextlib.suppress(WorkerFailedError, TimeoutError):
                try:
                    process = await asyncio.shield(warm)
                except asyncio.CancelledError:
                    await _cancel_start(warm)
                    raise
                if process.is_open:
                    return process
                await process.end()
        return _SingleUseProcess(self._limits.sandbox, preload=())

    async def _start_warm_process(self) -> _SingleUseProcess:
        process = _SingleUseProcess(self._limits.sandbox, preload=_PRELOAD)
        try:
            await process.wait_until_ready()
        except BaseException:
            await process.end()
            raise
        return process

    def _end_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self._end_warm_process())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_warm_process(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        warm, self.warm_process = self.warm_process, None
        if warm is not None:
            await _cancel_start(warm)


async def _cancel_start(start: asyncio.Task[_SingleUseProcess]) -> None:
    start.cancel()
    with contextlib.suppress(asyncio.CancelledError, WorkerFailedError, TimeoutError):
        await (await start).end()


class _SingleUseProcess(Channel):
    """Channel to one process, which starts when this object is created."""

    def __init__(self, limits: SandboxLimits, *, preload: tuple[str, ...]) -> None:
        ours, theirs = create_socket_pair()
        try:
            self._process: subprocess.Popen[bytes] = launch(
                {"job": JOB, "preload": preload}, theirs, limits, environment=_ENVIRONMENT, has_stderr=False
            )
        except OSError as error:
            ours.close()
            raise WorkerDiedError(f"no process can be started: {error.strerror}") from error
        super().__init__(ours)
        self._exit = asyncio.get_running_loop().create_task(wait_for_exit(self._process))
        self._is_ready = self._is_over_memory = self._is_stalled = False
        self._resident_bytes = self._memory_limit_bytes = 0

    async def wait_until_ready(self) -> None:
        if self._is_ready:
            return
        async with asyncio.timeout(_READY_LIMIT_S):
            await self._receive(0)
        self._is_ready = True

    async def run(self, request: Mapping[str, Any], data: bytes, limits: ResourceLimits) -> dict[str, Any]:
        """Send request and data, and return the answer; kill the process if it needs too much memory or stalls."""
        await self.wait_until_ready()
        self._memory_limit_bytes = limits.memory_bytes
        watch = asyncio.get_running_loop().create_task(self._watch(limits))
        try:
            # A process that died meanwhile may have answered before: read that first.
            with contextlib.suppress(ProcessGoneError):
                await self.send(json.dumps(request).encode(), data)
            answer = await self._receive(limits.answer_bytes)
            with contextlib.suppress(ValueError, RecursionError):
                if isinstance(found := json.loads(answer), dict):
                    return found
            raise WorkerFailedError("the answer could not be read")
        finally:
            watch.cancel()

    async def end(self) -> None:
        self._kill()
        self.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5.0):
                await asyncio.shield(self._exit)

    async def _receive(self, max_bytes: int) -> bytes:
        try:
            return await self.receive(max_bytes)
        except ProcessGoneError:
            raise await self._explain_exit() from None

    async def _explain_exit(self) -> WorkerFailedError:
        """Return the error for the end of the process: an exceeded limit, or a crash."""
        code = await asyncio.shield(self._exit)
        # Native readers abort when memory runs out. Only this server and the kernel's OOM killer send SIGKILL.
        is_out_of_memory = code == -signal.SIGABRT and self._resident_bytes > self._memory_limit_bytes / 2
        if self._is_stalled:
            return WorkerTimeoutError("the process of the document stalled")
        if self._is_over_memory or is_out_of_memory or code == -signal.SIGKILL:
            return WorkerMemoryError("the document needed more memory than it may have")
        if code == -signal.SIGXCPU:
            return WorkerTimeoutError("the document took more CPU time than it may have")
        names = {-member.value: member.name for member in signal.Signals}
        cause = f"exit code {code}" if code >= 0 else names.get(code, f"signal {-code}")
        return WorkerDiedError(f"the process of the document died ({cause})")

    async def _watch(self, limits: ResourceLimits) -> None:
        """Kill the process when it exceeds its memory or stalls; without /proc only the sandbox limits it."""
        pid, loop = self._process.pid, asyncio.get_running_loop()
        last_cpu_s, active_at = -1.0, loop.time()
        while not self._exit.done():
            try:
                resident, cpu_s = _read_resident_bytes(f"/proc/{pid}/statm"), read_cpu_s(pid)
            except (OSError, IndexError, ValueError):
                await asyncio.sleep(3_600)
                continue
            self._resident_bytes = max(resident, self._resident_bytes)
            if cpu_s != last_cpu_s:
                last_cpu_s, active_at = cpu_s, loop.time()
            self._is_over_memory = resident > limits.memory_bytes
            self._is_stalled = loop.time() - active_at > limits.stalled_s
            if self._is_over_memory or self._is_stalled:
                self._kill()
                return
            await asyncio.sleep(limits.poll_s)

    def _kill(self) -> None:
        """Kill the process group, even if the process itself has ended: it may have started others."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _read_resident_bytes(statm: str) -> int:
    with open(statm, encoding="ascii") as opened:
        return int(opened.read().split()[1]) * _PAGE_BYTES
