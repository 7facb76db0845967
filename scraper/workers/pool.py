"""A few worker processes, handed out in the order of asking, replaced when they die."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar, TypeVarTuple

from scraper.errors import plainly
from scraper.workers.errors import NoWorkerError, WorkerDiedError, WorkerTimeoutError
from scraper.workers.worker_process import ForkServerClient, ProcessGoneError, Worker, packed

MAX_WORKERS = 4
MEMORY_BYTES = 1 << 30
START_LIMIT_S = 30.0
"""For imports on a busy machine; alone they take a third of a second."""

FAILED_STARTS = 3
"""After so many in a row those who wait are told; those that fail together, with their nursery, are one."""

PAUSE_S = 0.2
"""Before another start when one failed; doubled each time."""

PRELOAD = (
    "scraper.extract.reader:warm_up",
    "scraper.extract.fallback",
    "scraper.retrieval.passages",
    "scraper.engines.registry",
)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Workers:
    """Runs functions of importable modules, with plain arguments and results, in other processes."""

    def __init__(
        self,
        count: int | None = None,
        *,
        memory_bytes: int = MEMORY_BYTES,
        preload: tuple[str, ...] = PRELOAD,
    ) -> None:
        self.count = count or min(MAX_WORKERS, os.cpu_count() or 1)
        self._memory_bytes = memory_bytes
        self._preload = preload
        self._nursery: ForkServerClient | None = None
        self._workers: set[Worker] = set()
        self._idle: deque[Worker] = deque()
        self._waiting: deque[asyncio.Future[Worker]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed_starts = 0
        self._failed_at = -math.inf
        """When the last of them was counted."""
        self._open = False

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Begin to start the processes; calls wait until one is there."""
        self._open = True
        for _ in range(self.count):
            self._raise_worker()

    async def run(self, function: Callable[[*Ts], T], *args: *Ts, limit_s: float = 5.0) -> T:
        """What `function(*args)` returns or raises in a worker; `limit_s` counts from when it has one.

        Raises:
            WorkerTimeout: it took longer; its process was killed.
            WorkerMemory: it needed more memory than it may have.
            WorkerDied: its process died, and that of the second try too; as NoWorker: there is none.
            WorkerFailed: it raised something that cannot travel.
        """
        if limit_s <= 0:
            raise WorkerTimeoutError("there was no time left for it")
        request = packed(limit_s, function, args)
        for last in (False, True):
            worker = await self._take()
            try:
                result: T = await self._call(worker, request, limit_s)
                return result
            except ProcessGoneError as error:
                if last or not self._open:
                    raise WorkerDiedError(
                        "its process died" if self._open else "the workers are closed"
                    ) from error
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """End all processes; calls under way fail with WorkerDied."""
        self._open = False
        for task in self._tasks:
            task.cancel()
        for future in self._waiting:
            if not future.done():
                future.set_exception(WorkerDiedError("the workers are closed"))
        for worker in self._workers:
            worker.interrupt()
        while self._idle:
            self._drop(self._idle.popleft())
        if self._nursery is not None:
            nursery, self._nursery = self._nursery, None
            await nursery.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def pids(self) -> tuple[int, ...]:
        """All processes, the nursery first."""
        first = () if self._nursery is None else (self._nursery.pid,)
        return first + tuple(worker.pid for worker in self._workers if worker.pid is not None)

    @property
    def waiting(self) -> int:
        """Calls that have no worker yet."""
        return len(self._waiting)

    async def _call(self, worker: Worker, request: bytes, limit_s: float) -> Any:
        """One call; a worker that did not come to its end is not used again."""
        timer = asyncio.timeout(limit_s)
        try:
            async with timer:
                return await worker.call(request)
        except TimeoutError as error:
            if not timer.expired():
                raise
            raise WorkerTimeoutError(f"it took longer than {limit_s:g} s") from error
        finally:
            if worker.usable and self._open:
                self._hand_on(worker)
            else:
                self._replace(worker)

    async def _take(self) -> Worker:
        """An idle worker; whoever asked first gets the next."""
        while self._idle:
            worker = self._idle.popleft()
            if worker.alive:
                return worker
            self._replace(worker)
        if not self._open:
            raise WorkerDiedError("the workers are closed")
        future: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._hand_on(future.result())
            raise

    def _hand_on(self, worker: Worker) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(worker)
                return
        self._idle.append(worker)

    def _replace(self, worker: Worker) -> None:
        self._drop(worker)
        if self._open:
            self._raise_worker()

    def _drop(self, worker: Worker) -> None:
        self._workers.discard(worker)
        worker.end()

    def _raise_worker(self) -> None:
        task = asyncio.get_running_loop().create_task(self._start_one())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_one(self) -> None:
        """Start until one is up; who waits is told when it fails again and again."""
        while True:
            worker: Worker | None = None
            began_at = time.monotonic()
            try:
                worker = self._fork()
                self._workers.add(worker)
                async with asyncio.timeout(START_LIMIT_S):
                    await worker.greeted()
            except (ProcessGoneError, OSError, TimeoutError) as error:
                if worker is not None:
                    self._drop(worker)
                await self._note_failure(error, began_at)
            except asyncio.CancelledError:
                if worker is not None:
                    self._drop(worker)
                raise
            else:
                self._failed_starts = 0
                self._hand_on(worker)
                return

    def _fork(self) -> Worker:
        if self._nursery is not None and not self._nursery.alive:
            self._nursery.let_go()
            self._nursery = None
        if self._nursery is None:
            self._nursery = ForkServerClient(preload=self._preload, memory_bytes=self._memory_bytes)
        return self._nursery.fork()

    async def _note_failure(self, error: Exception, began_at: float) -> None:
        if began_at >= self._failed_at + PAUSE_S:
            self._failed_starts += 1
            self._failed_at = time.monotonic()
        if self._failed_starts >= FAILED_STARTS:
            while self._waiting:
                future = self._waiting.popleft()
                if not future.done():
                    future.set_exception(NoWorkerError(f"no worker process can be started: {plainly(error)}"))
        await asyncio.sleep(PAUSE_S * min(2**self._failed_starts, 32))
