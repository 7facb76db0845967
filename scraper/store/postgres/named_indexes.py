"""Named indexes in PostgreSQL; documents that one server adds are found by the next search of the others."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError
from typing import TypeVar

from scraper.store.indexes.index_stores import UNAVAILABLE_MESSAGE, StoredIndex
from scraper.store.indexes.model import IndexDocument, IndexFaultError
from scraper.store.indexes.query import Tokenizer
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError
from scraper.store.postgres.schema import Connection
from scraper.store.serialization import make_storable

T = TypeVar("T")

LIMIT_S = 10.0
"""Seconds for any operation other than reading all documents."""
LOAD_LIMIT_S = 60.0
"""Seconds. Reading an index of 100,000 documents takes this long."""
_PUT_LOCK = 0x53_4D_43_49
"""First key of the advisory lock that a server holds while it adds a document."""
THREAD_LIMIT_S = 90.0
"""Seconds. Longer than the limits above with their retry, in case the event loop has stopped."""


class PostgresIndexStore:
    """The `IndexStore` protocol over one database; created in the event loop of its connections, used in a thread."""

    def __init__(self, server: PostgresPool) -> None:
        """Create the store; `server` holds the connections and is closed by the caller."""
        self._server = server
        self._loop = asyncio.get_running_loop()

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Create an index; return None if it exists."""
        now = time.time()
        number = self._run(
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
        rows = self._run(
            lambda connection: connection.fetch(
                "SELECT id, name, lowercase, min_length, created_at FROM indexes "
                'WHERE principal = $1 AND ($2::text IS NULL OR name = $2) ORDER BY name COLLATE "C"',
                make_storable(principal),
                name,
            ),
            LIMIT_S,
        )
        return [StoredIndex(number, found, Tokenizer(lower, least), made) for number, found, lower, least, made in rows]

    def put_document(self, index: int, document: IndexDocument) -> int:
        """Store a document in place of an older one with its id; return its new number."""
        metadata = json.dumps(dict(document.metadata))

        async def work(connection: Connection) -> int:
            async with connection.transaction():
                # Numbers are allocated and written in the same order, so that no server skips a lower one.
                await connection.execute("SELECT pg_advisory_xact_lock($1, $2)", _PUT_LOCK, index)
                return int(
                    await connection.fetchval(
                        "INSERT INTO documents (index_id, doc_id, number, content, metadata) "
                        "VALUES ($1, $2, nextval('document_numbers'), $3, $4) "
                        "ON CONFLICT (index_id, doc_id) DO UPDATE SET number = excluded.number, "
                        "content = excluded.content, metadata = excluded.metadata RETURNING number",
                        index,
                        document.doc_id.encode(),
                        document.content.encode(),
                        metadata,
                    )
                )

        return self._run(work, LIMIT_S, writes=True)

    def get_document(self, index: int, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        statement = "SELECT content, metadata FROM documents WHERE index_id = $1 AND doc_id = $2"
        values = (index, doc_id.encode(errors="replace"))
        row = self._run(lambda connection: connection.fetchrow(statement, *values), LIMIT_S)
        return None if row is None else IndexDocument(doc_id, row[0].decode(), json.loads(row[1]))

    def list_documents(self, index: int, after: int) -> Iterator[tuple[int, IndexDocument]]:
        """Iterate over the documents with numbers above `after`, in order."""
        columns = "number, doc_id, content, metadata"
        statement = f"SELECT {columns} FROM documents WHERE index_id = $1 AND number > $2 ORDER BY number"
        rows = self._run(lambda connection: connection.fetch(statement, index, after), LOAD_LIMIT_S)
        return (
            (number, IndexDocument(doc_id.decode(), content.decode(), json.loads(metadata)))
            for number, doc_id, content, metadata in rows
        )

    def close(self) -> None:
        """Do nothing: the connections are closed by their owner."""

    def _run(self, work: Callable[[Connection], Awaitable[T]], limit_s: float, *, writes: bool = False) -> T:
        """Run `work` in the event loop; raise IndexFaultError if the database is unavailable."""
        running = asyncio.run_coroutine_threadsafe(self._server.run(work, limit_s, writes=writes), self._loop)
        try:
            return running.result(THREAD_LIMIT_S)
        except (PostgresUnavailableError, TimeoutError, CancelledError):
            running.cancel()
            raise IndexFaultError(UNAVAILABLE_MESSAGE) from None
