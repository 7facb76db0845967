"""Named indexes in PostgreSQL; documents that one server adds are found by the next search of the others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from scraper.store.indexes.index_stores import UNAVAILABLE_MESSAGE, IndexStore
from scraper.store.indexes.model import IndexDocument, IndexFaultError
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError
from scraper.store.postgres.schema import Connection

T = TypeVar("T")

LIMIT_S = 10.0
"""Seconds for any operation other than reading all documents."""
LOAD_LIMIT_S = 60.0
"""Seconds. Reading an index of 100,000 documents takes this long."""
_PUT_LOCK = 0x53_4D_43_49
"""First key of the advisory lock that a server holds while it adds a document."""
THREAD_LIMIT_S = 90.0
"""Seconds. Longer than the limits above with their retry, in case the event loop has stopped."""


class PostgresIndexStore(IndexStore):
    """Persistent indexes in one database; created in the event loop of its connections, used in a thread."""

    def __init__(self, server: PostgresPool) -> None:
        """Create the store; `server` holds the connections and is closed by the caller."""
        self._server = server
        self._loop = asyncio.get_running_loop()

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
                        self._encode(document.doc_id),
                        self._encode(document.content),
                        metadata,
                    )
                )

        return self._run(work, LIMIT_S, writes=True)

    def close(self) -> None:
        """Do nothing: the connections are closed by their owner."""

    def _encode(self, text: str) -> bytes:
        return text.encode(errors="replace")

    def _fetch(
        self, statement: str, values: tuple[Any, ...], *, writes: bool = False, is_long: bool = False
    ) -> list[Any]:
        limit_s = LOAD_LIMIT_S if is_long else LIMIT_S
        return self._run(lambda connection: connection.fetch(statement, *values), limit_s, writes=writes)

    def _run(self, work: Callable[[Connection], Awaitable[T]], limit_s: float, *, writes: bool = False) -> T:
        """Run `work` in the event loop; raise IndexFaultError if the database is unavailable."""
        running = asyncio.run_coroutine_threadsafe(self._server.run(work, limit_s, writes=writes), self._loop)
        try:
            return running.result(THREAD_LIMIT_S)
        except (PostgresUnavailableError, TimeoutError, CancelledError):
            running.cancel()
            raise IndexFaultError(UNAVAILABLE_MESSAGE) from None
