"""PostgreSQL: the tables of the store, and a pool of connections with time limits.

The tables are created in one transaction; those of other programs are not changed. Every failure is a
`DatabaseUnavailableError`.
"""

import asyncio
import contextlib
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

import asyncpg

from scraper.store.protocols import DatabaseUnavailableError
from scraper.values.text import read_file, read_table

T = TypeVar("T")

log = logging.getLogger(__name__)


class PostgresRefusedError(Exception):
    """The database answers but is unsuitable; the message completes a sentence that begins with its name."""


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Host, port, database and user of a URL, without the password."""

    host: str
    """Host and port, as `host:port`."""
    database: str
    user: str

    @classmethod
    def parse(cls, url: str) -> "DatabaseAddress":
        """Return the parts of a URL that may be shown."""
        parts = urlsplit(url)
        host = parts.hostname or "localhost"
        port = parts.port or 5_432
        user = unquote(parts.username or "")
        return cls(f"{host}:{port}", unquote(parts.path.strip("/")) or user, user)

    def __str__(self) -> str:
        """Return a phrase for messages."""
        return f"the database {self.database} at {self.host}"


POSTGRES_ERRORS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    # Raised by the client library if a connection breaks in the middle of a response.
    asyncpg.InternalClientError,
    OSError,
    EOFError,
)
"""All errors that an operation may raise if the database is unavailable."""

_CONNECTION_ERRORS = (
    OSError,
    EOFError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)


def is_connection_lost(error: BaseException) -> bool:
    """Return True if the connection is lost, rather than the statement being wrong."""
    # A value that cannot be sent is the caller's error, and a slow database is not gone.
    return isinstance(error, _CONNECTION_ERRORS) and not isinstance(error, (TimeoutError, ValueError))


def is_url_error(error: BaseException | None) -> bool:
    """Return True if the operator must correct the URL or a file that it names."""
    return isinstance(error, (asyncpg.ClientConfigurationError, FileNotFoundError, ssl.SSLCertVerificationError))


_PROBLEMS: Mapping[str, str] = read_table(__package__, "problems.toml")
"""Sentences about errors, by the name of the class or of a base class; the first that fits is used."""


def describe_error(error: BaseException, address: DatabaseAddress, limit_s: float) -> str:
    """Return one sentence about an error for the log, `doctor` and status."""
    if isinstance(error, ConnectionError) and "SSL upgrade" in str(error):
        return f"{address} does not speak TLS, which its URL asks for"
    kind, first_line = type(error).__name__, str(error).partition("\n")[0]
    classes = {one.__name__ for one in type(error).__mro__}
    text = next(text for name, text in _PROBLEMS.items() if name in classes)
    return text.format(address=address, error=error, kind=kind, first_line=first_line, limit_s=limit_s)


SCHEMA_NAME = "search_mcp"
_VERSION = 2
_OLDEST_SERVER = 12
_ENCODING = "UTF8"

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    Connection = asyncpg.Connection  # the class takes no type parameters at run time

_LOCK = 0x53_4D_43_50_00_01

WORDS_INDEX = (
    f"CREATE INDEX words_by_vector ON {SCHEMA_NAME}.words USING gin (vector) WITH (gin_pending_list_limit = 1024)"
)
"""New words are first in a pending list that every search reads; a megabyte of it takes 1 ms. Above 1,024 kB it is
merged into the index."""
_CREATE_RECORDS = read_file(__package__, "records.sql").format(SCHEMA_NAME=SCHEMA_NAME)
# `words` is separate from `pages` so that ranking reads a narrow table. Its rows are stored whole (MAIN). Only the
# vector is stored outside (EXTERNAL) if four rows would not fit into a block with it; it is read if positions count.
# Long URLs do not fit into a B-tree, so a page's place is a digest. Statistics of vectors are expensive and do not
# help the planner.
_CREATE = read_file(__package__, "schema.sql").format(
    SCHEMA_NAME=SCHEMA_NAME, _VERSION=_VERSION, WORDS_INDEX=WORDS_INDEX
)


_MIGRATIONS: Mapping[int, str] = {1: _CREATE_RECORDS}


async def _prepare_schema(connection: Connection) -> None:
    """Create the tables, or migrate older ones; raise PostgresRefusedError if the database is unsuitable."""
    if connection.get_server_version().major < _OLDEST_SERVER:
        raise PostgresRefusedError(
            f"is PostgreSQL {connection.get_server_version().major}; {_OLDEST_SERVER} or newer is needed"
        )
    encoding = connection.get_settings().server_encoding
    if encoding != _ENCODING:
        raise PostgresRefusedError(f"is in {encoding}, which cannot hold every page's text; {_ENCODING} is needed")
    if await _read_version(connection) == _VERSION:
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        version = await _read_version(connection)  # another server may have created them first
        if version is None:
            await connection.execute(_CREATE + _CREATE_RECORDS)
            return
        for step in range(version, _VERSION):
            await connection.execute(_MIGRATIONS[step])
        await connection.execute(f"UPDATE {SCHEMA_NAME}.about SET version = $1", _VERSION)


async def _read_version(connection: Connection) -> int | None:
    found = await connection.fetchrow(
        "SELECT to_regclass($1) IS NOT NULL AS ours, EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE n.nspname = $2 AND c.relkind IN ('r', 'p', 'v')) AS taken",
        f"{SCHEMA_NAME}.about",
        SCHEMA_NAME,
    )
    assert found is not None
    if not found["ours"]:
        if found["taken"]:
            raise PostgresRefusedError(f"has a schema {SCHEMA_NAME} of another program")
        return None
    try:
        row = await connection.fetchrow(f"SELECT application, version FROM {SCHEMA_NAME}.about")
    except (asyncpg.UndefinedColumnError, asyncpg.WrongObjectTypeError):
        row = None
    if row is None or row["application"] != "search-mcp":
        raise PostgresRefusedError(f"has a schema {SCHEMA_NAME} of another program")
    if row["version"] > _VERSION:
        raise PostgresRefusedError(
            f"was used by a newer version of search-mcp (tables of version {row['version']}, this one knows {_VERSION})"
        )
    version = int(row["version"])
    if version != _VERSION and version not in _MIGRATIONS:
        raise PostgresRefusedError(f"has tables of version {version}, which no version of search-mcp has made")
    return version


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
            DatabaseUnavailableError: It failed or took longer than `limit_s` seconds. It is not tried if too many
                operations are in progress, or if the database was unavailable a moment ago.
        """
        if time.monotonic() < self._not_before or len(self._tasks) >= WAITING_LIMIT:
            raise DatabaseUnavailableError(may_retry=True)
        working = self._start_task(self._run_with_retry(work, max(limit_s, _ABANDONED_LIMIT_S)))
        try:
            async with asyncio.timeout(limit_s):
                # After a timeout the operation continues, since opening a new connection would take longer.
                result = await asyncio.shield(working)
        except (*POSTGRES_ERRORS, PostgresRefusedError) as error:
            # The database refuses the value, rather than being unavailable.
            is_refused = isinstance(error, (ValueError, asyncpg.DataError, asyncpg.ProgramLimitExceededError))
            # An untrusted certificate is a ValueError, too.
            may_retry = not (is_refused and not isinstance(error, OSError) and not is_url_error(error))
            if may_retry:
                self._on_fault(error, limit_s, writes=writes)
            raise DatabaseUnavailableError(error, may_retry=may_retry) from None
        # A full disk can still be read, so a successful read does not end a problem with writing.
        if writes or not self._problem_is_writing:
            self._set_problem(None)
        return result

    async def fetch(
        self, statement: str, values: tuple[Any, ...], limit_s: float, *, writes: bool = False
    ) -> list[asyncpg.Record]:
        """Return the rows of a statement; raise DatabaseUnavailableError as `run` does."""
        return await self.run(lambda connection: connection.fetch(statement, *values), limit_s, writes=writes)

    def start_check(self) -> None:
        """Contact the database in the background, so that a problem is logged at the start."""
        self._start_task(self.check(_CONNECT_LIMIT_S))

    async def check(self, limit_s: float) -> None:
        """Contact the database and set `problem` to the reason if it is unavailable."""
        with contextlib.suppress(DatabaseUnavailableError):
            await self.run(lambda connection: connection.fetchval("SELECT 1"), limit_s)

    async def close(self) -> None:
        """Do nothing: all stores share the connections, and `disconnect` closes them."""

    async def disconnect(self) -> None:
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
        task.add_done_callback(self._tasks.discard)
        # This marks an exception as retrieved; the caller has received it.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return task

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
            pool = self._pool
        connection = await pool.acquire()
        try:
            async with self._preparing:
                if not self._is_prepared:
                    await _prepare_schema(connection)
                    self._is_prepared = True
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
