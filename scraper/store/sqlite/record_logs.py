"""Record logs in a SQLite file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from scraper.store.record_logs import READ_LIMIT_S, WRITE_LIMIT_S, RecordLogs, RecordsUnavailableError
from scraper.store.sqlite.database import DatabaseSchema, DatabaseThreads

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
    """Record logs in `records.sqlite` in a folder."""

    def __init__(self, folder: Path) -> None:
        """Open the file with the first call; the folder is created if needed."""
        self._threads = DatabaseThreads(folder / FILE_NAME, _SCHEMA, "records")

    async def close(self) -> None:
        """Close the file."""
        await self._threads.close()

    async def _fetch(self, statement: str, values: tuple[Any, ...], *, writes: bool = False) -> list[Any]:
        def work(connection: apsw.Connection) -> list[Any]:
            return connection.execute(statement, values).fetchall()

        if writes:
            rows = await self._threads.run_in_writer(work, WRITE_LIMIT_S, writes=True)
        else:
            rows = await self._threads.read(work, READ_LIMIT_S)
        if rows is None:
            raise RecordsUnavailableError
        return rows
