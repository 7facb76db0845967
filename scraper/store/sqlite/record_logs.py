"""Record logs in a file of SQLite. This module is loaded when the store opens, not at the start of a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
        limit_s = WRITE_LIMIT_S if writes else READ_LIMIT_S
        rows = await self._threads.fetch(statement, values, limit_s, writes=writes)
        if rows is None:
            raise RecordsUnavailableError
        return rows
