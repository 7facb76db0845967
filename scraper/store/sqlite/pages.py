"""Page store in one SQLite file: one thread writes, others read, the event loop never waits for the disk."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from scraper.model import CachedPageSummary, PageHits
from scraper.store.protocols import CacheScope, IncompleteOperationError, PageEntry, PageStoreStats
from scraper.store.sqlite import page_rows
from scraper.store.sqlite.database import Database, DatabaseUnavailableError
from scraper.store.sqlite.database_threads import ReadPool
from scraper.store.sqlite.page_search import find_page, search_pages
from scraper.store.write_behind import WriteBehindPageStore

T = TypeVar("T")

log = logging.getLogger(__name__)

FILE_NAME = "pages.sqlite"

BATCH = 64
"""Pages in one transaction. A commit costs as much as ten pages."""
GATHER_S = 0.01
"""Seconds that the first page of a transaction waits for others, unless a caller waits for it.

Meanwhile it is served from memory; it is lost if the process is killed in this time.
"""
GET_LIMIT_S = 2.0
"""Seconds. Loading many pages anew is faster than a slower cache."""
SEARCH_LIMIT_S = 5.0
"""Seconds that a full-text search may take."""
LONG_LIMIT_S = 60.0
"""Seconds. Emptying a large cache takes this long."""
CLOSE_LIMIT_S = 5.0
"""Seconds that `close` may take."""
EXPORT_BATCH = 100
"""Pages read at once by an export."""


class SqlitePageStore(WriteBehindPageStore):
    """The `PageStore` protocol over `pages.sqlite` in a folder."""

    def __init__(self, folder: Path, *, limit_bytes: int) -> None:
        """Open the store.

        Args:
            folder: Folder of the file; it is created if needed.
            limit_bytes: Size of the file above which the least recently used pages are deleted.
        """
        super().__init__(batch=BATCH, gather_s=GATHER_S)
        self._database = Database(folder / FILE_NAME, page_rows.SCHEMA)
        self._limit_bytes = limit_bytes
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="pages-writer")
        self._readers = ReadPool(folder / FILE_NAME, page_rows.SCHEMA, "pages-reader")
        self._touched: set[int] = set()
        # The file is opened now rather than with the first page, so that a problem is reported at the start.
        self._writer.submit(self._try, lambda connection: None)

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        """Return the pages of one principal that match a full-text query, best first, one hit per URL."""
        await self._queue.flush_within(GET_LIMIT_S)
        work = functools.partial(search_pages, query=query, principal=principal, allowed=allowed, limit=limit)
        found = await self._read(work, SEARCH_LIMIT_S)
        return PageHits(usable=False) if found is None else found

    async def list_recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        """Return summaries of one principal's pages, newest first."""
        await self._queue.flush_within(GET_LIMIT_S)
        work = functools.partial(
            page_rows.list_recent, principal=principal, allowed=allowed, limit=limit, before=before
        )
        return await self._read(work, GET_LIMIT_S) or []

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        """Return one principal's newest page with this final URL, or None."""
        await self._queue.flush_within(GET_LIMIT_S)
        work = functools.partial(find_page, url=url, principal=principal, allowed=allowed)
        return await self._read(work, GET_LIMIT_S)

    async def iter_entries(self, principal: str | None = None) -> AsyncIterator[PageEntry]:
        """Iterate over one principal's pages, or over all pages if `principal` is None."""
        await self.flush()
        last = 0
        while True:
            work = functools.partial(page_rows.list_entries, principal=principal, after=last, limit=EXPORT_BATCH)
            part = await self._read(work, LONG_LIMIT_S)
            if part is None:
                raise self._incomplete()
            if not part:
                return
            for number, entry in part:
                last = number
                if entry is not None:
                    yield entry

    async def clear(self, principal: str | None = None) -> int:
        """Delete one principal's pages, or all pages if `principal` is None, and return their number."""

        def work(connection: apsw.Connection) -> int:
            with connection:
                count = page_rows.clear(connection, principal)
            if principal is None:
                # Give the disk space back; while others read, SQLite does that later.
                with contextlib.suppress(apsw.Error):
                    connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            return count

        await self._queue.flush_within(GET_LIMIT_S)
        count = await self._run_in_writer(work, LONG_LIMIT_S)
        if count is None:
            raise self._incomplete()
        return count

    async def stats(self) -> PageStoreStats:
        """Return counters and sizes for status and metrics."""
        await self._queue.flush_within(GET_LIMIT_S)
        return self._stats(await self._run_in_writer(page_rows.sizes, GET_LIMIT_S), self._database.problem)

    async def close(self) -> None:
        """Write the queued pages, then close the file."""
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await self._queue.flush()
                await self._readers.close()
                await asyncio.wrap_future(self._writer.submit(self._database.close))
        except TimeoutError:
            log.warning("the cache did not close within %s s", CLOSE_LIMIT_S)
        finally:
            await self._queue.close()
            self._writer.shutdown(wait=False, cancel_futures=True)

    def _incomplete(self) -> IncompleteOperationError:
        return IncompleteOperationError(self._database.problem or "it does not answer in time")

    async def _get_stored(
        self, key: str, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        work = functools.partial(
            page_rows.get, key=key, scope=scope, methods=methods, max_age_s=max_age_s, allowed=allowed
        )
        found = await self._read(work, GET_LIMIT_S)
        if found is None:
            return None
        entry, number = found
        if number is not None and number not in self._touched:
            self._touched.add(number)
            self._writer.submit(self._touch)
        return entry

    async def _read(self, work: Callable[[apsw.Connection], T], limit_s: float) -> T | None:
        """Run `work` in a reader, or in the writer, which can create or repair the file."""
        try:
            return await self._readers.read(work, limit_s)
        except DatabaseUnavailableError:
            return await self._run_in_writer(work, limit_s)

    async def _run_in_writer(self, work: Callable[[apsw.Connection], T], limit_s: float) -> T | None:
        """Run `work` in the writing thread; return None if the file is unavailable or time is up."""
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.wrap_future(self._writer.submit(self._try, work))
        except TimeoutError:
            return None

    def _try(self, work: Callable[[apsw.Connection], T]) -> T | None:
        try:
            return self._database.run(work)
        except DatabaseUnavailableError:
            return None

    def _touch(self) -> None:
        touched, self._touched = self._touched, set()
        if touched:
            self._try(functools.partial(page_rows.touch, numbers=touched))

    async def _write(self, batch: list[PageEntry]) -> None:
        """Store a batch; pages that cannot be stored are counted as failed, not retried."""
        loop = asyncio.get_running_loop()
        written, failed = await loop.run_in_executor(self._writer, self._write_batch, batch)
        self._written += written
        self._failed += failed

    def _write_batch(self, batch: list[PageEntry]) -> tuple[int, int]:
        """Write a batch in one transaction, or else page by page; return how many succeeded and failed."""
        made = [self._make_row(entry) for entry in batch]
        rows = [row for row, _ in made if row is not None]
        failed = sum(is_failed for _, is_failed in made)
        if not self._write_rows(rows):
            # Pages that still fit a nearly full disk are stored.
            written = sum(self._write_rows([row]) for row in rows)
            return written, failed + len(rows) - written
        return len(rows), failed

    def _make_row(self, entry: PageEntry) -> tuple[page_rows.SqlitePageRow | None, bool]:
        """Return the row of a page and False, or None and True if its content cannot be stored."""
        try:
            return page_rows.make_row(entry, self._limit_bytes), False
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            log.warning("a page cannot be cached: %s", error)
            return None, True

    def _write_rows(self, rows: list[page_rows.SqlitePageRow]) -> bool:
        """Write rows in one transaction; return False if the file cannot take them."""
        try:
            self._database.run(functools.partial(self._insert, rows=rows), writes=True)
        except DatabaseUnavailableError:
            return False
        return True

    def _insert(self, connection: apsw.Connection, rows: list[page_rows.SqlitePageRow]) -> None:
        if not rows:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            for row in rows:
                page_rows.put(connection, row)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        with connection:
            page_rows.prune(connection, self._limit_bytes)
