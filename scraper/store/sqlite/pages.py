"""Page store in one SQLite file: one thread writes, others read, the event loop never waits for the disk."""

import asyncio
import contextlib
import functools
import json
from pathlib import Path

import apsw

from scraper.model import PageHit, PageHits
from scraper.store import base_page_store
from scraper.store.base_page_store import PageQueries, WriteBehindPageStore
from scraper.store.protocols import PageEntry
from scraper.store.query import CacheQuery, parse_as_words, parse_query
from scraper.store.snippets import FIRST_RANKED, make_hit
from scraper.store.sqlite import page_queries
from scraper.store.sqlite.database import DatabaseThreads, transaction
from scraper.values.text import read_statements

FILE_NAME = "pages.sqlite"

BATCH = 64
"""Pages in one transaction. A commit costs as much as ten pages."""

_SQL = read_statements(__package__, "search_statements.sql")


class SqlitePageStore(WriteBehindPageStore):
    """The `PageStore` protocol over `pages.sqlite` in a folder."""

    def __init__(self, folder: Path, *, limit_bytes: int) -> None:
        """Open the store; if the file exceeds `limit_bytes`, the least recently used pages are deleted."""
        queries = PageQueries(
            page_queries.get, _search_pages, page_queries.list_recent, _find_page, page_queries.list_entries
        )
        self._threads = DatabaseThreads(folder / FILE_NAME, page_queries.SCHEMA, "pages")
        super().__init__(queries, self._threads, name="it", batch=BATCH)
        self._limit_bytes = limit_bytes
        self._touched: set[int] = set()
        # The file is opened now rather than with the first page, so that a problem is reported at the start.
        self._threads.writer.submit(self._threads.try_run, lambda connection: None)

    def _touch(self, number: int) -> None:
        if number not in self._touched:
            self._touched.add(number)
            self._threads.writer.submit(self._write_touched)

    def _write_touched(self) -> None:
        touched, self._touched = self._touched, set()
        if touched:
            self._threads.try_run(functools.partial(page_queries.touch, numbers=touched))

    async def _clear(self) -> int:
        def work(connection: apsw.Connection) -> int:
            with connection:
                count = page_queries.clear(connection)
            # Give the disk space back; while others read, SQLite does that later.
            with contextlib.suppress(apsw.Error):
                connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            return count

        return await self._threads.run_in_writer(work, base_page_store.LONG_LIMIT_S)

    async def _fetch_sizes(self) -> tuple[int, int]:
        return await self._threads.run_in_writer(page_queries.sizes, base_page_store.GET_LIMIT_S)

    async def _write(self, batch: list[PageEntry]) -> None:
        """Store a batch; pages that cannot be stored are counted as failed, not retried."""
        await asyncio.get_running_loop().run_in_executor(self._threads.writer, self._write_batch, batch)

    def _write_batch(self, batch: list[PageEntry]) -> None:
        rows, failed = self._make_rows(functools.partial(page_queries.make_row, limit_bytes=self._limit_bytes), batch)
        written = self._write_rows(rows)
        if written < len(rows):
            # Pages that still fit a nearly full disk are stored.
            written = sum(self._write_rows([row]) for row in rows)
        self._written += written
        self._failed += failed + len(rows) - written

    def _write_rows(self, rows: list[page_queries.SqlitePageRow]) -> int:
        """Write rows in one transaction, and return their number, or 0 if the file cannot take them."""

        def insert(connection: apsw.Connection) -> int:
            with transaction(connection):
                for row in rows:
                    page_queries.put(connection, row)
            with connection:
                page_queries.prune(connection, self._limit_bytes)
            return len(rows)

        return (self._threads.try_run(insert, writes=True) or 0) if rows else 0


def _search_pages(
    connection: apsw.Connection, *, query: str, principal: str, allowed: frozenset[str], limit: int
) -> PageHits:
    parsed = parse_query(query)
    lists = page_queries.list_allowances(connection, principal)
    valid = [one for one in lists if page_queries.is_valid(one, allowed)]
    may_read_all = len(valid) == len(lists) and not connection.execute(_SQL["has_others"], (principal,)).get
    condition, values = ("", ()) if may_read_all else (_SQL["own"], (principal, json.dumps(valid)))
    ranked_count = limit * FIRST_RANKED
    while True:
        try:
            ranked = page_queries.rank_pages(connection, "words", parsed, ranked_count, condition, values)
        except apsw.SQLError as error:
            # If FTS5 refuses an expression of the parser, search for the plain words instead.
            plain = parse_as_words(query)
            if plain == parsed or not str(error).startswith("fts5:"):
                raise
            parsed = plain
            continue
        found = _load_hits(connection, ranked, parsed, limit)
        if len(found) == limit or len(ranked) < ranked_count:
            return PageHits(tuple(found), parsed.note)
        ranked_count *= FIRST_RANKED


def _find_page(connection: apsw.Connection, *, url: str, principal: str, allowed: frozenset[str]) -> PageEntry | None:
    numbers = connection.execute(
        "SELECT id FROM pages WHERE url = ? AND principal = ? ORDER BY retrieved_at DESC", (url, principal)
    ).fetchall()
    entries = (page_queries.find_entry(connection, int(str(number))) for (number,) in numbers)
    return next((entry for entry in entries if entry is not None and entry.allowances <= allowed), None)


def _load_hits(
    connection: apsw.Connection, ranked: list[tuple[float, int]], parsed: CacheQuery, limit: int
) -> list[PageHit]:
    found: dict[str, PageHit] = {}
    for score, number in ranked:
        url = connection.execute("SELECT url FROM pages WHERE id = ?", (number,)).get
        if url is None or str(url) in found:
            continue
        entry = page_queries.find_entry(connection, number)
        if entry is not None:
            found[str(url)] = make_hit(entry.reading, parsed, score)
        if len(found) == limit:
            break
    return list(found.values())
