"""Record logs in PostgreSQL, which all servers share."""

from __future__ import annotations

from typing import Any

from scraper.store import record_logs
from scraper.store.postgres.connection_pool import PostgresPool
from scraper.store.postgres.errors import PostgresUnavailableError
from scraper.store.record_logs import RecordLogs, RecordsUnavailableError


class PostgresRecordLogs(RecordLogs):
    """Record logs in one database."""

    def __init__(self, server: PostgresPool) -> None:
        """Use connections that the caller closes."""
        self._server = server

    async def close(self) -> None:
        """Do nothing: the caller closes the connections."""

    async def _fetch(self, statement: str, values: tuple[Any, ...], *, writes: bool = False) -> list[Any]:
        limit_s = record_logs.WRITE_LIMIT_S if writes else record_logs.READ_LIMIT_S
        try:
            return await self._server.run(
                lambda connection: connection.fetch(statement, *values), limit_s, writes=writes
            )
        except PostgresUnavailableError as error:
            raise RecordsUnavailableError from error
