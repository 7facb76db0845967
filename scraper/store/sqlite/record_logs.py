"""Record logs in one SQLite file, which the servers of a machine share."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import apsw

from scraper.store import record_logs
from scraper.store.record_logs import RecordExistsError, RecordLogs, RecordsUnavailableError, StoredRecord
from scraper.store.sqlite.database import DatabaseSchema
from scraper.store.sqlite.database_threads import DatabaseThreads

T = TypeVar("T")

FILE_NAME = "records.sqlite"

_SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_52,
    version=1,
    create="""
        CREATE TABLE records (
            principal TEXT NOT NULL,
            log TEXT NOT NULL,
            number INTEGER NOT NULL,
            written_at REAL NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (principal, log, number)
        ) STRICT;
    """,
    drop="DROP TABLE IF EXISTS records",
)


class SqliteRecordLogs(RecordLogs):
    """The `RecordLogs` protocol over `records.sqlite` in a folder."""

    def __init__(self, folder: Path) -> None:
        """Open the file with the first call; the folder is created if needed."""
        self._threads = DatabaseThreads(folder / FILE_NAME, _SCHEMA, "records")
        self._written = 0

    async def append(self, principal: str, log: str, number: int, data: bytes) -> None:
        """Write a record. Raises RecordExistsError if the log has a record with this number."""
        now = time.time()

        def work(connection: apsw.Connection) -> bool:
            connection.execute(
                "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?)", (principal, log, number, now, data)
            )
            return connection.changes() == 1

        if not await self._run(work, writes=True):
            raise RecordExistsError(log)
        self._written += 1
        if self._written % record_logs.PRUNE_EVERY == 0:
            limits = (record_logs.TOTAL_BYTES, now - record_logs.KEEP_S)
            await self._run(lambda connection: bool(connection.execute(record_logs.PRUNE, limits)), writes=True)

    async def read(self, principal: str, log: str) -> list[StoredRecord]:
        """Return the records of a log in the order of their numbers."""
        rows: list[Any] = await self._run(
            lambda connection: connection.execute(
                "SELECT number, written_at, data FROM records WHERE principal = ? AND log = ? ORDER BY number",
                (principal, log),
            ).fetchall()
        )
        return [StoredRecord(number, float(written_at), bytes(data)) for number, written_at, data in rows]

    async def delete(self, principal: str, log: str, *, below: int | None = None) -> None:
        """Delete the records of a log, or those with numbers below `below`."""
        await self._run(
            lambda connection: bool(
                connection.execute(
                    "DELETE FROM records WHERE principal = ? AND log = ? AND (?3 IS NULL OR number < ?3)",
                    (principal, log, below),
                )
            ),
            writes=True,
        )

    async def list_logs(self, principal: str, prefix: str) -> list[str]:
        """Return the names of one principal's logs that begin with `prefix`."""
        rows = await self._run(
            lambda connection: connection.execute(
                "SELECT DISTINCT log FROM records WHERE principal = ? AND substr(log, 1, ?) = ? ORDER BY log",
                (principal, len(prefix), prefix),
            ).fetchall()
        )
        return [str(log) for (log,) in rows]

    async def close(self) -> None:
        """Close the file."""
        await self._threads.close()

    async def _run(self, work: Callable[[apsw.Connection], T], *, writes: bool = False) -> T:
        if writes:
            result = await self._threads.run_in_writer(work, record_logs.WRITE_LIMIT_S, writes=True)
        else:
            result = await self._threads.read(work, record_logs.READ_LIMIT_S)
        if result is None:
            raise RecordsUnavailableError
        return result
