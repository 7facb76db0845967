"""Search cache, record logs and named indexes in PostgreSQL; the caller closes the connections."""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import CancelledError
from typing import Any

import asyncpg

from scraper.store import record_logs, search_cache
from scraper.store.indexes.documents import UNAVAILABLE_MESSAGE, IndexStore
from scraper.store.indexes.model import IndexFaultError
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.schema import PostgresUnavailableError, is_value_error
from scraper.store.protocols import CacheScope
from scraper.store.record_logs import RecordLogs, RecordsUnavailableError
from scraper.store.search_cache import SearchCache, SqlStatement

_SEARCH_WRITE_LIMIT_S = 10.0


async def _fetch(
    server: PostgresPool, statement: str, values: tuple[Any, ...], limit_s: float, *, writes: bool = False
) -> list[asyncpg.Record]:
    return await server.run(lambda connection: connection.fetch(statement, *values), limit_s, writes=writes)


class PostgresSearchCache(SearchCache):
    """Search cache in the tables of one database."""

    _put_answer = """
        INSERT INTO answers (place, retrieved_at, answer) VALUES ($1, $2, $3)
        ON CONFLICT (place) DO UPDATE SET retrieved_at = excluded.retrieved_at, answer = excluded.answer
    """
    _get_answer = "SELECT answer FROM answers WHERE place = $1 AND retrieved_at BETWEEN $2 AND $3"

    def __init__(self, server: PostgresPool, *, keeps_answers: bool = True) -> None:
        """Use the connections of `server`. Without `keeps_answers` only cooldowns are stored."""
        super().__init__(keeps_answers=keeps_answers, retry_on=(PostgresUnavailableError,))
        self._server = server

    async def _fetch(self, statement: str, values: tuple[Any, ...]) -> list[Any] | None:
        try:
            return await _fetch(self._server, statement, values, search_cache.READ_LIMIT_S)
        except PostgresUnavailableError:
            return None

    async def _write(self, batch: list[SqlStatement]) -> None:
        """Execute one statement; skip it if the database refuses its values."""
        ((statement, values),) = batch
        try:
            await _fetch(self._server, statement, values, _SEARCH_WRITE_LIMIT_S, writes=True)
        except PostgresUnavailableError as unavailable:
            if not is_value_error(unavailable.reason):
                raise

    def _answer_key(self, scope: CacheScope, key: str) -> tuple[Any, ...]:
        parts = "\0".join((scope.principal, scope.profile, scope.language, key))
        return (hashlib.blake2b(parts.encode(errors="replace"), digest_size=16).digest(),)


class PostgresRecordLogs(RecordLogs):
    """Record logs in one database, which all servers share."""

    def __init__(self, server: PostgresPool) -> None:
        """Use the connections of `server`."""
        self._server = server

    async def close(self) -> None:
        """Do nothing: the caller closes the connections."""

    async def _fetch(self, statement: str, values: tuple[Any, ...], *, writes: bool = False) -> list[Any]:
        limit_s = record_logs.WRITE_LIMIT_S if writes else record_logs.READ_LIMIT_S
        try:
            return await _fetch(self._server, statement, values, limit_s, writes=writes)
        except PostgresUnavailableError as error:
            raise RecordsUnavailableError from error


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
        """Run a statement in the event loop; raise IndexFaultError if the database is unavailable."""
        limit_s = _LOAD_LIMIT_S if is_long else INDEX_LIMIT_S
        work = _fetch(self._server, statement, values, limit_s, writes=writes)
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result(_THREAD_LIMIT_S)
        except (PostgresUnavailableError, TimeoutError, CancelledError):
            running.cancel()
            raise IndexFaultError(UNAVAILABLE_MESSAGE) from None
