"""Answers of search engines, and cooldowns of engines: the common part of all databases, and the SQLite file."""

import contextlib
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from scraper.coordination.state import Cooldown
from scraper.engines.model import SearchAnswer
from scraper.store.base_page_store import WriteBehindQueue
from scraper.store.protocols import CLOCK_SKEW_S, CacheScope, DatabaseUnavailableError, SqlDatabase
from scraper.store.serialization import load, serialize_result
from scraper.store.sqlite.database import DatabaseSchema, DatabaseThreads
from scraper.values.text import read_file, read_statements

log = logging.getLogger(__name__)

_ANSWERS_LIMIT = 20_000
"""Cached answers, of about 5 kB each."""
_PRUNE_EVERY = 100
_COOLDOWN_BYTES = 5_000
"""Bytes assumed for a queued write other than an answer."""

_QUEUE_WAIT_S = 1.0
READ_LIMIT_S = 2.0
_WRITE_LIMIT_S = 10.0

_SQL = read_statements(__package__, "search_statements.sql")

SqlStatement = tuple[str, tuple[Any, ...]]


class SearchCache:
    """Cached answers of search engines, and the cooldowns of engines. A failure counts as a miss.

    There is a write queue before the tables `answers` and `rests` (cooldowns, which are also in memory).
    """

    _get_answer = _SQL["get_answer"]
    """Statement with the columns of `_answer_key`, the lowest and the highest time."""
    _put_answer = _SQL["put_answer"]
    """Statement with the columns of `_answer_key`, the time and the answer."""

    def __init__(self, database: SqlDatabase, *, keeps_answers: bool = True) -> None:
        """Use the tables of a database; without `keeps_answers`, only cooldowns are stored."""
        self._database = database
        self._keeps_answers = keeps_answers
        self._queue: WriteBehindQueue[SqlStatement] = WriteBehindQueue(self._write, batch=1)
        self._cooldowns: dict[tuple[str, str], Cooldown] = {}
        self._put_count = 0

    async def get(self, key: str, *, scope: CacheScope, max_age_s: float) -> SearchAnswer | None:
        """Return the cached answer for a key, or None if it is missing or older than `max_age_s`."""
        if max_age_s <= 0 or not self._keeps_answers:
            return None
        await self._queue.flush(_QUEUE_WAIT_S)
        now = time.time()
        values = (*self._answer_key(scope, key), now - max_age_s, now + CLOCK_SKEW_S)
        rows = await self._fetch(self._get_answer, values)
        try:
            return load(SearchAnswer, rows[0][0]) if rows else None
        except ValueError as error:
            log.warning("a cached search answer cannot be read: %s", error)
            return None

    def put(self, key: str, answer: SearchAnswer, *, scope: CacheScope) -> None:
        """Queue an answer for writing and return immediately."""
        if not self._keeps_answers or answer.retrieved_at is None:
            return
        text = serialize_result(replace(answer, cached=False)).decode()
        values = (*self._answer_key(scope, key), answer.retrieved_at.timestamp(), text)
        self._queue.put((self._put_answer, values), len(text))
        self._put_count += 1
        if self._put_count % _PRUNE_EVERY == 0:
            self._queue.put((_SQL["prune"], (_ANSWERS_LIMIT - 1,)), _COOLDOWN_BYTES)

    async def get_cooldown(self, engine: str, egress: str) -> Cooldown | None:
        """Return the cooldown of an engine for one egress address, or None if it has none."""
        await self._queue.flush(_QUEUE_WAIT_S)
        # The database does not have the newest state while writes are queued.
        rows = None if len(self._queue) else await self._fetch(_SQL["get_cooldown"], (engine, egress))
        if rows is None:
            return self._cooldowns.get((engine, egress))
        return Cooldown(*rows[0]) if rows else None

    def set_cooldown(self, engine: str, egress: str, cooldown: Cooldown | None) -> None:
        """Store or delete the cooldown of an engine and return immediately."""
        if cooldown is None:
            self._cooldowns.pop((engine, egress), None)
            self._queue.put((_SQL["delete_cooldown"], (engine, egress)), _COOLDOWN_BYTES)
        else:
            self._cooldowns[engine, egress] = cooldown
            values = (engine, egress, cooldown.reason, cooldown.step, cooldown.faults, cooldown.until)
            self._queue.put((_SQL["set_cooldown"], values), _COOLDOWN_BYTES)

    async def close(self) -> None:
        """Write the queued answers, then close the database."""
        await self._queue.close()
        await self._database.close()

    async def _fetch(self, statement: str, values: tuple[Any, ...]) -> list[Any] | None:
        """Return the rows of a query, or None if the database is unavailable or too slow."""
        with contextlib.suppress(DatabaseUnavailableError):
            return await self._database.fetch(statement, values, READ_LIMIT_S)
        return None

    async def _write(self, batch: list[SqlStatement]) -> None:
        """Execute one statement; skip it if another attempt would fail too."""
        ((statement, values),) = batch
        try:
            await self._database.fetch(statement, values, _WRITE_LIMIT_S, writes=True)
        except DatabaseUnavailableError as error:
            if error.may_retry:
                raise

    def _answer_key(self, scope: CacheScope, key: str) -> tuple[Any, ...]:
        """Return the values of the columns that identify an answer."""
        return scope.principal, scope.profile, scope.language, key


FILE_NAME = "searches.sqlite"

_SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_53,
    version=1,
    create=read_file(__package__, "searches.sql"),
    drop="DROP TABLE IF EXISTS answers; DROP TABLE IF EXISTS rests",
)


def open_search_cache(folder: Path, *, keeps_answers: bool = True) -> SearchCache:
    """Return the search cache in `searches.sqlite` in a folder; the first call opens the file."""
    return SearchCache(DatabaseThreads(folder / FILE_NAME, _SCHEMA, "searches"), keeps_answers=keeps_answers)
