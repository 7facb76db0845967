"""Queue between callers and a slow store: bounded, in order, retried, and readable until it is written.

SQLite and PostgreSQL use the same queue, so the same bounds and freshness rules apply to queued pages.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from scraper.store.protocols import CLOCK_SKEW_S, CacheScope, PageEntry, PageStoreStats

T = TypeVar("T")

log = logging.getLogger(__name__)

QUEUE_LIMIT = 256
"""Items that may wait for writing. Further items are rejected and count as lost."""
QUEUE_BYTES = 64_000_000
"""Bytes of items that may wait while a database is unreachable. Memory is needed for pages being read."""
RETRY_S = 2.0
"""Seconds before the first retry; each further pause is twice as long."""
MAX_RETRY_S = 15.0
"""Seconds. Longest pause between two retries."""
FLUSH_LIMIT_S = 60.0
"""Seconds that `flush` may take."""


class WriteBehindQueue(Generic[T]):
    """Write items in batches, in order, and retry a batch while the store is unavailable."""

    def __init__(
        self,
        write: Callable[[list[T]], Awaitable[None]],
        *,
        batch: int,
        gather_s: float = 0.0,
        retry_on: tuple[type[Exception], ...] = (),
    ) -> None:
        """Create an empty queue.

        Args:
            write: Stores a batch. Items are removed from the queue when it returns.
            batch: Maximum number of items in one call of `write`.
            gather_s: Seconds that the first item of a batch waits for others, unless `flush` is called.
            retry_on: Exceptions of `write` after which the same batch is written again.
        """
        self.lost = 0
        """Items that were not accepted, or were not written before `close`."""
        self._write = write
        self._batch = batch
        self._gather_s = gather_s
        self._retry_on = retry_on
        self._waiting: deque[tuple[T, int, Hashable]] = deque()
        self._newest: dict[Hashable, T] = {}
        self._bytes = 0
        self._put = self._done = 0
        self._failed_tries = 0
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
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
        if self._gather_s <= 0 or len(self._waiting) >= self._batch:
            self._start()
        elif self._timer is None and not self._is_writing():
            self._timer = asyncio.get_running_loop().call_later(self._gather_s, self._start)
        return True

    def find(self, key: Hashable) -> T | None:
        """Return the newest unwritten item with this key, or None."""
        return self._newest.get(key)

    async def flush(self) -> None:
        """Wait until all queued items are written, or an attempt has failed."""
        put, failed = self._put, self._failed_tries
        self._wake.set()
        self._start()
        while self._done < put and self._failed_tries == failed:
            self._tried.clear()
            await self._tried.wait()

    async def flush_within(self, limit_s: float) -> None:
        """Call `flush`, but wait for at most `limit_s` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self.flush()

    async def close(self) -> None:
        """Stop writing. Items that are still queued are lost."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self.lost += len(self._waiting)
        if self._waiting:
            log.warning("not written before the end, as the store was unavailable: %d", len(self._waiting))

    def _is_writing(self) -> bool:
        return self._task is not None and not self._task.done()

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and not self._is_writing():
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
                await self._pause(pause_s)
                pause_s = min(2 * pause_s, MAX_RETRY_S)
                continue
            pause_s = RETRY_S
            self._remove(batch)
            self._tried.set()

    def _remove(self, batch: list[tuple[T, int, Hashable]]) -> None:
        for item, size_bytes, key in batch:
            self._waiting.popleft()
            self._bytes -= size_bytes
            if self._newest.get(key) is item:
                del self._newest[key]
        self._done += len(batch)

    async def _pause(self, seconds: float) -> None:
        """Wait, or return early when `flush` is called."""
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()


class WriteBehindPageStore(ABC):
    """Base of page stores that queue writes: the part of the `PageStore` protocol that needs no database."""

    def __init__(self, *, batch: int, gather_s: float = 0.0, retry_on: tuple[type[Exception], ...] = ()) -> None:
        """Create the queue; the arguments are those of `WriteBehindQueue`."""
        self._queue: WriteBehindQueue[PageEntry] = WriteBehindQueue(
            self._write, batch=batch, gather_s=gather_s, retry_on=retry_on
        )
        self._hits = self._misses = self._written = self._failed = 0

    async def get(
        self, key: str, *, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        """Return the newest page of `scope` read by one of `methods`, or None.

        The page is at most `max_age_s` seconds old and needs only the exceptions in `allowed`. The queue is searched
        before the database.
        """
        entry = None
        if max_age_s > 0:
            if len(self._queue):
                entry = self._find_queued(key, scope, methods, max_age_s, allowed)
            if entry is None:
                entry = await self._get_stored(key, scope, methods, max_age_s, allowed)
        self._hits += entry is not None
        self._misses += entry is None
        return entry

    def put(self, entry: PageEntry) -> None:
        """Queue a page for writing and return immediately."""
        document = entry.reading.document
        self._queue.put(entry, len(document.text) + len(document.markdown), entry.page_key)

    async def flush(self) -> None:
        """Wait until all queued pages are written or lost, or an attempt to write them has failed."""
        await self._queue.flush_within(FLUSH_LIMIT_S)

    @abstractmethod
    async def _write(self, batch: list[PageEntry]) -> None:
        """Store a batch; raise one of `retry_on` if all of it is to be written again."""

    @abstractmethod
    async def _get_stored(
        self, key: str, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        """Return the newest stored page that fits, or None."""

    def _find_queued(
        self, key: str, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        """Return the newest queued page, under the same rules as stored pages."""
        now = time.time()
        fitting = [
            entry
            for method in methods
            if (entry := self._queue.find((scope, key, method))) is not None
            and entry.allowances <= allowed
            and -CLOCK_SKEW_S <= now - entry.reading.retrieved_at.timestamp() <= max_age_s
        ]
        return max(fitting, key=lambda entry: entry.reading.retrieved_at, default=None)

    def _stats(self, sizes: tuple[int, int] | None, problem: str | None) -> PageStoreStats:
        """Return the stats of the store; `sizes` are pages and bytes, or None if it is not usable."""
        pages, size = sizes or (0, 0)
        return PageStoreStats(
            usable=sizes is not None,
            problem=problem,
            pages=pages,
            bytes=size,
            hits=self._hits,
            misses=self._misses,
            written=self._written,
            lost=self._queue.lost + self._failed,
            waiting=len(self._queue),
        )
