"""Record logs: numbered records under a name, for state that outlives a call; and their SQLite file.

The statements are the same in SQLite and PostgreSQL.
"""

import time
from dataclasses import dataclass

from scraper.store.protocols import SqlDatabase
from scraper.store.serialization import make_storable
from scraper.values.text import read_statements

TOTAL_BYTES = 1_000_000_000
"""Bytes of all logs. Above this, the oldest logs of the principals with most bytes are deleted."""
KEEP_S = 90 * 86_400.0
"""Seconds after its last record until a log is deleted."""
PRUNE_EVERY = 200
READ_LIMIT_S = 20.0
WRITE_LIMIT_S = 10.0

_SQL = read_statements(__package__, "record_statements.sql")


class RecordExistsError(Exception):
    """The log already contains a record with this number, written by another call or server."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record of a log."""

    number: int
    written_at: float
    """Seconds of the epoch."""
    data: bytes


class RecordLogs:
    """Logs of each principal by name. Methods raise DatabaseUnavailableError if the database is unavailable."""

    def __init__(self, database: SqlDatabase) -> None:
        """Use the table `records` of a database."""
        self._database = database
        self._written = 0

    async def append(self, principal: str, log: str, number: int, data: bytes) -> None:
        """Write a record; it is stored on return.

        Raises:
            RecordExistsError: The log has a record with this number.
        """
        now = time.time()
        values = (make_storable(principal), make_storable(log), number, now, data)
        ((written_at,),) = await self._database.fetch(_SQL["append"], values, WRITE_LIMIT_S, writes=True)
        # A statement may run twice, if its result was lost: a record with this time is that of the first run.
        if written_at != now:
            raise RecordExistsError(log)
        self._written += 1
        if self._written % PRUNE_EVERY == 0:
            await self._database.fetch(_SQL["prune"], (TOTAL_BYTES, now - KEEP_S), WRITE_LIMIT_S, writes=True)

    async def read(self, principal: str, log: str) -> list[StoredRecord]:
        """Return the records of a log in the order of their numbers; an unknown log has none."""
        rows = await self._database.fetch(_SQL["read"], (make_storable(principal), make_storable(log)), READ_LIMIT_S)
        return [StoredRecord(number, written_at, bytes(data)) for number, written_at, data in rows]

    async def delete(self, principal: str, log: str, *, below: int | None = None) -> None:
        """Delete the records of a log, or those with numbers below `below`."""
        values = (make_storable(principal), make_storable(log), below)
        await self._database.fetch(_SQL["delete"], values, WRITE_LIMIT_S, writes=True)

    async def list_logs(self, principal: str, prefix: str) -> list[str]:
        """Return the names of one principal's logs that begin with `prefix`, in alphabetical order."""
        rows = await self._database.fetch(_SQL["list"], (make_storable(principal), make_storable(prefix)), READ_LIMIT_S)
        return sorted(str(log) for (log,) in rows)

    async def close(self) -> None:
        """Close the database."""
        await self._database.close()
