"""The page cache in one SQLite file: one thread writes, others read, the event loop waits for no disk."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

import apsw

from scraper.model import CachedPageSummary, PageHits
from scraper.store.pending_writes import newest
from scraper.store.protocols import CacheScope, IncompleteSearchError, PageEntry, PagesStats
from scraper.store.sqlite import page_rows
from scraper.store.sqlite.database import Database, DatabaseUnavailableError
from scraper.store.sqlite.page_search import find, search
from scraper.store.sqlite.read_pool import ReadPool

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

FILE_NAME = "pages.sqlite"

QUEUE_LIMIT = 256
"""Pages that may wait to be written; beyond, they are read anew and not kept."""
BATCH = 64
"""Pages in one transaction: a commit costs as much as ten pages."""
GATHERED_S = 0.01
"""How long the first page of a transaction waits for others, unless somebody waits for it. Whoever asks this
server for it gets it meanwhile; one that is killed has lost it."""
GET_LIMIT_S = 2.0
"""A cache slower than this is slower than many a page."""
SEARCH_LIMIT_S = 5.0
LONG_LIMIT_S = 60.0
"""To empty a large cache."""
CLOSE_LIMIT_S = 5.0
EXPORTED_AT_ONCE = 100

_Place = tuple[CacheScope, str, str]


class SqlitePages:
    """The `Pages` protocol over `pages.sqlite` in a folder."""

    def __init__(self, folder: Path, *, limit_bytes: int) -> None:
        self._database = Database(folder / FILE_NAME, page_rows.SCHEMA)
        self._limit_bytes = limit_bytes
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="pages-writer")
        self._readers = ReadPool(folder / FILE_NAME, page_rows.SCHEMA, "pages-reader")
        self._waiting: deque[tuple[_Place, PageEntry]] = deque()
        self._fresh: dict[_Place, PageEntry] = {}
        """Pages that are not in the file yet; changed and read under the lock."""
        self._lock = threading.Lock()
        self._gathering: asyncio.TimerHandle | None = None
        """Set while what waits may wait for more."""
        self._touched: set[int] = set()
        self._hits = self._misses = self._refused = self._put = 0
        # Counted in the writer; the others in the event loop.
        self._written = self._failed = self._done = 0
        # Opened now rather than at the first page, so that a fault is told at the start.
        self._writer.submit(self._try, lambda connection: None)

    async def get(
        self,
        key: str,
        *,
        shelf: CacheScope,
        methods: tuple[str, ...],
        max_age_s: float,
        allowed: frozenset[str],
    ) -> PageEntry | None:
        """The newest page read by one of `methods`, not older than `max_age_s`, under rules still valid."""
        entry = None
        if max_age_s > 0:
            entry = self._unwritten(key, shelf, methods, max_age_s, allowed)
            if entry is None:
                entry = await self._kept(key, shelf, methods, max_age_s, allowed)
        self._hits += entry is not None
        self._misses += entry is None
        return entry

    def put(self, entry: PageEntry) -> None:
        """Keep a page; returns at once."""
        if len(self._waiting) >= QUEUE_LIMIT:
            self._refused += 1
            return
        place = (entry.shelf, entry.key, entry.reading.method)
        with self._lock:
            self._fresh[place] = entry
        self._put += 1
        self._waiting.append((place, entry))
        if len(self._waiting) == 1:
            # A thread that was woken to wait would want Python's lock just when the answer is written.
            self._gathering = asyncio.get_running_loop().call_later(GATHERED_S, self._write_now)
        elif len(self._waiting) >= BATCH:
            self._write_now()

    async def settled(self) -> None:
        """Wait until all that was put is in the file, or is known to be lost."""
        put = self._put
        while self._done < put:
            self._write_now()
            # A batch follows the other; what came after this call is not waited for.
            await asyncio.wrap_future(self._writer.submit(lambda: None))

    async def _soon(self) -> None:
        """Wait for what was put, but no longer than a read may take."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GET_LIMIT_S):
                await self.settled()

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        """The pages of one principal that hold what is asked for, best first, each page once."""
        await self._soon()
        work = functools.partial(search, query=query, principal=principal, allowed=allowed, limit=limit)
        found = await self._read(work, SEARCH_LIMIT_S)
        return PageHits(usable=False) if found is None else found

    async def recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        """One principal's pages, newest first; `before` is the number of the last one that is known."""
        await self._soon()
        work = functools.partial(
            page_rows.recent, principal=principal, allowed=allowed, limit=limit, before=before
        )
        return await self._read(work, GET_LIMIT_S) or []

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        """The newest reading of one principal's page by the address at which it was found."""
        await self._soon()
        work = functools.partial(find, url=url, principal=principal, allowed=allowed)
        return await self._read(work, GET_LIMIT_S)

    async def entries(self, principal: str | None = None) -> AsyncIterator[PageEntry]:
        """Every page, for an export; None is everybody's."""
        await self.settled()
        last = 0
        while True:
            work = functools.partial(
                page_rows.entries, principal=principal, after=last, limit=EXPORTED_AT_ONCE
            )
            part = await self._read(work, LONG_LIMIT_S)
            if part is None:
                raise IncompleteSearchError(self._database.problem or "it does not answer in time")
            if not part:
                return
            for number, entry in part:
                last = number
                if entry is not None:
                    yield entry

    async def clear(self, principal: str | None = None) -> int:
        """Forget every page, or one principal's; how many there were."""

        def work(connection: apsw.Connection) -> int:
            with connection:
                count = page_rows.clear(connection, principal)
            if principal is None:
                # Whoever empties the cache wants the disk back; while others read, they get it later.
                with contextlib.suppress(apsw.Error):
                    connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            return count

        await self._soon()
        count = await self._result(work, LONG_LIMIT_S)
        if count is None:
            raise IncompleteSearchError(self._database.problem or "it does not answer in time")
        return count

    async def sound(self) -> bool:
        """Whether the file passes SQLite's own examination."""
        found = await self._result(lambda c: c.execute("PRAGMA integrity_check").get == "ok", LONG_LIMIT_S)
        return bool(found)

    async def stats(self) -> PagesStats:
        """Numbers for status and metrics."""
        sizes = await self._result(page_rows.sizes, GET_LIMIT_S)
        pages, size = sizes or (0, 0)
        return PagesStats(
            usable=sizes is not None,
            problem=self._database.problem,
            pages=pages,
            bytes=size,
            hits=self._hits,
            misses=self._misses,
            written=self._written,
            lost=self._refused + self._failed,
        )

    async def close(self) -> None:
        """Write what was put, then close the file."""
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await self.settled()
                await self._readers.close()
                await asyncio.wrap_future(self._writer.submit(self._database.close))
        except TimeoutError:
            log.warning("the cache did not close within %s s", CLOSE_LIMIT_S)
        finally:
            self._writer.shutdown(wait=False, cancel_futures=True)

    def _unwritten(
        self, key: str, shelf: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        with self._lock:
            waiting = [self._fresh.get((shelf, key, method)) for method in methods] if self._fresh else []
        return newest(waiting, max_age_s=max_age_s, allowed=allowed)

    async def _kept(
        self, key: str, shelf: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        work = functools.partial(
            page_rows.get, key=key, shelf=shelf, methods=methods, max_age_s=max_age_s, allowed=allowed
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
        try:
            return await self._readers.read(work, limit_s)
        except DatabaseUnavailableError:
            return await self._result(work, limit_s)

    async def _result(self, work: Callable[[apsw.Connection], T], limit_s: float) -> T | None:
        """What `work` comes to behind all that waits to be written."""
        self._write_now()
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

    def _write_now(self) -> None:
        """Let what waits wait no longer."""
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None
            self._writer.submit(self._write_waiting)

    def _write_waiting(self) -> None:
        """A batch of what waits; whoever asked in between has his turn before the next."""
        batch = [self._waiting[at] for at in range(min(BATCH, len(self._waiting)))]
        if not batch:
            return
        try:
            self._write_batch([entry for _, entry in batch])
        finally:
            with self._lock:
                for place, entry in batch:
                    self._waiting.popleft()
                    if self._fresh.get(place) is entry:
                        del self._fresh[place]
            self._done += len(batch)
            if self._waiting:
                self._writer.submit(self._write_waiting)

    def _write_batch(self, batch: list[PageEntry]) -> None:
        rows = [row for entry in batch if (row := self._row(entry))]
        try:
            self._database.run(functools.partial(self._write, rows=rows), writes=True)
        except DatabaseUnavailableError:
            self._write_singly(rows)

    def _row(self, entry: PageEntry) -> page_rows.SqlitePageRow | None:
        """The entry made ready; one that cannot be written down costs itself and no other."""
        try:
            return page_rows.row_of(entry, self._limit_bytes)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            self._failed += 1
            log.warning("a page cannot be kept: %s", error)
            return None

    def _write_singly(self, rows: list[page_rows.SqlitePageRow]) -> None:
        """What fits a disk that is nearly full is kept."""
        for row in rows:
            try:
                self._database.run(functools.partial(self._write, rows=[row]), writes=True)
            except DatabaseUnavailableError:
                self._failed += 1

    def _write(self, connection: apsw.Connection, rows: list[page_rows.SqlitePageRow]) -> None:
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
        self._written += len(rows)
        with connection:
            page_rows.prune(connection, self._limit_bytes)


class NoPages:
    """The `Pages` protocol for an operator who wants none kept."""

    async def get(
        self,
        key: str,
        *,
        shelf: CacheScope,
        methods: tuple[str, ...],
        max_age_s: float,
        allowed: frozenset[str],
    ) -> PageEntry | None:
        """Nothing."""
        return None

    def put(self, entry: PageEntry) -> None:
        """Nothing happens."""

    async def settled(self) -> None:
        """Nothing is waiting."""

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        """Nothing, and that there is no cache."""
        return PageHits(usable=False)

    async def recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        """Nothing."""
        return []

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        """Nothing."""
        return None

    async def entries(self, principal: str | None = None) -> AsyncIterator[PageEntry]:
        """Nothing."""
        nothing: tuple[PageEntry, ...] = ()
        for entry in nothing:
            yield entry

    async def clear(self, principal: str | None = None) -> int:
        """Nothing."""
        return 0

    async def stats(self) -> PagesStats:
        """All zero."""
        return PagesStats()

    async def close(self) -> None:
        """Nothing happens."""
