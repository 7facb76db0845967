"""What waits to be written: bounded, in order, and tried again when the database is back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from scraper.store.postgres.errors import PostgresUnavailableError

T = TypeVar("T")

log = logging.getLogger(__name__)

QUEUE_LIMIT = 256
"""Items that may wait; as many pages as SQLite's writer takes."""
QUEUE_BYTES = 64_000_000
"""Of items that wait for a database that is away: memory is for pages that are being read."""
RETRY_S = 2.0
RETRY_AT_MOST_S = 15.0


class WriteBehindQueue(Generic[T]):
    """Hands batches to `write`, which raises `PostgresUnavailableError` when they are to be tried again."""

    def __init__(self, write: Callable[[list[T]], Awaitable[None]], *, batch: int) -> None:
        self.lost = 0
        """Items that found no room."""
        self._write = write
        self._batch = batch
        self._waiting: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._put = self._done = 0
        self._failed_tries = 0
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._tried = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, item: T, size_bytes: int) -> bool:
        """Queue an item; False when there is no room."""
        if len(self._waiting) >= QUEUE_LIMIT or self._bytes + size_bytes > QUEUE_BYTES:
            self.lost += 1
            return False
        self._waiting.append((item, size_bytes))
        self._bytes += size_bytes
        self._put += 1
        self._begin()
        return True

    async def settled(self) -> None:
        """Wait until all that was put is written, or a try of now has failed."""
        put, failed = self._put, self._failed_tries
        self._wake.set()
        self._begin()
        while self._done < put and self._failed_tries == failed:
            self._tried.clear()
            await self._tried.wait()

    async def settled_within(self, limit_s: float) -> None:
        """The same, for no longer than so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self.settled()

    async def close(self) -> None:
        """Stop trying; what waits is lost."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self.lost += len(self._waiting)
        if self._waiting:
            log.warning("left unwritten at the end, as the shared store was away: %d", len(self._waiting))

    def _begin(self) -> None:
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._send())
            self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Nobody waits for what a fault of our own has ended; the next who puts something begins anew."""
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.error("what waits for the shared store could not be written: %r", fault)
            self._failed_tries += 1
            self._tried.set()

    async def _send(self) -> None:
        pause_s = RETRY_S
        while self._waiting:
            batch = [self._waiting[at][0] for at in range(min(self._batch, len(self._waiting)))]
            try:
                await self._write(batch)
            except PostgresUnavailableError:
                self._failed_tries += 1
                self._tried.set()
                await self._pause(pause_s)
                pause_s = min(2 * pause_s, RETRY_AT_MOST_S)
                continue
            pause_s = RETRY_S
            for _ in batch:
                self._bytes -= self._waiting.popleft()[1]
            self._done += len(batch)
            self._tried.set()

    async def _pause(self, seconds: float) -> None:
        """Wait, or until somebody wants to know."""
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
