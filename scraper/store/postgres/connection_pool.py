"""Pool of connections to PostgreSQL with time limits; every failure is a `PostgresUnavailableError`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import asyncpg

from scraper.store.postgres.schema import (
    POSTGRES_ERRORS,
    SCHEMA_NAME,
    Connection,
    DatabaseAddress,
    PostgresRefusedError,
    PostgresUnavailableError,
    describe_error,
    is_connection_lost,
    is_url_error,
    is_value_error,
    prepare_schema,
)

T = TypeVar("T")

log = logging.getLogger(__name__)

_CONNECTIONS = 6
"""Connections of one server: one for writes, one for indexes, the others for reads."""
_CONNECT_LIMIT_S = 10.0
"""Seconds. A first connection takes about eight round trips: 3 s on a line of 200 ms each way."""
AWAY_PAUSE_S = 2.0
"""Seconds after a failed connection attempt in which further calls fail at once."""
_REFUSED_PAUSE_S = 30.0
"""Seconds between two attempts to use an unsuitable database, such as one with a newer schema."""
QUICK_LIMIT_S = 2.0
"""Seconds. Only a timeout of an operation with at most this limit means that the database is unavailable."""
_ABANDONED_LIMIT_S = 30.0
"""Seconds that an operation may continue after its caller has given up; the connection stays usable."""
WAITING_LIMIT = 256
"""Operations in progress, as many as the readers of SQLite accept."""
_RELEASE_LIMIT_S = 2.0
_CLOSE_LIMIT_S = 2.0

_SESSION = {
    "search_path": SCHEMA_NAME,
    # Always search texts through the index: reading all of them is never faster.
    "enable_seqscan": "off",
    # Compiling a query takes longer than running any of these queries.
    "jit": "off",
    # Enough for exact bitmaps of a million pages; with less, PostgreSQL checks each text again.
    "work_mem": "32MB",
    "statement_timeout": "60s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "60s",
}


class PostgresPool:
    """Connections of this process to one PostgreSQL database, shared by all its stores."""

    def __init__(self, url: str) -> None:
        """Create the pool; the first operation connects."""
        self.address = DatabaseAddress.parse(url)
        self.problem: str | None = None
        self._url = url
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._opening = asyncio.Lock()
        self._preparing = asyncio.Lock()
        self._is_prepared = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._not_before = 0.0
        self._problem_is_writing = False

    async def run(self, work: Callable[[Connection], Awaitable[T]], limit_s: float, *, writes: bool = False) -> T:
        """Run `work` with a connection, and once more if the connection was lost; `work` must be idempotent.

        Raises:
            PostgresUnavailableError: It failed or took longer than `limit_s` seconds. It is not tried if too many
                operations are in progress, or if the database was unavailable a moment ago.
        """
        if time.monotonic() < self._not_before or len(self._tasks) >= WAITING_LIMIT:
            raise PostgresUnavailableError
        working = self._start_task(self._run_with_retry(work, max(limit_s, _ABANDONED_LIMIT_S)))
        try:
            async with asyncio.timeout(limit_s):
                # After a timeout the operation continues, since opening a new connection would take longer.
                result = await asyncio.shield(working)
        except (*POSTGRES_ERRORS, PostgresRefusedError) as error:
            if not is_value_error(error):
                self._on_fault(error, limit_s, writes=writes)
            raise PostgresUnavailableError(error) from None
        # A full disk can still be read, so a successful read does not end a problem with writing.
        if writes or not self._problem_is_writing:
            self._set_problem(None)
        return result

    def start_check(self) -> None:
        """Contact the database in the background, so that a problem is logged at the start."""
        self._start_task(self.check(_CONNECT_LIMIT_S))

    async def check(self, limit_s: float) -> None:
        """Contact the database and set `problem` to the reason if it is unavailable."""
        with contextlib.suppress(PostgresUnavailableError):
            await self.run(lambda connection: connection.fetchval("SELECT 1"), limit_s)

    async def close(self) -> None:
        """Close all connections."""
        left = list(self._tasks)
        for working in left:
            working.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await pool.close()
        except POSTGRES_ERRORS:
            pool.terminate()

    def _start_task(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)
        return task

    def _on_task_end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks the exception as retrieved; the caller has received it

    async def _run_with_retry(self, work: Callable[[Connection], Awaitable[T]], limit_s: float) -> T:
        async with asyncio.timeout(limit_s):
            try:
                return await self._run_once(work)
            except POSTGRES_ERRORS as error:
                if not is_connection_lost(error):
                    raise
            # The database was restarted, and the connection belonged to its previous run.
            return await self._run_once(work)

    async def _run_once(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        pool = await self._open_pool()
        connection = await pool.acquire()
        try:
            if not self._is_prepared:
                await self._prepare(connection)
            return await work(connection)
        except asyncpg.UndefinedTableError:
            self._is_prepared = False  # the tables were dropped
            raise
        except BaseException as error:
            if not isinstance(error, asyncpg.PostgresError):
                # The connection is in an unknown state.
                connection.terminate()
            raise
        finally:
            with contextlib.suppress(*POSTGRES_ERRORS):
                await asyncio.shield(pool.release(connection, timeout=_RELEASE_LIMIT_S))

    async def _open_pool(self) -> asyncpg.Pool[asyncpg.Record]:
        async with self._opening:
            if self._pool is None:
                # Connections are opened when they are first needed, not here.
                self._pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=_CONNECTIONS,
                    timeout=_CONNECT_LIMIT_S,
                    server_settings={"application_name": "search-mcp"},
                    init=_set_up_connection,
                    reset=_reset_nothing,
                )
            return self._pool

    async def _prepare(self, connection: Connection) -> None:
        async with self._preparing:
            if not self._is_prepared:
                await prepare_schema(connection)
                self._is_prepared = True

    def _on_fault(self, error: Exception, limit_s: float, *, writes: bool) -> None:
        if isinstance(error, PostgresRefusedError) or is_url_error(error):
            self._not_before = time.monotonic() + _REFUSED_PAUSE_S
        elif (
            is_connection_lost(error)
            or isinstance(error, asyncpg.InvalidAuthorizationSpecificationError)
            or limit_s <= QUICK_LIMIT_S
        ):
            self._not_before = time.monotonic() + AWAY_PAUSE_S
        self._set_problem(describe_error(error, self.address, limit_s), writing=writes)

    def _set_problem(self, problem: str | None, *, writing: bool = False) -> None:
        """Store the current problem and log each change once."""
        self._problem_is_writing = writing
        if problem == self.problem:
            return
        self.problem = problem
        if problem is None:
            log.info("shared store usable again: %s", self.address)
        else:
            log.warning("continuing without the shared store: %s", problem)


async def _set_up_connection(connection: Connection) -> None:
    """Set session options with SQL, because connection poolers drop connection parameters.

    `tsvector` values are sent in binary form, so they are not converted to text and parsed again. Matching pages are
    scattered over the disk, so they are read ahead (`effective_io_concurrency`), unless the platform of the database
    supports only 0 for this setting.
    """
    settings = "; ".join(f"SET {name} = '{value}'" for name, value in _SESSION.items())
    await connection.execute(
        f"{settings}; SELECT set_config('effective_io_concurrency', '32', false) "
        "WHERE current_setting('effective_io_concurrency')::int BETWEEN 1 AND 31"
    )
    await connection.set_type_codec("tsvector", schema="pg_catalog", format="binary", encoder=bytes, decoder=bytes)


async def _reset_nothing(connection: Connection) -> None:
    """Skip the reset between two operations: it is not needed, and would cost a round trip."""
