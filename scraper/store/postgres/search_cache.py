"""Search cache in PostgreSQL: answers of engines and cooldowns; cooldowns are also held in memory."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Awaitable, Callable

from scraper.coordination.protocols import Cooldown
from scraper.model import SearchAnswer
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError, is_value_error
from scraper.store.postgres.page_rows import make_storable
from scraper.store.postgres.schema import Connection
from scraper.store.protocols import CLOCK_SKEW_S, CacheScope
from scraper.store.serialization import dump_answer, load_answer
from scraper.store.sqlite.search_cache import ANSWERS_LIMIT, PRUNE_EVERY
from scraper.store.write_behind import WriteBehindQueue

READ_LIMIT_S = 2.0
"""Seconds that reading an answer may take."""
WRITE_LIMIT_S = 10.0
"""Seconds that writing an answer may take."""
FLUSH_LIMIT_S = 1.0
"""Seconds that a read waits for queued writes."""
CLOSE_LIMIT_S = 5.0
"""Seconds that `close` waits for queued writes."""
ANSWER_BYTES = 5_000
"""Bytes assumed for a queued write that is not an answer."""

_PUT = """
    INSERT INTO answers (place, retrieved_at, answer) VALUES ($1, $2, $3)
    ON CONFLICT (place) DO UPDATE SET retrieved_at = excluded.retrieved_at, answer = excluded.answer
"""
_GET = "SELECT answer FROM answers WHERE place = $1 AND retrieved_at BETWEEN $2 AND $3"
_PRUNE = """
    DELETE FROM answers WHERE retrieved_at < (
        SELECT retrieved_at FROM answers ORDER BY retrieved_at DESC OFFSET $1 LIMIT 1
    )
"""
_GET_REST = "SELECT reason, step, faults, until FROM rests WHERE engine = $1 AND egress = $2"
_SET_REST = """
    INSERT INTO rests (engine, egress, reason, step, faults, until) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (engine, egress) DO UPDATE
    SET reason = excluded.reason, step = excluded.step, faults = excluded.faults, until = excluded.until
"""
_DELETE_REST = "DELETE FROM rests WHERE engine = $1 AND egress = $2"

_Write = Callable[[Connection], Awaitable[object]]


class PostgresSearchCache:
    """The `SearchCache` protocol over the tables of one database."""

    def __init__(self, server: PostgresPool, *, keeps_answers: bool = True) -> None:
        """Create the cache.

        Args:
            server: Connections to the database; the caller closes them.
            keeps_answers: False stores cooldowns only.
        """
        self._server = server
        self._keeps_answers = keeps_answers
        self._rests: dict[tuple[str, str], Cooldown] = {}
        self._queue: WriteBehindQueue[_Write] = WriteBehindQueue(
            self._write, batch=1, retry_on=(PostgresUnavailableError,)
        )
        self._put_count = 0

    async def get(self, key: str, *, scope: CacheScope, max_age_s: float) -> SearchAnswer | None:
        """Return the cached answer for a key, or None if it is missing or older than `max_age_s`."""
        if max_age_s <= 0 or not self._keeps_answers:
            return None
        await self._queue.flush_within(FLUSH_LIMIT_S)
        now = time.time()
        values = (_digest_place(scope, key), now - max_age_s, now + CLOCK_SKEW_S)
        try:
            text = await self._server.run(lambda connection: connection.fetchval(_GET, *values), READ_LIMIT_S)
        except PostgresUnavailableError:
            return None
        return None if text is None else load_answer(text)

    def put(self, key: str, answer: SearchAnswer, *, scope: CacheScope) -> None:
        """Queue an answer for writing and return immediately."""
        if not self._keeps_answers or answer.retrieved_at is None:
            return
        text = make_storable(dump_answer(answer))
        values = (_digest_place(scope, key), answer.retrieved_at.timestamp(), text)
        self._execute(_PUT, *values, size_bytes=len(text))
        self._put_count += 1
        if self._put_count % PRUNE_EVERY == 0:
            self._execute(_PRUNE, ANSWERS_LIMIT - 1)

    async def get_cooldown(self, engine: str, egress: str) -> Cooldown | None:
        """Return the cooldown of an engine for one egress address, or None if it has none."""
        await self._queue.flush_within(FLUSH_LIMIT_S)
        if len(self._queue):
            return self._rests.get((engine, egress))  # the database does not have the newest state yet
        try:
            row = await self._server.run(
                lambda connection: connection.fetchrow(_GET_REST, engine, egress), READ_LIMIT_S
            )
        except PostgresUnavailableError:
            return self._rests.get((engine, egress))
        return None if row is None else Cooldown(*row)

    def set_cooldown(self, engine: str, egress: str, cooldown: Cooldown | None) -> None:
        """Store or delete the cooldown of an engine and return immediately."""
        if cooldown is None:
            self._rests.pop((engine, egress), None)
            self._execute(_DELETE_REST, engine, egress)
        else:
            self._rests[engine, egress] = cooldown
            self._execute(_SET_REST, engine, egress, cooldown.reason, cooldown.step, cooldown.faults, cooldown.until)

    async def close(self) -> None:
        """Write the queued answers; the connections are closed by the owner of the pool."""
        await self._queue.flush_within(CLOSE_LIMIT_S)
        await self._queue.close()

    def _execute(self, statement: str, *values: object, size_bytes: int = ANSWER_BYTES) -> None:
        self._queue.put(functools.partial(_run_statement, statement, values), size_bytes)

    async def _write(self, batch: list[_Write]) -> None:
        for work in batch:
            try:
                await self._server.run(work, WRITE_LIMIT_S, writes=True)
            except PostgresUnavailableError as unavailable:
                if not is_value_error(unavailable.reason):
                    raise


async def _run_statement(statement: str, values: tuple[object, ...], connection: Connection) -> None:
    await connection.execute(statement, *values)


def _digest_place(scope: CacheScope, key: str) -> bytes:
    parts = "\0".join((scope.principal, scope.profile, scope.language, key))
    return hashlib.blake2b(parts.encode(errors="replace"), digest_size=16).digest()
