"""Stores in PostgreSQL, shared by many servers; the caller closes the connections.

While the database is unavailable, writes of pages and search answers are queued and reads miss.
"""

import asyncio
import contextlib
import functools
import hashlib
import logging
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any

from scraper.store import base_page_store
from scraper.store.base_page_store import PageQueries, WriteBehindPageStore
from scraper.store.index_documents import UNAVAILABLE_MESSAGE, IndexStore
from scraper.store.index_model import IndexFaultError
from scraper.store.postgres import page_queries
from scraper.store.postgres.database import Connection, PostgresPool
from scraper.store.postgres.lexemes import LexemeTokenizer
from scraper.store.postgres.page_search import search_pages
from scraper.store.protocols import CacheScope, DatabaseUnavailableError, PageEntry
from scraper.store.search_cache import SearchCache

log = logging.getLogger(__name__)

_BATCH = 32
"""Pages in one transaction. With more, another server that stores one of them waits too long."""
_WRITE_LIMIT_S = 30.0
TOUCH_EVERY_S = 5.0
"""Seconds during which uses of pages are collected before their times are written."""
_COUNT_AGAIN_S = 30.0
"""Seconds between two counts of a large cache. Counting a million pages takes a tenth of a second."""
LARGE = 20_000
"""Pages from which counts are reused for `_COUNT_AGAIN_S`."""
_PRUNE_TO = 0.9
"""Share of the size limit that remains after pages were deleted to make room."""
CHECKED_PAGES = 1_000
"""Pages written by this server, after which the pages of all servers are counted again."""


class PostgresPageStore(WriteBehindPageStore):
    """The `PageStore` protocol over the tables of one database."""

    def __init__(self, server: PostgresPool, *, limit_bytes: int) -> None:
        """Open the store; if all rows exceed `limit_bytes`, the least recently used pages are deleted."""
        # Two threads, so that no search waits until the texts of a batch are split into words.
        self._writing, self._reading = LexemeTokenizer(), LexemeTokenizer()
        queries = PageQueries(
            page_queries.get,
            functools.partial(search_pages, lexer=self._reading),
            page_queries.list_recent,
            page_queries.find_page,
            page_queries.list_entries,
        )
        self._server = server
        super().__init__(queries, server, name=str(server.address), batch=_BATCH)
        self._limit_bytes = limit_bytes
        self._touched: set[int] = set()
        self._touching: asyncio.Task[None] | None = None
        self._sizes: tuple[int, int] = (0, 0)
        self._counted_at = 0.0
        self._bytes_since_count = 0
        """Bytes written by this server since the cache was counted."""
        self._pages_since_count = CHECKED_PAGES

    async def close(self) -> None:
        """Write the queued pages; the connections are closed by the owner of the pool."""
        await super().close()
        if self._touching is not None:
            self._touching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._touching
        for lexer in (self._writing, self._reading):
            lexer.thread.shutdown(wait=False, cancel_futures=True)

    async def _clear(self) -> int:
        self._sizes, self._pages_since_count = (0, 0), CHECKED_PAGES
        return await self._server.run(page_queries.clear, base_page_store.LONG_LIMIT_S)

    async def _fetch_sizes(self) -> tuple[int, int]:
        if self._sizes[0] < LARGE or time.monotonic() - self._counted_at >= _COUNT_AGAIN_S:
            return await self._server.run(self._count, base_page_store.GET_LIMIT_S)
        if self._server.problem is not None:
            raise DatabaseUnavailableError
        return self._sizes

    def _touch(self, number: int) -> None:
        self._touched.add(number)
        if self._touching is None or self._touching.done():
            self._touching = asyncio.get_running_loop().create_task(self._write_touched())

    async def _write_touched(self) -> None:
        await asyncio.sleep(TOUCH_EVERY_S)
        touched, self._touched = self._touched, set()
        await self._read(page_queries.touch, base_page_store.GET_LIMIT_S, numbers=touched)

    async def _write(self, batch: list[PageEntry]) -> None:
        """Store a batch, unless the database is unavailable."""
        loop = asyncio.get_running_loop()
        # The later of two readings of a page remains.
        entries = {entry.place: entry for entry in batch}
        make_row = functools.partial(page_queries.make_row, lexer=self._writing, limit_bytes=self._limit_bytes)
        pages, _ = await loop.run_in_executor(self._writing.thread, self._make_rows, make_row, list(entries.values()))
        written = await self._write_pages(pages)
        self._failed += len(entries) - written
        self._written += len(batch) - len(entries) + written
        await self._prune()

    async def _write_pages(self, pages: Sequence[page_queries.PostgresPageRow]) -> int:
        if not pages:
            return 0
        try:
            await self._server.run(functools.partial(self._insert, pages=pages), _WRITE_LIMIT_S, writes=True)
        except DatabaseUnavailableError as unavailable:
            if unavailable.may_retry:
                raise
            if len(pages) == 1:
                log.warning("a page cannot be cached: %s", unavailable.reason)
                return 0
            return sum([await self._write_pages([page]) for page in pages])
        return len(pages)

    async def _insert(self, connection: Connection, pages: Sequence[page_queries.PostgresPageRow]) -> None:
        loop = asyncio.get_running_loop()
        owners = await page_queries.find_owner_ids(connection, {page.owner for page in pages})
        # Numbers grow with time, so the newest pages come first without sorting.
        numbers = await connection.fetch("SELECT nextval('page_numbers') FROM generate_series(1, $1)", len(pages))
        rows = await loop.run_in_executor(
            self._writing.thread,
            lambda: [
                page_queries.make_values(page, number, owners[page.owner])
                for page, (number,) in zip(pages, numbers, strict=True)
            ],
        )
        await page_queries.put(connection, [row for row, _ in rows], [words for _, words in rows])
        self._bytes_since_count += sum(row[5] for row, _ in rows)
        self._pages_since_count += len(rows)

    async def _count(self, connection: Connection) -> tuple[int, int]:
        self._sizes = await page_queries.sizes(connection)
        self._counted_at = time.monotonic()
        self._bytes_since_count = self._pages_since_count = 0
        return self._sizes

    async def _prune(self) -> None:
        is_known = self._pages_since_count < CHECKED_PAGES
        if is_known and self._sizes[1] + self._bytes_since_count <= self._limit_bytes:
            return
        with contextlib.suppress(DatabaseUnavailableError):
            pages, size = await self._server.run(self._count, base_page_store.LONG_LIMIT_S)
            while size > self._limit_bytes and pages > 1:
                surplus = 1 - self._limit_bytes * _PRUNE_TO / size
                work = functools.partial(page_queries.prune_some, count=max(1, int(pages * surplus)))
                if not await self._server.run(work, base_page_store.LONG_LIMIT_S, writes=True):
                    return  # another server is pruning
                pages, size = await self._server.run(self._count, base_page_store.LONG_LIMIT_S)


class PostgresSearchCache(SearchCache):
    """Search cache in the tables of one database."""

    _put_answer = """
        INSERT INTO answers (place, retrieved_at, answer) VALUES ($1, $2, $3)
        ON CONFLICT (place) DO UPDATE SET retrieved_at = excluded.retrieved_at, answer = excluded.answer
    """
    _get_answer = "SELECT answer FROM answers WHERE place = $1 AND retrieved_at BETWEEN $2 AND $3"

    def _answer_key(self, scope: CacheScope, key: str) -> tuple[Any, ...]:
        parts = "\0".join((scope.principal, scope.profile, scope.language, key))
        return (hashlib.blake2b(parts.encode(errors="replace"), digest_size=16).digest(),)


INDEX_LIMIT_S = 10.0
"""Seconds for any operation of named indexes other than reading all documents."""
_LOAD_LIMIT_S = 60.0
"""Seconds. Reading an index of 100,000 documents takes this long."""
_THREAD_LIMIT_S = 90.0
"""Seconds. Longer than the limits above with their retry, in case the event loop has stopped."""
_PUT_LOCK = 0x53_4D_43_49
"""First key of the advisory lock that a server holds while it adds a document."""


class PostgresIndexStore(IndexStore):
    """Persistent indexes in one database; created in the event loop of its connections, used in a thread.

    Documents that one server adds are found by the next search of the others.
    """

    # Numbers are allocated and written in the same order, under the lock, so that no server skips a lower one.
    _put = f"""
        INSERT INTO documents (index_id, doc_id, number, content, metadata)
        SELECT $1, $2, nextval('document_numbers'), $3, $4 FROM pg_advisory_xact_lock({_PUT_LOCK}, $1)
        ON CONFLICT (index_id, doc_id) DO UPDATE SET number = excluded.number,
        content = excluded.content, metadata = excluded.metadata RETURNING number
    """

    def __init__(self, server: PostgresPool) -> None:
        """Use the connections of `server`."""
        self._server = server
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Do nothing: the caller closes the connections."""

    def _encode(self, text: str) -> bytes:
        return text.encode(errors="replace")

    def _fetch(
        self, statement: str, values: tuple[Any, ...], *, writes: bool = False, is_long: bool = False
    ) -> list[Any]:
        limit_s = _LOAD_LIMIT_S if is_long else INDEX_LIMIT_S
        work = self._server.fetch(statement, values, limit_s, writes=writes)
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result(_THREAD_LIMIT_S)
        except (DatabaseUnavailableError, TimeoutError, CancelledError):
            running.cancel()
            raise IndexFaultError(UNAVAILABLE_MESSAGE) from None
