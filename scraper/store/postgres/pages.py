"""Page store in PostgreSQL, shared by many servers; while it is unavailable, pages wait and reads miss."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from scraper.model import CachedPageSummary, PageHits
from scraper.store.postgres import page_rows
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError, is_value_error
from scraper.store.postgres.lexemes import Lexer
from scraper.store.postgres.page_search import PageSearchSession, search_pages
from scraper.store.postgres.schema import Connection
from scraper.store.protocols import CacheScope, IncompleteOperationError, PageEntry, PageStoreStats
from scraper.store.write_behind import WriteBehindPageStore

T = TypeVar("T")

log = logging.getLogger(__name__)

BATCH = 32
"""Pages in one transaction. With more, another server that stores one of them waits too long."""
GET_LIMIT_S = 2.0
"""Seconds that reading a page may take, and that a read waits for queued pages."""
SEARCH_LIMIT_S = 5.0
"""Seconds that a full-text search may take."""
WRITE_LIMIT_S = 30.0
"""Seconds that one transaction may take."""
LONG_LIMIT_S = 60.0
"""Seconds that one step of an export or a deletion may take."""
CLOSE_LIMIT_S = 5.0
"""Seconds that `close` waits for queued pages."""
EXPORT_BATCH = 100
"""Pages read at once by an export."""
TOUCH_EVERY_S = 5.0
"""Seconds during which used pages are gathered before their time of use is written."""
COUNT_AGAIN_S = 30.0
"""Seconds between two counts of a large cache. Counting a million pages takes a tenth of a second."""
LARGE = 20_000
"""Pages from which counts are reused for `COUNT_AGAIN_S`."""
PRUNE_TO = 0.9
"""Share of the size limit that remains after pages were deleted to make room."""
CHECKED_PAGES = 1_000
"""Pages written by this server after which the pages of other servers are counted too."""


class PostgresPageStore(WriteBehindPageStore):
    """The `PageStore` protocol over the tables of one database."""

    def __init__(self, server: PostgresPool, *, limit_bytes: int) -> None:
        """Create the store.

        Args:
            server: Connections to the database; the caller closes them.
            limit_bytes: Size of all rows above which the least recently used pages are deleted.
        """
        super().__init__(batch=BATCH, retry_on=(PostgresUnavailableError,))
        self._server = server
        self._limit_bytes = limit_bytes
        # Two threads, so that no search waits until the texts of a batch are split into words.
        self._writing = PageSearchSession(ThreadPoolExecutor(1, thread_name_prefix="pages-writer"), Lexer())
        self._reading = PageSearchSession(ThreadPoolExecutor(1, thread_name_prefix="pages-reader"), Lexer())
        self._touched: set[int] = set()
        self._touching: asyncio.Task[None] | None = None
        self._sizes: tuple[int, int] = (0, 0)
        self._counted_at = float("-inf")
        self._bytes_since_count = 0
        """Bytes written by this server since the cache was counted."""
        self._pages_since_count = 0

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        """Return the pages of one principal that match a full-text query, best first, one hit per URL."""
        await self._queue.flush_within(GET_LIMIT_S)
        work = functools.partial(
            search_pages, query=query, principal=principal, allowed=allowed, limit=limit, session=self._reading
        )
        found = await self._try(work, SEARCH_LIMIT_S)
        return PageHits(usable=False) if found is None else found

    async def list_recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        """Return summaries of one principal's pages, newest first."""
        await self._queue.flush_within(GET_LIMIT_S)
        work = functools.partial(
            page_rows.list_recent, principal=principal, allowed=allowed, limit=limit, before=before
        )
        return await self._try(work, GET_LIMIT_S) or []

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        """Return one principal's newest page with this final URL, or None."""
        await self._queue.flush_within(GET_LIMIT_S)
        work = functools.partial(page_rows.find_page, url=url, principal=principal, allowed=allowed)
        return await self._try(work, GET_LIMIT_S)

    async def iter_entries(self, principal: str | None = None) -> AsyncIterator[PageEntry]:
        """Iterate over one principal's pages, or over all pages if `principal` is None."""
        await self.flush()
        last = 0
        while True:
            work = functools.partial(page_rows.list_entries, principal=principal, after=last, limit=EXPORT_BATCH)
            part = await self._try(work, LONG_LIMIT_S)
            if part is None:
                raise self._incomplete()
            if not part:
                return
            for row in part:
                last = row["id"]
                if (entry := page_rows.load_entry(row)) is not None:
                    yield entry

    async def clear(self, principal: str | None = None) -> int:
        """Delete one principal's pages, or all pages if `principal` is None, and return their number."""
        await self._queue.flush_within(GET_LIMIT_S)
        self._counted_at = float("-inf")
        if principal is None:
            cleared = await self._try(page_rows.clear_all, LONG_LIMIT_S)
            if cleared is None:
                raise self._incomplete()
            return cleared
        count = 0
        work = functools.partial(page_rows.clear_some, principal=principal)
        until = time.monotonic() + LONG_LIMIT_S
        while deleted := await self._try(work, LONG_LIMIT_S):
            count += deleted
            if time.monotonic() > until:
                deleted = None
                break
        if deleted is None:
            raise self._incomplete()
        return count

    async def stats(self) -> PageStoreStats:
        """Return counters and sizes for status and metrics."""
        await self._queue.flush_within(GET_LIMIT_S)
        is_large = self._sizes[0] >= LARGE
        if is_large and time.monotonic() - self._counted_at < COUNT_AGAIN_S:
            is_usable = self._server.problem is None
        else:
            is_usable = await self._try(self._count, GET_LIMIT_S) is not None
        return self._stats(self._sizes if is_usable else None, self._server.problem)

    async def close(self) -> None:
        """Write the queued pages; the connections are closed by the owner of the pool."""
        await self._queue.flush_within(CLOSE_LIMIT_S)
        await self._queue.close()
        if self._touching is not None:
            self._touching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._touching
        for session in (self._writing, self._reading):
            session.thread.shutdown(wait=False, cancel_futures=True)

    def _incomplete(self) -> IncompleteOperationError:
        return IncompleteOperationError(self._server.problem or f"{self._server.address} does not answer in time")

    async def _get_stored(
        self, key: str, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        try:
            places = [page_rows.digest_place(scope, key, method) for method in methods]
        except UnicodeEncodeError:
            return None
        work = functools.partial(
            page_rows.get, places=places, scope=scope, key=key, max_age_s=max_age_s, allowed=allowed
        )
        found = await self._try(work, GET_LIMIT_S)
        if found is None:
            return None
        entry, number = found
        if number is not None:
            self._touched.add(number)
            if self._touching is None or self._touching.done():
                self._touching = asyncio.get_running_loop().create_task(self._touch())
        return entry

    async def _try(self, work: Callable[[Connection], Awaitable[T]], limit_s: float) -> T | None:
        try:
            return await self._server.run(work, limit_s)
        except PostgresUnavailableError:
            return None

    async def _touch(self) -> None:
        """Write the time of use of the pages that were read recently, all at once."""
        await asyncio.sleep(TOUCH_EVERY_S)
        touched, self._touched = self._touched, set()
        await self._try(functools.partial(page_rows.touch, numbers=touched), GET_LIMIT_S)

    async def _write(self, batch: list[PageEntry]) -> None:
        """Store a batch.

        Raises:
            PostgresUnavailableError: The database is unavailable; the whole batch is to be written again.
        """
        loop = asyncio.get_running_loop()
        entries = {entry.page_key: entry for entry in batch}  # the later of two readings of a page remains
        pages = await loop.run_in_executor(self._writing.thread, self._make_rows, list(entries.values()))
        written = await self._write_pages(pages)
        self._failed += len(entries) - written
        self._written += len(batch) - len(entries) + written
        await self._prune()

    def _make_rows(self, entries: list[PageEntry]) -> list[page_rows.PostgresPageRow]:
        """Convert pages into rows; a page whose content cannot be stored is skipped."""
        pages = []
        for entry in entries:
            try:
                page = page_rows.make_row(entry, self._writing.lexer, self._limit_bytes)
            except (ValueError, TypeError, OverflowError, RecursionError) as error:
                log.warning("a page cannot be cached: %s", error)
                continue
            if page is not None:
                pages.append(page)
        return pages

    async def _write_pages(self, pages: Sequence[page_rows.PostgresPageRow]) -> int:
        """Store pages together, or one by one if a value is refused; return how many were stored."""
        if not pages:
            return 0
        try:
            await self._server.run(functools.partial(self._insert, pages=pages), WRITE_LIMIT_S, writes=True)
        except PostgresUnavailableError as unavailable:
            if not is_value_error(unavailable.reason):
                raise
            if len(pages) == 1:
                log.warning("a page cannot be cached: %s", unavailable.reason)
                return 0
            return sum([await self._write_pages([page]) for page in pages])
        return len(pages)

    async def _insert(self, connection: Connection, pages: Sequence[page_rows.PostgresPageRow]) -> None:
        loop = asyncio.get_running_loop()
        owners = await page_rows.find_owner_ids(connection, {page.owner for page in pages})
        numbers = await page_rows.allocate_numbers(connection, len(pages))
        rows = await loop.run_in_executor(
            self._writing.thread,
            lambda: [
                page_rows.make_values(page, number, owners[page.owner])
                for page, number in zip(pages, numbers, strict=True)
            ],
        )
        await page_rows.put(connection, [row for row, _ in rows], [words for _, words in rows])
        self._bytes_since_count += sum(row[5] for row, _ in rows)
        self._pages_since_count += len(rows)

    async def _count(self, connection: Connection) -> tuple[int, int]:
        self._sizes = await page_rows.sizes(connection)
        self._counted_at = time.monotonic()
        self._bytes_since_count = self._pages_since_count = 0
        return self._sizes

    async def _prune(self) -> None:
        """Delete the least recently used pages if the cache is above its limit."""
        is_known = self._counted_at > float("-inf") and self._pages_since_count < CHECKED_PAGES
        if is_known and self._sizes[1] + self._bytes_since_count <= self._limit_bytes:
            return
        with contextlib.suppress(PostgresUnavailableError):
            pages, size = await self._server.run(self._count, LONG_LIMIT_S)
            while size > self._limit_bytes and pages > 1:
                surplus = 1 - self._limit_bytes * PRUNE_TO / size
                work = functools.partial(page_rows.prune_some, count=max(1, int(pages * surplus)))
                if not await self._server.run(work, LONG_LIMIT_S, writes=True):
                    return  # another server is pruning
                pages, size = await self._server.run(self._count, LONG_LIMIT_S)
