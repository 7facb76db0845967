"""Common part of the page stores in SQLite and PostgreSQL: one query per method, and a queue of writes.

The queue is bounded, in order, with retries, and searchable until items are written.
"""

import asyncio
import contextlib
import functools
import itertools
import logging
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from scraper.model import CachedPageSummary, PageHits
from scraper.store.protocols import (
    CLOCK_SKEW_S,
    CacheScope,
    DatabaseUnavailableError,
    IncompleteOperationError,
    PageEntry,
    PageStore,
    PageStoreStats,
    SqlDatabase,
)

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

    def __init__(self, write: Callable[[list[T]], Awaitable[None]], *, batch: int) -> None:
        """Create an empty queue.

        Args:
            write: Stores a batch. Items are removed from the queue when it returns. The same batch is written again
                after a DatabaseUnavailableError.
            batch: Maximum number of items in one call of `write`.
        """
        self.lost = 0
        """Items that were not accepted, or were not written before `close`."""
        self._write = write
        self._batch = batch
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
            except DatabaseUnavailableError:
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


_FLUSH_LIMIT_S = 60.0
GET_LIMIT_S = 2.0
"""Seconds for a read, including the wait for queued items. Loading most pages again is faster."""
SEARCH_LIMIT_S = 5.0
LONG_LIMIT_S = 60.0
"""Seconds for one step of an export or a deletion. Emptying a large cache takes this long."""
EXPORT_BATCH = 100


@dataclass(frozen=True, slots=True)
class PageQueries:
    """Queries of a database, each with a connection and the arguments of the `PageStore` method."""

    get: Callable[..., Any]
    """Return the page and its number, with None for the number if its time of last use is recent; or None."""
    search: Callable[..., Any]
    list_recent: Callable[..., Any]
    find: Callable[..., Any]
    list_entries: Callable[..., Any]
    """Return numbers above `after` and their pages, in order; None for an unreadable page."""


class WriteBehindPageStore(PageStore, ABC):
    """Page store with a write queue, using the queries of one database."""

    def __init__(self, queries: PageQueries, database: SqlDatabase, *, name: str, batch: int) -> None:
        """Write up to `batch` pages at once; `name` is the name of the database in error messages."""
        self._queue: WriteBehindQueue[PageEntry] = WriteBehindQueue(self._write, batch=batch)
        self._queries = queries
        self._database = database
        self._name = name
        self._hits = self._misses = self._written = self._failed = 0

    async def get(
        self, key: str, *, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        """Return the newest page that fits, or None; the queue is searched before the database."""
        query = {"key": key, "scope": scope, "methods": methods, "max_age_s": max_age_s, "allowed": allowed}
        now = time.time()
        queued = [
            entry
            for method in methods
            if (entry := self._queue.find((scope, key, method))) is not None
            and entry.allowances <= allowed
            and max_age_s > 0
            and -CLOCK_SKEW_S <= now - entry.reading.retrieved_at.timestamp() <= max_age_s
        ]
        entry = max(queued, key=lambda one: one.reading.retrieved_at, default=None)
        if entry is None and max_age_s > 0:
            entry, number = await self._read(self._queries.get, GET_LIMIT_S, **query) or (None, None)
            if number is not None:
                self._touch(number)
        self._hits += entry is not None
        self._misses += entry is None
        return entry

    def put(self, entry: PageEntry) -> None:
        """Queue a page for writing and return immediately."""
        document = entry.reading.document
        self._queue.put(entry, len(document.text) + len(document.markdown), entry.place)

    async def flush(self) -> None:
        """Wait until all queued pages are written or lost, or an attempt to write them has failed."""
        await self._queue.flush(_FLUSH_LIMIT_S)

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        """Return the pages of one principal that match a full-text query, best first, one hit per URL."""
        await self._queue.flush(GET_LIMIT_S)
        hits: PageHits | None = await self._read(
            self._queries.search, SEARCH_LIMIT_S, query=query, principal=principal, allowed=allowed, limit=limit
        )
        return PageHits(usable=False) if hits is None else hits

    async def list_recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        """Return summaries of one principal's pages, newest first."""
        await self._queue.flush(GET_LIMIT_S)
        recent: list[CachedPageSummary] | None = await self._read(
            self._queries.list_recent, GET_LIMIT_S, principal=principal, allowed=allowed, limit=limit, before=before
        )
        return recent or []

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        """Return one principal's newest page with this final URL, or None."""
        await self._queue.flush(GET_LIMIT_S)
        found: PageEntry | None = await self._read(
            self._queries.find, GET_LIMIT_S, url=url, principal=principal, allowed=allowed
        )
        return found

    async def iter_entries(self) -> AsyncIterator[PageEntry]:
        """Iterate over all pages.

        Raises:
            IncompleteOperationError: The database failed; there may be more pages.
        """
        await self.flush()
        last = 0
        while True:
            part: list[tuple[int, PageEntry | None]] | None = await self._read(
                self._queries.list_entries, LONG_LIMIT_S, after=last, limit=EXPORT_BATCH
            )
            if part is None:
                raise self._incomplete()
            if not part:
                return
            for number, entry in part:
                last = number
                if entry is not None:
                    yield entry

    async def clear(self) -> int:
        """Delete all pages and return their number.

        Raises:
            IncompleteOperationError: The database failed; some pages are left.
        """
        await self._queue.flush(GET_LIMIT_S)
        try:
            return await self._clear()
        except DatabaseUnavailableError:
            raise self._incomplete() from None

    async def stats(self) -> PageStoreStats:
        """Return counters and sizes for status and metrics."""
        await self._queue.flush(GET_LIMIT_S)
        sizes = None
        with contextlib.suppress(DatabaseUnavailableError):
            sizes = await self._fetch_sizes()
        pages, size = sizes or (0, 0)
        return PageStoreStats(
            usable=sizes is not None,
            problem=self._database.problem,
            pages=pages,
            bytes=size,
            hits=self._hits,
            misses=self._misses,
            written=self._written,
            lost=self._queue.lost + self._failed,
            waiting=len(self._queue),
        )

    async def close(self) -> None:
        """Write the queued pages, then close the database."""
        await self._queue.close()
        await self._database.close()

    @abstractmethod
    async def _write(self, batch: list[PageEntry]) -> None:
        """Store a batch; raise DatabaseUnavailableError if the whole batch must be written again."""

    @abstractmethod
    def _touch(self, number: int) -> None:
        """Update the time of last use of a page; return immediately."""

    @abstractmethod
    async def _clear(self) -> int:
        """Delete all pages and return their number; raise DatabaseUnavailableError if some may be left."""

    @abstractmethod
    async def _fetch_sizes(self) -> tuple[int, int]:
        """Return the number of pages and their bytes, or raise DatabaseUnavailableError."""

    async def _read(self, query: Callable[..., Any], limit_s: float, /, **arguments: Any) -> Any:
        """Run a query and return its result, or None if the database is unavailable or too slow."""
        with contextlib.suppress(DatabaseUnavailableError):
            return await self._database.run(functools.partial(query, **arguments), limit_s)
        return None

    def _make_rows(self, make_row: Callable[[PageEntry], T | None], entries: list[PageEntry]) -> tuple[list[T], int]:
        rows, failed = [], 0
        for entry in entries:
            try:
                row = make_row(entry)
            except (ValueError, TypeError, OverflowError, RecursionError) as error:
                log.warning("a page cannot be cached: %s", error)
                failed += 1
                continue
            if row is not None:
                rows.append(row)
        return rows, failed

    def _incomplete(self) -> IncompleteOperationError:
        return IncompleteOperationError(self._database.problem or f"{self._name} does not answer in time")
