"""Search cache in PostgreSQL: answers of engines and cooldowns."""

from __future__ import annotations

import hashlib
from typing import Any

from scraper.store.base_search_cache import SqlStatement, WriteBehindSearchCache
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError, is_value_error
from scraper.store.protocols import CacheScope

READ_LIMIT_S = 2.0
WRITE_LIMIT_S = 10.0


class PostgresSearchCache(WriteBehindSearchCache):
    """The `SearchCache` protocol over the tables of one database."""

    _put_answer = """
        INSERT INTO answers (place, retrieved_at, answer) VALUES ($1, $2, $3)
        ON CONFLICT (place) DO UPDATE SET retrieved_at = excluded.retrieved_at, answer = excluded.answer
    """
    _get_answer = "SELECT answer FROM answers WHERE place = $1 AND retrieved_at BETWEEN $2 AND $3"

    def __init__(self, server: PostgresPool, *, keeps_answers: bool = True) -> None:
        """Use connections that the caller closes. Without `keeps_answers` only cooldowns are stored."""
        super().__init__(keeps_answers=keeps_answers, retry_on=(PostgresUnavailableError,))
        self._server = server

    async def _fetch(self, statement: str, values: tuple[Any, ...]) -> list[Any] | None:
        try:
            return await self._server.run(lambda connection: connection.fetch(statement, *values), READ_LIMIT_S)
        except PostgresUnavailableError:
            return None

    async def _write(self, batch: list[SqlStatement]) -> None:
        """Execute one statement; skip it if the database refuses its values."""
        ((statement, values),) = batch
        try:
            await self._server.run(
                lambda connection: connection.execute(statement, *values), WRITE_LIMIT_S, writes=True
            )
        except PostgresUnavailableError as unavailable:
            if not is_value_error(unavailable.reason):
                raise

    def _answer_key(self, scope: CacheScope, key: str) -> tuple[Any, ...]:
        parts = "\0".join((scope.principal, scope.profile, scope.language, key))
        return (hashlib.blake2b(parts.encode(errors="replace"), digest_size=16).digest(),)
