"""Search cache in one SQLite file: answers of engines and cooldowns, shared by the servers of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from scraper.store.base_search_cache import SqlStatement, WriteBehindSearchCache
from scraper.store.protocols import CacheScope
from scraper.store.sqlite.database import DatabaseSchema
from scraper.store.sqlite.database_threads import DatabaseThreads

FILE_NAME = "searches.sqlite"
READ_LIMIT_S = 2.0

_SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_53,
    version=1,
    create="""
        CREATE TABLE answers (
            id INTEGER PRIMARY KEY,
            principal TEXT NOT NULL,
            profile TEXT NOT NULL,
            language TEXT NOT NULL,
            key TEXT NOT NULL,
            retrieved_at REAL NOT NULL,
            answer TEXT NOT NULL,
            UNIQUE (principal, profile, language, key)
        ) STRICT;
        CREATE INDEX answers_by_age ON answers (retrieved_at);
        CREATE TABLE rests (
            engine TEXT NOT NULL,
            egress TEXT NOT NULL,
            reason TEXT NOT NULL,
            step INTEGER NOT NULL,
            faults INTEGER NOT NULL,
            until REAL NOT NULL,
            PRIMARY KEY (engine, egress)
        ) STRICT;
    """,
    drop="DROP TABLE IF EXISTS answers; DROP TABLE IF EXISTS rests",
)


class SqliteSearchCache(WriteBehindSearchCache):
    """The `SearchCache` protocol over `searches.sqlite` in a folder."""

    _put_answer = """
        INSERT INTO answers (principal, profile, language, key, retrieved_at, answer) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (principal, profile, language, key) DO UPDATE
        SET retrieved_at = excluded.retrieved_at, answer = excluded.answer
    """
    _get_answer = """
        SELECT answer FROM answers
        WHERE principal = ? AND profile = ? AND language = ? AND key = ? AND retrieved_at BETWEEN ? AND ?
    """

    def __init__(self, folder: Path, *, keeps_answers: bool = True) -> None:
        """Open the cache; the folder is created if needed. Without `keeps_answers` only cooldowns are stored."""
        super().__init__(keeps_answers=keeps_answers)
        self._threads = DatabaseThreads(folder / FILE_NAME, _SCHEMA, "searches")

    async def close(self) -> None:
        """Write the queued answers, then close the file."""
        await super().close()
        await self._threads.close()

    async def _fetch(self, statement: str, values: tuple[Any, ...]) -> list[Any] | None:
        def work(connection: apsw.Connection) -> list[Any]:
            return connection.execute(statement, values).fetchall()

        return await self._threads.read(work, READ_LIMIT_S)

    async def _write(self, batch: list[SqlStatement]) -> None:
        """Execute one statement; it is lost if the file is unavailable."""
        ((statement, values),) = batch

        def work(connection: apsw.Connection) -> None:
            connection.execute(statement, values)

        await self._threads.run_in_writer(work, writes=True)

    def _answer_key(self, scope: CacheScope, key: str) -> tuple[Any, ...]:
        return scope.principal, scope.profile, scope.language, key
