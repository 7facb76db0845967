"""Common part of the page stores in SQLite and PostgreSQL: a write queue, and one query per method."""

from __future__ import annotations

import functools
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from scraper.model import CachedPageSummary, PageHits
from scraper.store.protocols import (
    CLOCK_SKEW_S,
    CacheScope,
    IncompleteOperationError,
    PageEntry,
    PageStore,
    PageStoreStats,
)
from scraper.store.write_behind import WriteBehindQueue

R = TypeVar("R")

log = logging.getLogger(__name__)

_FLUSH_LIMIT_S = 60.0
GET_LIMIT_S = 2.0
"""Seconds for a read, including the wait for queued items. Loading most pages again is faster."""
SEARCH_LIMIT_S = 5.0
LONG_LIMIT_S = 60.0
"""Seconds for one step of an export or a deletion. Emptying a large cache takes this long."""
EXPORT_BATCH = 100

RunQuery = Callable[[Callable[[Any], Any], float], Awaitable[Any]]
"""Call a function with the connection of a database, for up to some seconds; return its result.

It returns None if the database is unavailable or too slow.
"""


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

    def __init__(
        self, queries: PageQueries, run: RunQuery, *, name: str, batch: int, retry_on: tuple[type[Exception], ...] = ()
    ) -> None:
        """Create the queue with the arguments of `WriteBehindQueue`; `name` is for error messages."""
        self._queue: WriteBehindQueue[PageEntry] = WriteBehindQueue(self._write, batch=batch, retry_on=retry_on)
        self._queries = queries
        self._run = run
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
        count = await self._clear()
        if count is None:
            raise self._incomplete()
        return count

    async def stats(self) -> PageStoreStats:
        """Return counters and sizes for status and metrics."""
        await self._queue.flush(GET_LIMIT_S)
        sizes = await self._fetch_sizes()
        pages, size = sizes or (0, 0)
        return PageStoreStats(
            usable=sizes is not None,
            problem=self._problem,
            pages=pages,
            bytes=size,
            hits=self._hits,
            misses=self._misses,
            written=self._written,
            lost=self._queue.lost + self._failed,
            waiting=len(self._queue),
        )

    async def close(self) -> None:
        """Write the queued pages."""
        await self._queue.close()

    @property
    @abstractmethod
    def _problem(self) -> str | None:
        """Reason why the database is unavailable, or None."""

    @abstractmethod
    async def _write(self, batch: list[PageEntry]) -> None:
        """Store a batch; raise one of `retry_on` if the whole batch must be written again."""

    @abstractmethod
    def _touch(self, number: int) -> None:
        """Update the time of last use of a page; return immediately."""

    @abstractmethod
    async def _clear(self) -> int | None:
        """Delete all pages and return their number, or None if some may be left."""

    @abstractmethod
    async def _fetch_sizes(self) -> tuple[int, int] | None:
        """Return the number of pages and their bytes, or None if the database is unavailable."""

    async def _read(self, query: Callable[..., Any], limit_s: float, /, **arguments: Any) -> Any:
        """Run a query and return its result, or None if the database is unavailable or too slow."""
        return await self._run(functools.partial(query, **arguments), limit_s)

    def _make_rows(self, make_row: Callable[[PageEntry], R | None], entries: list[PageEntry]) -> tuple[list[R], int]:
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
        return IncompleteOperationError(self._problem or f"{self._name} does not answer in time")
