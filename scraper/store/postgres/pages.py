"""The page cache in PostgreSQL, for any number of servers; while it is away, pages wait and reads miss."""

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
from scraper.store.pending_writes import newest
from scraper.store.postgres import page_rows
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError, is_of_the_value
from scraper.store.postgres.lexemes import Lexer
from scraper.store.postgres.page_search import PageSearchSession, search
from scraper.store.postgres.schema import Connection
from scraper.store.postgres.write_behind_queue import WriteBehindQueue
from scraper.store.protocols import CacheScope, IncompleteSearchError, PageEntry, PagesStats

T = TypeVar("T")

log = logging.getLogger(__name__)

BATCH = 32
"""Pages in one transaction; with more, another server that keeps one of them would wait too long."""
GET_LIMIT_S = 2.0
SEARCH_LIMIT_S = 5.0
WRITE_LIMIT_S = 30.0
LONG_LIMIT_S = 60.0
SETTLE_LIMIT_S = 60.0
CLOSE_LIMIT_S = 5.0
EXPORTED_AT_ONCE = 100
TOUCH_EVERY_S = 5.0
COUNT_AGAIN_S = 30.0
"""Between two counts of a large cache: a million pages take a tenth of a second."""
LARGE = 20_000
"""Pages from which that is worth sparing."""
PRUNE_TO = 0.9
CHECKED_PAGES = 1_000
"""Own pages after which others' are counted too."""

_Place = tuple[CacheScope, str, str]


class PostgresPages:
    """The `Pages` protocol over the tables of one database."""

    def __init__(self, server: PostgresPool, *, limit_bytes: int) -> None:
        self._server = server
        self._limit_bytes = limit_bytes
        # Two, so that no search waits until the texts of a batch are cut.
        self._writing = PageSearchSession(ThreadPoolExecutor(1, thread_name_prefix="pages-writer"), Lexer())
        self._reading = PageSearchSession(ThreadPoolExecutor(1, thread_name_prefix="pages-reader"), Lexer())
        self._outbox: WriteBehindQueue[tuple[_Place, PageEntry]] = WriteBehindQueue(self._write, batch=BATCH)
        self._fresh: dict[_Place, PageEntry] = {}
        """Pages that are not in the database yet."""
        self._touched: set[int] = set()
        self._touching: asyncio.Task[None] | None = None
        self._sizes: tuple[int, int] = (0, 0)
        self._counted_at = float("-inf")
        self._since_count = 0
        """Bytes written here since the cache was counted."""
        self._pages_since_count = 0
        self._hits = self._misses = self._written = self._failed = 0

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
        place = (entry.shelf, entry.key, entry.reading.method)
        document = entry.reading.document
        if self._outbox.put((place, entry), len(document.text) + len(document.markdown)):
            self._fresh[place] = entry

    async def settled(self) -> None:
        """Wait until all that was put is in the database; while that is away, until a try has failed."""
        await self._outbox.settled_within(SETTLE_LIMIT_S)

    async def _soon(self) -> None:
        """Wait for what was put, but no longer than a read may take."""
        await self._outbox.settled_within(GET_LIMIT_S)

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        """The pages of one principal that hold what is asked for, best first, each page once."""
        await self._soon()
        work = functools.partial(
            search, query=query, principal=principal, allowed=allowed, limit=limit, desk=self._reading
        )
        found = await self._tried(work, SEARCH_LIMIT_S)
        return PageHits(usable=False) if found is None else found

    async def recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        """One principal's pages, newest first; `before` is the number of the last one that is known."""
        await self._soon()
        work = functools.partial(
            page_rows.recent, principal=principal, allowed=allowed, limit=limit, before=before
        )
        return await self._tried(work, GET_LIMIT_S) or []

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        """The newest reading of one principal's page by the address at which it was found."""
        await self._soon()
        work = functools.partial(page_rows.found_at, url=url, principal=principal, allowed=allowed)
        return await self._tried(work, GET_LIMIT_S)

    async def entries(self, principal: str | None = None) -> AsyncIterator[PageEntry]:
        """Every page, for an export; None is everybody's."""
        await self.settled()
        last = 0
        while True:
            work = functools.partial(
                page_rows.entries, principal=principal, after=last, limit=EXPORTED_AT_ONCE
            )
            part = await self._tried(work, LONG_LIMIT_S)
            if part is None:
                raise self._incomplete()
            if not part:
                return
            for row in part:
                last = row["id"]
                if (entry := page_rows.entry_of(row)) is not None:
                    yield entry

    async def clear(self, principal: str | None = None) -> int:
        """Forget every page, or one principal's; how many there were."""
        await self._soon()
        self._counted_at = float("-inf")
        if principal is None:
            cleared = await self._tried(page_rows.clear_all, LONG_LIMIT_S)
            if cleared is None:
                raise self._incomplete()
            return cleared
        count = 0
        work = functools.partial(page_rows.clear_some, principal=principal)
        until = time.monotonic() + LONG_LIMIT_S
        while gone := await self._tried(work, LONG_LIMIT_S):
            count += gone
            if time.monotonic() > until:
                gone = None
                break
        if gone is None:
            raise self._incomplete()
        return count

    def _incomplete(self) -> IncompleteSearchError:
        return IncompleteSearchError(
            self._server.problem or f"{self._server.address} does not answer in time"
        )

    async def stats(self) -> PagesStats:
        """Numbers for status and metrics."""
        await self._soon()
        is_large = self._sizes[0] >= LARGE
        if is_large and time.monotonic() - self._counted_at < COUNT_AGAIN_S:
            is_usable = self._server.problem is None
        else:
            is_usable = await self._tried(self._count, GET_LIMIT_S) is not None
        pages, size = self._sizes if is_usable else (0, 0)
        return PagesStats(
            usable=is_usable,
            problem=self._server.problem,
            pages=pages,
            bytes=size,
            hits=self._hits,
            misses=self._misses,
            written=self._written,
            lost=self._outbox.lost + self._failed,
            waiting=len(self._outbox),
        )

    async def close(self) -> None:
        """Write what was put; the connections are let go of by whoever made the server."""
        await self._outbox.settled_within(CLOSE_LIMIT_S)
        await self._outbox.close()
        if self._touching is not None:
            self._touching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._touching
        for desk in (self._writing, self._reading):
            desk.thread.shutdown(wait=False, cancel_futures=True)

    def _unwritten(
        self, key: str, shelf: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        waiting = [self._fresh.get((shelf, key, method)) for method in methods]
        return newest(waiting, max_age_s=max_age_s, allowed=allowed)

    async def _kept(
        self, key: str, shelf: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        try:
            places = [page_rows.place_of(shelf, key, method) for method in methods]
        except UnicodeEncodeError:
            return None
        work = functools.partial(
            page_rows.get, places=places, shelf=shelf, key=key, max_age_s=max_age_s, allowed=allowed
        )
        found = await self._tried(work, GET_LIMIT_S)
        if found is None:
            return None
        entry, number = found
        if number is not None:
            self._touched.add(number)
            if self._touching is None or self._touching.done():
                self._touching = asyncio.get_running_loop().create_task(self._touch())
        return entry

    async def _tried(self, work: Callable[[Connection], Awaitable[T]], limit_s: float) -> T | None:
        try:
            return await self._server.run(work, limit_s)
        except PostgresUnavailableError:
            return None

    async def _touch(self) -> None:
        """Note what was read, many pages at once."""
        await asyncio.sleep(TOUCH_EVERY_S)
        touched, self._touched = self._touched, set()
        await self._tried(functools.partial(page_rows.touch, numbers=touched), GET_LIMIT_S)

    async def _write(self, batch: list[tuple[_Place, PageEntry]]) -> None:
        """Keep a batch.

        Raises:
            Unavailable: the database is away; all of it is to be tried again.
        """
        loop = asyncio.get_running_loop()
        entries = dict(batch)  # of two readings of a page the later stays
        pages = await loop.run_in_executor(self._writing.thread, self._made_ready, list(entries.values()))
        written = await self._write_together(pages)
        self._failed += len(entries) - written
        self._written += len(batch) - len(entries) + written
        for place, entry in batch:
            if self._fresh.get(place) is entry:
                del self._fresh[place]
        await self._make_room()

    def _made_ready(self, entries: list[PageEntry]) -> list[page_rows.PageRecord]:
        """The entries ready for the database; one that cannot be written down costs itself and no other."""
        pages = []
        for entry in entries:
            try:
                page = page_rows.page_of(entry, self._writing.cutter, self._limit_bytes)
            except (ValueError, TypeError, OverflowError, RecursionError) as error:
                log.warning("a page cannot be kept: %s", error)
                continue
            if page is not None:
                pages.append(page)
        return pages

    async def _write_together(self, pages: Sequence[page_rows.PageRecord]) -> int:
        """How many were kept: all, or each that can be when one of them cannot."""
        if not pages:
            return 0
        try:
            await self._server.run(functools.partial(self._insert, pages=pages), WRITE_LIMIT_S, writes=True)
        except PostgresUnavailableError as unavailable:
            if not is_of_the_value(unavailable.reason):
                raise
            if len(pages) == 1:
                log.warning("a page cannot be kept: %s", unavailable.reason)
                return 0
            return sum([await self._write_together([page]) for page in pages])
        return len(pages)

    async def _insert(self, connection: Connection, pages: Sequence[page_rows.PageRecord]) -> None:
        loop = asyncio.get_running_loop()
        owners = await page_rows.owner_numbers(connection, {page.owner for page in pages})
        numbers = await page_rows.numbers(connection, len(pages))
        rows = await loop.run_in_executor(
            self._writing.thread,
            lambda: [
                page_rows.rows_of(page, number, owners[page.owner])
                for page, number in zip(pages, numbers, strict=True)
            ],
        )
        await page_rows.put(connection, [row for row, _ in rows], [words for _, words in rows])
        self._since_count += sum(row[5] for row, _ in rows)
        self._pages_since_count += len(rows)

    async def _count(self, connection: Connection) -> tuple[int, int]:
        self._sizes = await page_rows.sizes(connection)
        self._counted_at = time.monotonic()
        self._since_count = self._pages_since_count = 0
        return self._sizes

    async def _make_room(self) -> None:
        """Drop what was not used for longest when there is more than may be."""
        is_known = self._counted_at > float("-inf") and self._pages_since_count < CHECKED_PAGES
        if is_known and self._sizes[1] + self._since_count <= self._limit_bytes:
            return
        with contextlib.suppress(PostgresUnavailableError):
            pages, size = await self._server.run(self._count, LONG_LIMIT_S)
            while size > self._limit_bytes and pages > 1:
                surplus = 1 - self._limit_bytes * PRUNE_TO / size
                work = functools.partial(page_rows.prune_some, count=max(1, int(pages * surplus)))
                if not await self._server.run(work, LONG_LIMIT_S, writes=True):
                    return  # another server does it
                pages, size = await self._server.run(self._count, LONG_LIMIT_S)
