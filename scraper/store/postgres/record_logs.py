"""Record logs in PostgreSQL, which all servers share."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from scraper.store import record_logs
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError
from scraper.store.postgres.schema import Connection
from scraper.store.record_logs import RecordExistsError, RecordLogs, RecordsUnavailableError, StoredRecord
from scraper.store.serialization import make_storable

T = TypeVar("T")


class PostgresRecordLogs(RecordLogs):
    """The `RecordLogs` protocol over one database."""

    def __init__(self, server: PostgresPool) -> None:
        """Use connections that the caller closes."""
        self._server = server
        self._written = 0

    async def append(self, principal: str, log: str, number: int, data: bytes) -> None:
        """Write a record. Raises RecordExistsError if the log has a record with this number."""
        now = time.time()
        owner, name = make_storable(principal), make_storable(log)
        # `work` may run twice: a record with the same data is the one that the first attempt wrote.
        stored = await self._run(
            lambda connection: connection.fetchval(
                "WITH new AS (INSERT INTO records VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING data) "
                "SELECT data FROM new UNION ALL "
                "SELECT data FROM records WHERE principal = $1 AND log = $2 AND number = $3 LIMIT 1",
                owner,
                name,
                number,
                now,
                data,
            ),
            writes=True,
        )
        if stored is None or bytes(stored) != data:
            raise RecordExistsError(log)
        self._written += 1
        if self._written % record_logs.PRUNE_EVERY == 0:
            limits = (record_logs.TOTAL_BYTES, now - record_logs.KEEP_S)
            await self._run(lambda connection: connection.execute(record_logs.PRUNE, *limits), writes=True)

    async def read(self, principal: str, log: str) -> list[StoredRecord]:
        """Return the records of a log in the order of their numbers."""
        rows = await self._run(
            lambda connection: connection.fetch(
                "SELECT number, written_at, data FROM records WHERE principal = $1 AND log = $2 ORDER BY number",
                make_storable(principal),
                make_storable(log),
            )
        )
        return [StoredRecord(number, written_at, bytes(data)) for number, written_at, data in rows]

    async def delete(self, principal: str, log: str, *, below: int | None = None) -> None:
        """Delete the records of a log, or those with numbers below `below`."""
        await self._run(
            lambda connection: connection.execute(
                "DELETE FROM records WHERE principal = $1 AND log = $2 AND ($3::int IS NULL OR number < $3)",
                make_storable(principal),
                make_storable(log),
                below,
            ),
            writes=True,
        )

    async def list_logs(self, principal: str, prefix: str) -> list[str]:
        """Return the names of one principal's logs that begin with `prefix`."""
        rows = await self._run(
            lambda connection: connection.fetch(
                "SELECT log FROM records WHERE principal = $1 AND starts_with(log, $2) "
                'GROUP BY log ORDER BY log COLLATE "C"',
                make_storable(principal),
                make_storable(prefix),
            )
        )
        return [str(row["log"]) for row in rows]

    async def close(self) -> None:
        """Do nothing: the caller closes the connections."""

    async def _run(self, work: Callable[[Connection], Awaitable[T]], *, writes: bool = False) -> T:
        limit_s = record_logs.WRITE_LIMIT_S if writes else record_logs.READ_LIMIT_S
        try:
            return await self._server.run(work, limit_s, writes=writes)
        except PostgresUnavailableError as error:
            raise RecordsUnavailableError from error
