"""What engines answered, and which of them rest: one SQLite file, shared by the servers of a machine."""

from __future__ import annotations

import json
import logging
import time
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import apsw

from scraper.coordination.protocols import Cooldown
from scraper.model import SearchAnswer, SearchResult
from scraper.store.protocols import CacheScope
from scraper.store.sqlite.database import Database, DatabaseSchema
from scraper.store.sqlite.database_thread import DatabaseThread

log = logging.getLogger(__name__)

FILE_NAME = "searches.sqlite"
ANSWERS_LIMIT = 20_000
"""Answers kept, of about 5 kB each."""
PRUNE_EVERY = 100
FUTURE_S = 60.0
"""An answer from later than this was kept under a wrong clock."""

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
_REST = """
    INSERT INTO rests (engine, egress, reason, step, faults, until) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (engine, egress) DO UPDATE
    SET reason = excluded.reason, step = excluded.step, faults = excluded.faults, until = excluded.until
"""


class SearchCache(Protocol):
    """Answers and rests. A fault of the store is a miss, and is never the caller's."""

    async def get(self, key: str, *, shelf: CacheScope, max_age_s: float) -> SearchAnswer | None:
        """The answer kept under a key, not older than `max_age_s`."""

    def put(self, key: str, answer: SearchAnswer, *, shelf: CacheScope) -> None:
        """Keep an answer; returns at once."""

    async def rest(self, engine: str, egress: str) -> Cooldown | None:
        """How an engine stands; None when nothing is held against it."""

    def set_rest(self, engine: str, egress: str, rest: Cooldown | None) -> None:
        """Note how an engine stands; returns at once."""

    async def close(self) -> None:
        """Finish what was put, then let go of the backend."""


class SqliteSearches:
    """The `SearchCache` protocol over `searches.sqlite` in a folder; rests are remembered without it too."""

    def __init__(self, folder: Path, *, keeps_answers: bool = True) -> None:
        self._thread = DatabaseThread(Database(folder / FILE_NAME, _SCHEMA), "searches")
        self._keeps_answers = keeps_answers
        self._rests: dict[tuple[str, str], Cooldown] = {}
        self._written = 0

    async def get(self, key: str, *, shelf: CacheScope, max_age_s: float) -> SearchAnswer | None:
        """The answer kept under a key, not older than `max_age_s`."""
        if max_age_s <= 0 or not self._keeps_answers:
            return None
        now = time.time()
        row = (shelf.principal, shelf.profile, shelf.language, key, now - max_age_s, now + FUTURE_S)
        text = await self._thread.read(lambda connection: connection.execute(_GET, row).get)
        return None if text is None else load_answer(str(text))

    def put(self, key: str, answer: SearchAnswer, *, shelf: CacheScope) -> None:
        """Keep an answer; returns at once."""
        if not self._keeps_answers or answer.retrieved_at is None:
            return
        place = (shelf.principal, shelf.profile, shelf.language, key)
        row = (*place, answer.retrieved_at.timestamp(), dump_answer(answer))
        self._written += 1
        prune = self._written % PRUNE_EVERY == 0

        def work(connection: apsw.Connection) -> None:
            connection.execute(_PUT, row)
            if prune:
                connection.execute(_PRUNE, (ANSWERS_LIMIT,))

        self._thread.write(work)

    async def rest(self, engine: str, egress: str) -> Cooldown | None:
        """How an engine stands; None when nothing is held against it."""
        found = await self._thread.read(
            lambda connection: connection.execute(
                "SELECT reason, step, faults, until FROM rests WHERE engine = ? AND egress = ?",
                (engine, egress),
            ).fetchall()
        )
        if found is None:
            return self._rests.get((engine, egress))
        if not found:
            return None
        reason, step, faults, until = found[0]
        return Cooldown(str(reason), int(str(step)), int(str(faults)), float(str(until)))

    def set_rest(self, engine: str, egress: str, rest: Cooldown | None) -> None:
        """Note how an engine stands; returns at once."""
        if rest is None:
            self._rests.pop((engine, egress), None)
            statement, row = "DELETE FROM rests WHERE engine = ? AND egress = ?", (engine, egress)
            self._thread.write(lambda connection: _execute(connection, statement, row))
            return
        self._rests[engine, egress] = rest
        values = (engine, egress, rest.reason, rest.step, rest.faults, rest.until)
        self._thread.write(lambda connection: _execute(connection, _REST, values))

    async def close(self) -> None:
        """Write what was put, then close the file."""
        await self._thread.close()


class MemorySearches:
    """The `SearchCache` protocol for one process that leaves nothing behind."""

    def __init__(self) -> None:
        self._answers: dict[tuple[CacheScope, str], SearchAnswer] = {}
        self._rests: dict[tuple[str, str], Cooldown] = {}

    async def get(self, key: str, *, shelf: CacheScope, max_age_s: float) -> SearchAnswer | None:
        """The answer kept under a key, not older than `max_age_s`."""
        answer = self._answers.get((shelf, key))
        if answer is None or answer.retrieved_at is None or max_age_s <= 0:
            return None
        return answer if time.time() - answer.retrieved_at.timestamp() <= max_age_s else None

    def put(self, key: str, answer: SearchAnswer, *, shelf: CacheScope) -> None:
        """Keep an answer."""
        self._answers[shelf, key] = answer
        while len(self._answers) > ANSWERS_LIMIT:
            del self._answers[next(iter(self._answers))]

    async def rest(self, engine: str, egress: str) -> Cooldown | None:
        """How an engine stands; None when nothing is held against it."""
        return self._rests.get((engine, egress))

    def set_rest(self, engine: str, egress: str, rest: Cooldown | None) -> None:
        """Note how an engine stands."""
        if rest is None:
            self._rests.pop((engine, egress), None)
        else:
            self._rests[engine, egress] = rest

    async def close(self) -> None:
        """Nothing happens."""


def _execute(connection: apsw.Connection, statement: str, row: tuple[Any, ...]) -> None:
    connection.execute(statement, row)


def dump_answer(answer: SearchAnswer) -> str:
    """The answer as JSON."""
    data = {
        "query": answer.query,
        "results": [_dumped_result(result) for result in answer.results],
        "engines": list(answer.engines),
        "errors": dict(answer.errors),
        "hint": answer.hint,
        "retrieved_at": answer.retrieved_at and answer.retrieved_at.isoformat(),
        "warnings": list(answer.warnings),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # A page can hold half a surrogate pair, which no encoding can carry.
    return text.encode("utf-8", errors="replace").decode()


def _dumped_result(result: SearchResult) -> list[Any]:
    date = result.date and result.date.isoformat()
    plain = (result.title, result.url, result.snippet, list(result.engines), result.score)
    return [*plain, date, result.source, list(result.also)]


def load_answer(text: str) -> SearchAnswer | None:
    """The answer that `dump_answer` wrote; None for anything else."""
    try:
        data = json.loads(text)
        return SearchAnswer(
            query=data["query"],
            results=tuple(_result(row) for row in data["results"]),
            engines=tuple(data["engines"]),
            errors=MappingProxyType(data["errors"]),
            hint=data["hint"],
            retrieved_at=_moment(data["retrieved_at"]),
            warnings=tuple(data["warnings"]),
        )
    except (ValueError, TypeError, KeyError, IndexError) as error:
        log.warning("a kept search answer cannot be read: %s", error)
        return None


def _result(row: list[Any]) -> SearchResult:
    title, url, snippet, engines, score, date, source, also = row
    return SearchResult(title, url, snippet, tuple(engines), score, _moment(date), source, tuple(also))


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
