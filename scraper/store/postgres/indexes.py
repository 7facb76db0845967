"""Named indexes in PostgreSQL: what one server adds, the others find at their next search."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError
from typing import TypeVar

import asyncpg

from scraper.store.indexes.document_stores import DocumentStore, StoredIndex
from scraper.store.indexes.model import IndexDocument, IndexFaultError
from scraper.store.indexes.tokenizer import Tokenizer
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError
from scraper.store.postgres.page_rows import storable
from scraper.store.postgres.schema import Connection

T = TypeVar("T")

LIMIT_S = 10.0
LOAD_LIMIT_S = 60.0
"""To read an index of 100,000 documents."""
THREAD_LIMIT_S = 90.0
"""More than any of the above with its second try: for an event loop that no longer turns."""


class PostgresIndexes:
    """The `KeptIndexes` protocol; made in the event loop that it is served by, used from another thread."""

    def __init__(self, server: PostgresPool) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Make an index; None when it is there already."""
        now = time.time()
        number = self.done(
            lambda connection: connection.fetchval(
                "INSERT INTO indexes (principal, name, lowercase, min_length, created_at) "
                "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (principal, name) DO NOTHING RETURNING id",
                storable(principal),
                name,
                tokenizer.lowercase,
                tokenizer.min_length,
                now,
            ),
            LIMIT_S,
            writes=True,
        )
        return None if number is None else StoredIndex(number, name, tokenizer, now)

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """One principal's kept indexes, or the one of that name."""
        rows = self.done(
            lambda connection: connection.fetch(
                "SELECT id, name, lowercase, min_length, created_at FROM indexes "
                'WHERE principal = $1 AND ($2::text IS NULL OR name = $2) ORDER BY name COLLATE "C"',
                storable(principal),
                name,
            ),
            LIMIT_S,
        )
        return [
            StoredIndex(number, found, Tokenizer(lower, least), made)
            for number, found, lower, least, made in rows
        ]

    def shelf(self, number: int) -> DocumentStore:
        """The documents of an index."""
        return _PostgresShelf(self, number)

    def close(self) -> None:
        """Nothing: the connections belong to whoever made the server."""

    def done(self, work: Callable[[Connection], Awaitable[T]], limit_s: float, *, writes: bool = False) -> T:
        """What `work` comes to.

        Raises:
            IndexFault: the database cannot serve it.
        """
        running = asyncio.run_coroutine_threadsafe(self._server.run(work, limit_s, writes=writes), self._loop)
        try:
            return running.result(THREAD_LIMIT_S)
        except (PostgresUnavailableError, TimeoutError, CancelledError):
            running.cancel()
            problem = self._server.problem or f"{self._server.address} cannot be used"
            raise IndexFaultError(f"Kept indexes are not available: {problem}") from None


class _PostgresShelf:
    """The documents of one index."""

    def __init__(self, indexes: PostgresIndexes, number: int) -> None:
        self._indexes = indexes
        self._number = number
        self._last = 0
        """The newest document that was seen."""
        self._own: set[int] = set()
        """Documents put here since then."""

    def put(self, document: IndexDocument) -> None:
        """Keep a document in place of an older one of that id; it is in the database when this returns."""
        metadata = json.dumps(dict(document.metadata))

        async def work(connection: Connection) -> int:
            async with connection.transaction():
                # Numbers are given and written in one order, so that no server passes over a lower one.
                await connection.execute("SELECT pg_advisory_xact_lock($1, $2)", _PUTTING, self._number)
                return int(
                    await connection.fetchval(
                        "INSERT INTO documents (index_id, doc_id, number, content, metadata) "
                        "VALUES ($1, $2, nextval('document_numbers'), $3, $4) "
                        "ON CONFLICT (index_id, doc_id) DO UPDATE SET number = excluded.number, "
                        "content = excluded.content, metadata = excluded.metadata RETURNING number",
                        self._number,
                        document.doc_id.encode(),
                        document.content.encode(),
                        metadata,
                    )
                )

        self._own.add(self._indexes.done(work, LIMIT_S, writes=True))

    def get(self, doc_id: str) -> IndexDocument | None:
        """A document by its id."""
        row = self._indexes.done(
            lambda connection: connection.fetchrow(
                "SELECT doc_id, content, metadata FROM documents WHERE index_id = $1 AND doc_id = $2",
                self._number,
                doc_id.encode(errors="replace"),
            ),
            LIMIT_S,
        )
        return None if row is None else _document(row)

    def news(self) -> Iterator[IndexDocument]:
        """What was put since this was last asked, by whatever server."""
        rows = self._indexes.done(
            lambda connection: connection.fetch(
                "SELECT number, doc_id, content, metadata FROM documents "
                "WHERE index_id = $1 AND number > $2 ORDER BY number",
                self._number,
                self._last,
            ),
            LOAD_LIMIT_S,
        )
        for row in rows:
            self._last = row["number"]
            if row["number"] not in self._own:
                yield _document(row)
        self._own.clear()


_PUTTING = 0x53_4D_43_49


def _document(row: asyncpg.Record) -> IndexDocument:
    return IndexDocument(row["doc_id"].decode(), row["content"].decode(), json.loads(row["metadata"]))
