"""Write queue in front of a slow store: bounded, in order, with retries, and searchable until items are written."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)

QUEUE_LIMIT = 256
"""Items that may wait for writing. Further items are rejected and count as lost."""
QUEUE_BYTES = 64_000_000
"""Bytes of items that may wait while a database is unreachable; the pages being read need memory too."""
RETRY_S = 2.0
"""Seconds before the first retry; each further pause is twice as long."""
MAX_RETRY_S = 15.0
_CLOSE_LIMIT_S = 5.0


class WriteBehindQueue(Generic[T]):
    """Write items in batches, in order, and retry a batch while the store is unavailable."""

    def __init__(
        self, write: Callable[[list[T]], Awaitable[None]], *, batch: int, retry_on: tuple[type[Exception], ...] = ()
    ) -> None:
        """Create an empty queue.

        Args:
            write: Stores a batch. Items are removed from the queue when it returns.
            batch: Maximum number of items in one call of `write`.
            retry_on: Exceptions of `write` after which the same batch is written again.
        """
        self.lost = 0
        """Items that were not accepted, or were not written before `close`."""
        self._write = write
        self._batch = batch
        self._retry_on = retry_on
        self._waiting: deque[tuple[T, int, Hashable]] = deque()
        self._newest: dict[Hashable, T] = {}
        self._bytes = 0
        self._put = self._done = 0
        self._failed_tries = 0
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._tried = asyncio.Event()

    def __len__(self) -> int:
        """Return the number of items that are not written yet."""
        return len(self._waiting)

    def put(self, item: T, size_bytes: int, key: Hashable = None) -> bool:
        """Queue an item; return False if the queue is full. `find` returns the item by its `key`."""
        if len(self._waiting) >= QUEUE_LIMIT or self._bytes + size_bytes > QUEUE_BYTES:
            self.lost += 1
            return False
        self._waiting.append((item, size_bytes, key))
        if key is not None:
            self._newest[key] = item
        self._bytes += size_bytes
        self._put += 1
        self._start()
        return True

    def find(self, key: Hashable) -> T | None:
        """Return the newest unwritten item with this key, or None."""
        return self._newest.get(key)

    async def flush(self, limit_s: float | None = None) -> None:
        """Wait until all queued items are written, or an attempt has failed, or `limit_s` seconds have passed."""
        if not self._waiting:
            return
        put, failed = self._put, self._failed_tries
        self._wake.set()
        self._start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self._done < put and self._failed_tries == failed:
                    self._tried.clear()
                    await self._tried.wait()

    async def close(self) -> None:
        """Write the queued items for at most `_CLOSE_LIMIT_S` seconds; the others are lost."""
        await self.flush(_CLOSE_LIMIT_S)
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        self.lost += len(self._waiting)
        if self._waiting:
            log.warning("not written before the end, as the store was unavailable: %d", len(self._waiting))

    def _start(self) -> None:
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._write_all())
            self._task.add_done_callback(self._on_end)

    def _on_end(self, task: asyncio.Task[None]) -> None:
        """Log an unexpected exception of the writing task; the next `put` or `flush` starts a new task."""
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("queued items could not be written: %r", error)
            self._failed_tries += 1
            self._tried.set()

    async def _write_all(self) -> None:
        pause_s = RETRY_S
        while self._waiting:
            batch = list(itertools.islice(self._waiting, self._batch))
            try:
                await self._write([item for item, _, _ in batch])
            except self._retry_on:
                self._failed_tries += 1
                self._tried.set()
                # A flush ends the pause.
                self._wake.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):
                        await self._wake.wait()
                pause_s = min(2 * pause_s, MAX_RETRY_S)
                continue
            pause_s = RETRY_S
            for item, size_bytes, key in batch:
                self._waiting.popleft()
                self._bytes -= size_bytes
                if self._newest.get(key) is item:
                    del self._newest[key]
            self._done += len(batch)
            self._tried.set()
