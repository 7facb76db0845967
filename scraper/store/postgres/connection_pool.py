"""Connections to PostgreSQL, with time limits; each failure is a `PostgresUnavailableError`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg

from scraper.store.postgres.errors import (
    FAULTS,
    Address,
    PostgresRefusedError,
    PostgresUnavailableError,
    is_away,
    is_of_the_url,
    is_of_the_value,
    told,
)
from scraper.store.postgres.schema import NAME, Connection, prepare

T = TypeVar("T")

log = logging.getLogger(__name__)

CONNECTIONS = 6
"""Of one server of ours: one writes, one keeps indexes, the others read."""
CONNECT_LIMIT_S = 10.0
"""A first connection is about eight round trips: 3 s on a line of 200 ms each way."""
AWAY_PAUSE_S = 2.0
"""No call tries a database so soon after another has tried in vain."""
REFUSED_PAUSE_S = 30.0
"""Between two looks at one that is not ours to use."""
QUICK_S = 2.0
"""An operation that may take longer than this says nothing about the database when it does."""
LEFT_LIMIT_S = 30.0
"""How long what nobody waits for any more may take: the next call finds its connection ready."""
WAITING_LIMIT = 256
"""Operations that may be under way, as many as SQLite's readers take."""
RELEASE_LIMIT_S = 2.0
CLOSE_LIMIT_S = 2.0

_SESSION = {
    "search_path": NAME,
    # Texts are found through the index whatever the planner thinks of it: reading them all is never quicker.
    "enable_seqscan": "off",
    # To compile a query takes longer than any of ours.
    "jit": "off",
    # Which pages match is noted exactly for a million; with less, PostgreSQL looks at each text again.
    "work_mem": "32MB",
    "statement_timeout": "60s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "60s",
}


class PostgresPool:
    """Owner of the connections, shared by all that is kept in one database."""

    def __init__(self, url: str) -> None:
        self.address = Address.of(url)
        self.problem: str | None = None
        self._url = url
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._opening = asyncio.Lock()
        self._preparing = asyncio.Lock()
        self._is_prepared = False
        self._under_way: set[asyncio.Task[Any]] = set()
        self._not_before = 0.0
        self._problem_is_writing = False

    async def run(
        self, work: Callable[[Connection], Awaitable[T]], limit_s: float, *, writes: bool = False
    ) -> T:
        """Do `work` with a connection, once more when that was gone; both times it must come to the same.

        Raises:
            Unavailable: it could not be done within `limit_s`.
        """
        if time.monotonic() < self._not_before or len(self._under_way) >= WAITING_LIMIT:
            raise PostgresUnavailableError
        working = asyncio.create_task(self._run_again(work, max(limit_s, LEFT_LIMIT_S)))
        self._under_way.add(working)
        working.add_done_callback(self._forget)
        try:
            async with asyncio.timeout(limit_s):
                # Who gives up leaves the connection to finish what it does: to make a new one takes longer.
                result = await asyncio.shield(working)
        except (*FAULTS, PostgresRefusedError) as error:
            if not is_of_the_value(error):
                self._on_fault(error, limit_s, writes=writes)
            raise PostgresUnavailableError(error) from None
        # A full disk can still be read: that a read went well does not mean that it is over.
        if writes or not self._problem_is_writing:
            self._note(None)
        return result

    def greet(self) -> None:
        """Look at the database in the background, so that what is wrong is told at the start."""
        greeting = asyncio.create_task(self.look(CONNECT_LIMIT_S))
        self._under_way.add(greeting)
        greeting.add_done_callback(self._forget)

    async def look(self, limit_s: float) -> None:
        """Find out whether the database can be used; `problem` says what keeps it from that."""
        with contextlib.suppress(PostgresUnavailableError):
            await self.run(lambda connection: connection.fetchval("SELECT 1"), limit_s)

    async def close(self) -> None:
        """Let go of every connection."""
        left = list(self._under_way)
        for working in left:
            working.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await pool.close()
        except FAULTS:
            pool.terminate()

    def _forget(self, working: asyncio.Task[Any]) -> None:
        self._under_way.discard(working)
        if not working.cancelled():
            working.exception()  # whoever waited for it was told

    async def _run_again(self, work: Callable[[Connection], Awaitable[T]], limit_s: float) -> T:
        async with asyncio.timeout(limit_s):
            try:
                return await self._run_once(work)
            except FAULTS as error:
                if not is_away(error):
                    raise
            # The server was started anew, and the connection is of its last life.
            return await self._run_once(work)

    async def _run_once(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        pool = await self._opened()
        connection = await pool.acquire()
        try:
            if not self._is_prepared:
                await self._prepare(connection)
            return await work(connection)
        except asyncpg.UndefinedTableError:
            self._is_prepared = False  # somebody has dropped them
            raise
        except BaseException as error:
            if not isinstance(error, asyncpg.PostgresError):
                # Whatever it is in the middle of, nobody will wait for.
                connection.terminate()
            raise
        finally:
            with contextlib.suppress(*FAULTS):
                await asyncio.shield(pool.release(connection, timeout=RELEASE_LIMIT_S))

    async def _opened(self) -> asyncpg.Pool[asyncpg.Record]:
        async with self._opening:
            if self._pool is None:
                # No connection is made here: that is done by whoever first needs one.
                self._pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=CONNECTIONS,
                    timeout=CONNECT_LIMIT_S,
                    server_settings={"application_name": "search-mcp"},
                    init=_made_ready,
                    reset=_leave,
                )
            return self._pool

    async def _prepare(self, connection: Connection) -> None:
        async with self._preparing:
            if not self._is_prepared:
                await prepare(connection)
                self._is_prepared = True

    def _on_fault(self, error: Exception, limit_s: float, *, writes: bool) -> None:
        if isinstance(error, PostgresRefusedError) or is_of_the_url(error):
            self._not_before = time.monotonic() + REFUSED_PAUSE_S
        elif (
            is_away(error)
            or isinstance(error, asyncpg.InvalidAuthorizationSpecificationError)
            or limit_s <= QUICK_S
        ):
            self._not_before = time.monotonic() + AWAY_PAUSE_S
        self._note(told(error, self.address, limit_s), writing=writes)

    def _note(self, problem: str | None, *, writing: bool = False) -> None:
        """One line in the log for each change."""
        self._problem_is_writing = writing
        if problem == self.problem:
            return
        self.problem = problem
        if problem is None:
            log.info("shared store usable again: %s", self.address)
        else:
            log.warning("going on without the shared store: %s", problem)


async def _made_ready(connection: Connection) -> None:
    """Set up a connection of its own; what is set with the connection itself, poolers do not let through.

    Vectors are sent as they are made here, without being written as text and read again. Pages that match lie
    scattered: what is not in memory is asked of the disk before it is needed, where the database's system can
    do that (where it cannot, the setting is 0, and any other refused).
    """
    settings = "; ".join(f"SET {name} = '{value}'" for name, value in _SESSION.items())
    await connection.execute(
        f"{settings}; SELECT set_config('effective_io_concurrency', '32', false) "
        "WHERE current_setting('effective_io_concurrency')::int BETWEEN 1 AND 31"
    )
    await connection.set_type_codec(
        "tsvector", schema="pg_catalog", format="binary", encoder=_same, decoder=_same
    )


async def _leave(connection: Connection) -> None:
    """Nothing of one operation is left for the next: to clean up would be one more round trip for each."""


def _same(data: bytes) -> bytes:
    return data
