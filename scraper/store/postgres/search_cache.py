"""What engines answered, and which of them rest, in PostgreSQL; rests are remembered without it too."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Awaitable, Callable

from scraper.coordination.protocols import Cooldown
from scraper.model import SearchAnswer
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError, is_of_the_value
from scraper.store.postgres.page_rows import storable
from scraper.store.postgres.schema import Connection
from scraper.store.postgres.write_behind_queue import WriteBehindQueue
from scraper.store.protocols import CacheScope
from scraper.store.search_cache import ANSWERS_LIMIT, FUTURE_S, PRUNE_EVERY, dump_answer, load_answer

READ_LIMIT_S = 2.0
WRITE_LIMIT_S = 10.0
SOON_S = 1.0
"""How long a read waits for what was put before it."""
CLOSE_LIMIT_S = 5.0
ANSWER_BYTES = 5_000

_PUT = """
    INSERT INTO answers (place, retrieved_at, answer) VALUES ($1, $2, $3)
    ON CONFLICT (place) DO UPDATE SET retrieved_at = excluded.retrieved_at, answer = excluded.answer
"""
_PRUNE = """
    DELETE FROM answers WHERE retrieved_at < (
        SELECT retrieved_at FROM answers ORDER BY retrieved_at DESC OFFSET $1 LIMIT 1
    )
"""
_REST = """
    INSERT INTO rests (engine, egress, reason, step, faults, until) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (engine, egress) DO UPDATE
    SET reason = excluded.reason, step = excluded.step, faults = excluded.faults, until = excluded.until
"""

_Write = Callable[[Connection], Awaitable[object]]


class PostgresSearches:
    """The `Searches` protocol over the tables of one database."""

    def __init__(self, server: PostgresPool, *, keeps_answers: bool = True) -> None:
        self._server = server
        self._keeps_answers = keeps_answers
        self._rests: dict[tuple[str, str], Cooldown] = {}
        self._outbox: WriteBehindQueue[_Write] = WriteBehindQueue(self._write, batch=1)
        self._put = 0

    async def get(self, key: str, *, shelf: CacheScope, max_age_s: float) -> SearchAnswer | None:
        """The answer kept under a key, not older than `max_age_s`."""
        if max_age_s <= 0 or not self._keeps_answers:
            return None
        await self._outbox.settled_within(SOON_S)
        now = time.time()
        values = (_place(shelf, key), now - max_age_s, now + FUTURE_S)
        try:
            text = await self._server.run(
                lambda connection: connection.fetchval(
                    "SELECT answer FROM answers WHERE place = $1 AND retrieved_at BETWEEN $2 AND $3", *values
                ),
                READ_LIMIT_S,
            )
        except PostgresUnavailableError:
            return None
        return None if text is None else load_answer(text)

    def put(self, key: str, answer: SearchAnswer, *, shelf: CacheScope) -> None:
        """Keep an answer; returns at once."""
        if not self._keeps_answers or answer.retrieved_at is None:
            return
        values = (_place(shelf, key), answer.retrieved_at.timestamp(), storable(dump_answer(answer)))
        self._queue(_PUT, *values, size_bytes=len(values[2]))
        self._put += 1
        if self._put % PRUNE_EVERY == 0:
            self._queue(_PRUNE, ANSWERS_LIMIT - 1)

    async def rest(self, engine: str, egress: str) -> Cooldown | None:
        """How an engine stands; None when nothing is held against it."""
        await self._outbox.settled_within(SOON_S)
        if len(self._outbox):
            return self._rests.get((engine, egress))  # what is known here has not been said there yet
        try:
            row = await self._server.run(
                lambda connection: connection.fetchrow(
                    "SELECT reason, step, faults, until FROM rests WHERE engine = $1 AND egress = $2",
                    engine,
                    egress,
                ),
                READ_LIMIT_S,
            )
        except PostgresUnavailableError:
            return self._rests.get((engine, egress))
        return None if row is None else Cooldown(*row)

    def set_rest(self, engine: str, egress: str, rest: Cooldown | None) -> None:
        """Note how an engine stands; returns at once."""
        if rest is None:
            self._rests.pop((engine, egress), None)
            self._queue("DELETE FROM rests WHERE engine = $1 AND egress = $2", engine, egress)
            return
        self._rests[engine, egress] = rest
        self._queue(_REST, engine, egress, rest.reason, rest.step, rest.faults, rest.until)

    async def close(self) -> None:
        """Write what was put; the connections are let go of by whoever made the server."""
        await self._outbox.settled_within(CLOSE_LIMIT_S)
        await self._outbox.close()

    def _queue(self, statement: str, *values: object, size_bytes: int = ANSWER_BYTES) -> None:
        self._outbox.put(functools.partial(_executed, statement, values), size_bytes)

    async def _write(self, batch: list[_Write]) -> None:
        for work in batch:
            try:
                await self._server.run(work, WRITE_LIMIT_S, writes=True)
            except PostgresUnavailableError as unavailable:
                if not is_of_the_value(unavailable.reason):
                    raise


async def _executed(statement: str, values: tuple[object, ...], connection: Connection) -> None:
    await connection.execute(statement, *values)


def _place(shelf: CacheScope, key: str) -> bytes:
    parts = "\0".join((shelf.principal, shelf.profile, shelf.language, key))
    return hashlib.blake2b(parts.encode(errors="replace"), digest_size=16).digest()
