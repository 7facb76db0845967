"""Pool of worker processes: run functions in processes that can be killed and are replaced when they die."""

import asyncio
import math
import os
import time
from collections.abc import Callable
from typing import Any, Self, TypeVar, TypeVarTuple

from scraper.errors import format_error
from scraper.workers.messages import NoWorkerError, WorkerDiedError, WorkerTimeoutError, dump_message
from scraper.workers.process import ForkServerClient, ProcessGoneError, Worker

_MEMORY_BYTES = 1 << 30
"""Maximum bytes of the address space of a worker, and maximum bytes of an answer."""
_START_LIMIT_S = 30.0
"""Seconds for imports on a busy machine; alone they take a third of a second."""

_FAILED_STARTS = 3
"""Failed starts in a row that end waiting calls. Those that fail together with their fork server count as one."""

_WALL_RATIO = 10
"""Ratio of time to CPU time up to which a call may be slowed down by a busy machine. Measured: 3 s of CPU took 30 s."""
_CHECK_S = 0.02
"""Minimum seconds between two checks of a worker's CPU time: two ticks of the kernel's count."""

PAUSE_S = 0.2
"""Seconds. The pause after a failed start is this, doubled for each failure, up to 32 times this."""

_PRELOAD = tuple(
    "scraper.extract.reader:warm_up scraper.extract.timeout_fallback scraper.retrieval.passage_selection "
    "scraper.retrieval.sentence_score scraper.engines.registry scraper.engines.sources "
    "scraper.words.matcher:load_words".split()
)
"""Modules that the fork server imports; the function in `module:function` is called too."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class WorkerPool:
    """Run functions of importable modules, with picklable arguments and results, in worker processes."""

    def __init__(self, count: int | None = None, *, preload: tuple[str, ...] = _PRELOAD, is_lazy: bool = False) -> None:
        """Configure the pool; by default one worker per CPU, at most 4. If `is_lazy`, the first call starts them."""
        self.queued = 0
        """Calls that have no worker yet."""
        self.count = count or min(4, os.cpu_count() or 1)
        self._preload = preload
        self._fork_server: ForkServerClient | None = None
        self._workers: set[Worker] = set()
        self._idle: asyncio.Queue[Worker | None] = asyncio.Queue()
        """Workers without a call, and a None for each waiting call that is to fail."""
        self._turns = asyncio.Lock()
        """Held by the call that waits first: asyncio's queue alone may serve a later call before it."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed_starts = 0
        self._failed_at = -math.inf
        """Monotonic time of the last counted failure."""
        self._failure: Exception | None = None
        self._is_open = False
        self._is_lazy = is_lazy

    async def __aenter__(self) -> Self:
        """Start the pool."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the pool."""
        await self.close()

    async def start(self) -> None:
        """Open the pool and, unless it is lazy, start the workers in the background; calls wait until one is ready."""
        self._is_open = True
        if not self._is_lazy:
            self._start_workers()

    def start_soon(self) -> None:
        """Start the workers in the background if the pool is lazy and no call has started them."""
        if self._is_lazy and self._is_open:
            self._start_workers()

    async def run(
        self, function: Callable[[*Ts], T], *args: *Ts, limit_s: float = 5.0, deadline_s: float = math.inf
    ) -> T:
        """Return or raise what `function(*args)` returns or raises in a worker.

        A call whose worker died is tried once more. `limit_s` limits the CPU time of the worker, `deadline_s` the time
        since the call has a worker, at most `_WALL_RATIO` times `limit_s`. A call without a result raises a kind of
        WorkerFailedError.
        """
        wall_s = min(deadline_s, _WALL_RATIO * limit_s)
        if wall_s <= 0:
            raise WorkerTimeoutError("no time was left for the call")
        request = dump_message((wall_s, function, args))
        self.start_soon()
        for is_last_try in (False, True):
            worker = await self._take()
            try:
                result: T = await self._call(worker, request, limit_s, wall_s)
                return result
            except ProcessGoneError as error:
                if is_last_try or not self._is_open:
                    raise WorkerDiedError("its process died" if self._is_open else "the workers are closed") from error
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """End all processes; running calls fail with WorkerDiedError."""
        self._is_open = False
        for task in self._tasks:
            task.cancel()
        for worker in self._workers:
            worker.interrupt()
        while not self._idle.empty():
            if (idle := self._idle.get_nowait()) is not None:
                self._drop(idle)
        self._fail_waiting_calls()
        if self._fork_server is not None:
            fork_server, self._fork_server = self._fork_server, None
            await fork_server.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _call(self, worker: Worker, request: bytes, limit_s: float, wall_s: float) -> Any:
        """Run one call; replace the worker if the call did not end."""
        timer, loop = asyncio.timeout(None), asyncio.get_running_loop()
        ends_at, used_before_s, exceeded = loop.time() + wall_s, worker.cpu_s(), ""

        handle: asyncio.TimerHandle

        def check() -> None:
            """End the call if it used too much CPU time, or took too long."""
            nonlocal handle, exceeded
            used_s, wall_left_s = worker.cpu_s(), ends_at - loop.time()
            # Without `/proc`, its time counts as CPU time.
            left_s = 0.0 if used_before_s is None else limit_s - ((used_s or used_before_s) - used_before_s)
            if left_s > 0 and wall_left_s > 0:
                handle = loop.call_later(max(_CHECK_S, min(left_s, wall_left_s)), check)
                return
            exceeded = f"{wall_s:g} s" if wall_left_s <= 0 else f"{limit_s:g} s of CPU time"
            timer.reschedule(loop.time())

        handle = loop.call_later(min(limit_s, wall_s), check)
        try:
            async with timer:
                return await worker.call(request)
        except TimeoutError as error:
            if not timer.expired():
                raise
            raise WorkerTimeoutError(f"the call took longer than {exceeded}") from error
        finally:
            handle.cancel()
            if worker.is_usable and self._is_open:
                self._idle.put_nowait(worker)
            else:
                self._replace(worker)

    async def _take(self) -> Worker:
        """Return an idle worker; waiting calls get one in the order of arrival."""
        self.queued += 1
        try:
            async with self._turns:
                while self._is_open:
                    worker = await self._idle.get()
                    if worker is not None and worker.is_open:
                        return worker
                    if worker is not None:
                        self._replace(worker)
                    elif self._failure is not None:
                        raise NoWorkerError(f"no worker process can be started: {format_error(self._failure)}")
        finally:
            self.queued -= 1
        raise WorkerDiedError("the workers are closed")

    def _fail_waiting_calls(self) -> None:
        for _ in range(self.queued):
            self._idle.put_nowait(None)

    def _replace(self, worker: Worker) -> None:
        self._drop(worker)
        if self._is_open:
            self._start_worker()

    def _drop(self, worker: Worker) -> None:
        self._workers.discard(worker)
        worker.end()

    def _start_workers(self) -> None:
        self._is_lazy = False
        for _ in range(self.count):
            self._start_worker()

    def _start_worker(self) -> None:
        task = asyncio.get_running_loop().create_task(self._start_one())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_one(self) -> None:
        """Try to start a worker until one is ready; waiting calls fail after repeated failures."""
        while True:
            worker: Worker | None = None
            began_at = time.monotonic()
            try:
                worker = self._fork()
                self._workers.add(worker)
                async with asyncio.timeout(_START_LIMIT_S):
                    await worker.wait_until_ready()
            except (ProcessGoneError, OSError, TimeoutError, asyncio.CancelledError) as error:
                if worker is not None:
                    self._drop(worker)
                if isinstance(error, asyncio.CancelledError):
                    raise
                if began_at >= self._failed_at + PAUSE_S:
                    self._failed_starts += 1
                    self._failed_at = time.monotonic()
                if self._failed_starts >= _FAILED_STARTS:
                    self._failure = error
                    self._fail_waiting_calls()
                await asyncio.sleep(PAUSE_S * min(2**self._failed_starts, 32))
            else:
                self._failed_starts, self._failure = 0, None
                self._idle.put_nowait(worker)
                return

    def _fork(self) -> Worker:
        if self._fork_server is not None and not self._fork_server.is_alive:
            self._fork_server.release()
            self._fork_server = None
        if self._fork_server is None:
            self._fork_server = ForkServerClient(preload=self._preload, memory_bytes=_MEMORY_BYTES)
        return self._fork_server.fork()
