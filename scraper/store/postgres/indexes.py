"""Named indexes in PostgreSQL; documents that one server adds are found by the next search of the others."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError
from typing import TypeVar

import asyncpg

from scraper.store.indexes.document_stores import DocumentStore, StoredIndex
from scraper.store.indexes.model import IndexDocument, IndexFaultError, Tokenizer
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError
from scraper.store.postgres.page_rows import make_storable
from scraper.store.postgres.schema import Connection

T = TypeVar("T")

LIMIT_S = 10.0
"""Seconds that an operation may take."""
LOAD_LIMIT_S = 60.0
"""Seconds. Reading an index of 100,000 documents takes this long."""
THREAD_LIMIT_S = 90.0
"""Seconds. Longer than the limits above with their retry, in case the event loop has stopped."""


class PostgresIndexStore:
    """The `IndexStore` protocol over the tables of one database.

    It is created in the event loop of the connections and used from another thread.
    """

    def __init__(self, server: PostgresPool) -> None:
        """Create the store; `server` holds the connections and is closed by the caller."""
        self._server = server
        self._loop = asyncio.get_running_loop()

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Create an index; return None if it exists."""
        now = time.time()
        number = self.run(
            lambda connection: connection.fetchval(
                "INSERT INTO indexes (principal, name, lowercase, min_length, created_at) "
                "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (principal, name) DO NOTHING RETURNING id",
                make_storable(principal),
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
        """Return all persistent indexes of one principal, or the one with this name."""
        rows = self.run(
            lambda connection: connection.fetch(
                "SELECT id, name, lowercase, min_length, created_at FROM indexes "
                'WHERE principal = $1 AND ($2::text IS NULL OR name = $2) ORDER BY name COLLATE "C"',
                make_storable(principal),
                name,
            ),
            LIMIT_S,
        )
        return [StoredIndex(number, found, Tokenizer(lower, least), made) for number, found, lower, least, made in rows]

    def open_documents(self, number: int) -> DocumentStore:
        """Return the documents of an index."""
        return _PostgresDocumentStore(self, number)

    def close(self) -> None:
        """Do nothing: the connections are closed by their owner."""

    def run(self, work: Callable[[Connection], Awaitable[T]], limit_s: float, *, writes: bool = False) -> T:
        """Run `work` in the event loop and return its result.

        Raises:
            IndexFaultError: The database is unavailable.
        """
        running = asyncio.run_coroutine_threadsafe(self._server.run(work, limit_s, writes=writes), self._loop)
        try:
            return running.result(THREAD_LIMIT_S)
        except (PostgresUnavailableError, TimeoutError, CancelledError):
            running.cancel()
            problem = self._server.problem or f"{self._server.address} cannot be used"
            raise IndexFaultError(f"Kept indexes are not available: {problem}") from None


class _PostgresDocumentStore:
    """Documents of one index."""

    def __init__(self, indexes: PostgresIndexStore, number: int) -> None:
        self._indexes = indexes
        self._number = number
        self._last = 0
        """Number of the newest document that was read."""
        self._written_here: set[int] = set()
        """Numbers of documents added by this server since then."""

    def put(self, document: IndexDocument) -> None:
        """Store a document in place of an older one with its id; it is in the database on return."""
        metadata = json.dumps(dict(document.metadata))

        async def work(connection: Connection) -> int:
            async with connection.transaction():
                # Numbers are allocated and written in the same order, so that no server skips a lower one.
                await connection.execute("SELECT pg_advisory_xact_lock($1, $2)", _PUT_LOCK, self._number)
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

        self._written_here.add(self._indexes.run(work, LIMIT_S, writes=True))

    def get(self, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        row = self._indexes.run(
            lambda connection: connection.fetchrow(
                "SELECT doc_id, content, metadata FROM documents WHERE index_id = $1 AND doc_id = $2",
                self._number,
                doc_id.encode(errors="replace"),
            ),
            LIMIT_S,
        )
        return None if row is None else _load_document(row)

    def read_new(self) -> Iterator[IndexDocument]:
        """Iterate over documents that other servers have added since the last call."""
        rows = self._indexes.run(
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
            if row["number"] not in self._written_here:
                yield _load_document(row)
        self._written_here.clear()


_PUT_LOCK = 0x53_4D_43_49


def _load_document(row: asyncpg.Record) -> IndexDocument:
    return IndexDocument(row["doc_id"].decode(), row["content"].decode(), json.loads(row["metadata"]))
