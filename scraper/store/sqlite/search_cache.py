"""Search cache in one SQLite file: answers of engines and cooldowns, shared by the servers of a machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import apsw

from scraper.coordination.protocols import Cooldown
from scraper.model import SearchAnswer
from scraper.store.protocols import CLOCK_SKEW_S, CacheScope
from scraper.store.serialization import dump_answer, load_answer
from scraper.store.sqlite.database import Database, DatabaseSchema
from scraper.store.sqlite.database_threads import DatabaseThread

FILE_NAME = "searches.sqlite"
ANSWERS_LIMIT = 20_000
"""Cached answers, of about 5 kB each."""
PRUNE_EVERY = 100
"""Answers written between two deletions of the oldest answers."""

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

_PUT = """
    INSERT INTO answers (principal, profile, language, key, retrieved_at, answer) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (principal, profile, language, key) DO UPDATE
    SET retrieved_at = excluded.retrieved_at, answer = excluded.answer
"""
_GET = """
    SELECT answer FROM answers
    WHERE principal = ? AND profile = ? AND language = ? AND key = ? AND retrieved_at BETWEEN ? AND ?
"""
_PRUNE = """
    DELETE FROM answers WHERE id IN (
        SELECT id FROM answers ORDER BY retrieved_at DESC LIMIT -1 OFFSET ?
    )
"""
_GET_REST = "SELECT reason, step, faults, until FROM rests WHERE engine = ? AND egress = ?"
_SET_REST = """
    INSERT INTO rests (engine, egress, reason, step, faults, until) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (engine, egress) DO UPDATE
    SET reason = excluded.reason, step = excluded.step, faults = excluded.faults, until = excluded.until
"""
_DELETE_REST = "DELETE FROM rests WHERE engine = ? AND egress = ?"


class SqliteSearchCache:
    """The `SearchCache` protocol over `searches.sqlite`; cooldowns are also held in memory."""

    def __init__(self, folder: Path, *, keeps_answers: bool = True) -> None:
        """Open the cache.

        Args:
            folder: Folder of the file; it is created if needed.
            keeps_answers: False stores cooldowns only.
        """
        self._thread = DatabaseThread(Database(folder / FILE_NAME, _SCHEMA), "searches")
        self._keeps_answers = keeps_answers
        self._rests: dict[tuple[str, str], Cooldown] = {}
        self._put_count = 0

    async def get(self, key: str, *, scope: CacheScope, max_age_s: float) -> SearchAnswer | None:
        """Return the cached answer for a key, or None if it is missing or older than `max_age_s`."""
        if max_age_s <= 0 or not self._keeps_answers:
            return None
        now = time.time()
        row = (scope.principal, scope.profile, scope.language, key, now - max_age_s, now + CLOCK_SKEW_S)
        text = await self._thread.read(lambda connection: connection.execute(_GET, row).get)
        return None if text is None else load_answer(str(text))

    def put(self, key: str, answer: SearchAnswer, *, scope: CacheScope) -> None:
        """Queue an answer for writing and return immediately."""
        if not self._keeps_answers or answer.retrieved_at is None:
            return
        place = (scope.principal, scope.profile, scope.language, key)
        row = (*place, answer.retrieved_at.timestamp(), dump_answer(answer))
        self._put_count += 1
        is_pruning = self._put_count % PRUNE_EVERY == 0

        def work(connection: apsw.Connection) -> None:
            connection.execute(_PUT, row)
            if is_pruning:
                connection.execute(_PRUNE, (ANSWERS_LIMIT,))

        self._thread.write(work)

    async def get_cooldown(self, engine: str, egress: str) -> Cooldown | None:
        """Return the cooldown of an engine for one egress address, or None if it has none."""
        found = await self._thread.read(lambda connection: connection.execute(_GET_REST, (engine, egress)).fetchall())
        if found is None:
            return self._rests.get((engine, egress))
        if not found:
            return None
        reason, step, faults, until = found[0]
        return Cooldown(str(reason), int(str(step)), int(str(faults)), float(str(until)))

    def set_cooldown(self, engine: str, egress: str, cooldown: Cooldown | None) -> None:
        """Store or delete the cooldown of an engine and return immediately."""
        if cooldown is None:
            self._rests.pop((engine, egress), None)
            self._execute(_DELETE_REST, engine, egress)
        else:
            self._rests[engine, egress] = cooldown
            self._execute(_SET_REST, engine, egress, cooldown.reason, cooldown.step, cooldown.faults, cooldown.until)

    async def close(self) -> None:
        """Write the queued answers, then close the file."""
        await self._thread.close()

    def _execute(self, statement: str, *values: Any) -> None:
        def work(connection: apsw.Connection) -> None:
            connection.execute(statement, values)

        self._thread.write(work)
