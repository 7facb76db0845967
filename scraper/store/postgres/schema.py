"""Tables of the PostgreSQL store, created in one transaction; tables of other programs are not changed."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import asyncpg

_DEFAULT_PORT = 5_432


class PostgresUnavailableError(Exception):
    """The database is unavailable for this operation; the log says why."""

    def __init__(self, reason: BaseException | None = None) -> None:
        """Store the error of the client library, if there is one."""
        super().__init__()
        self.reason = reason


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
    def parse(cls, url: str) -> DatabaseAddress:
        """Return the parts of a URL that may be shown."""
        parts = urlsplit(url)
        host = parts.hostname or "localhost"
        port = parts.port or _DEFAULT_PORT
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


def is_value_error(error: BaseException | None) -> bool:
    """Return True if the database refuses the value to be stored, rather than being unavailable."""
    is_refused = isinstance(error, (ValueError, asyncpg.DataError, asyncpg.ProgramLimitExceededError))
    # An untrusted certificate is a ValueError, too.
    return is_refused and not isinstance(error, OSError) and not is_url_error(error)


def is_url_error(error: BaseException | None) -> bool:
    """Return True if the operator must correct the URL or a file that it names."""
    return isinstance(error, (asyncpg.ClientConfigurationError, FileNotFoundError, ssl.SSLCertVerificationError))


def describe_error(error: BaseException, address: DatabaseAddress, limit_s: float) -> str:
    """Return one sentence about an error for the log, `doctor` and status."""
    match error:
        case PostgresRefusedError():
            return f"{address} {error}"
        case FileNotFoundError():
            return f"a file that the URL of {address} names (sslrootcert, sslcert, sslkey) is not there"
        case asyncpg.ClientConfigurationError():
            # The lines after the first are hints for programmers.
            return f"the URL of {address} cannot be used: {str(error).partition(chr(10))[0]}"
        case ssl.SSLCertVerificationError():
            return f"the certificate of {address} cannot be trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"TLS with {address} fails ({error.reason})"
        case ConnectionError() if "SSL upgrade" in str(error):
            return f"{address} does not speak TLS, which its URL asks for"
        case TimeoutError():
            return f"{address} did not answer within {limit_s:g} s"
        case asyncpg.InvalidPasswordError():
            return f"{address} does not take the user {address.user} with the password given"
        case asyncpg.InvalidAuthorizationSpecificationError():
            # No entry for this machine, none without TLS, or no such user; the message says which.
            return f"{address} does not let the user {address.user} in: {error}"
        case asyncpg.UndefinedObjectError():
            return f"{address} does not know an object that this server uses: {error}"
        case asyncpg.InvalidCatalogNameError():
            return f"there is no database {address.database} at {address.host}"
        case asyncpg.TooManyConnectionsError():
            return f"{address} has no connection left"
        case asyncpg.UndefinedTableError():
            anew = "or let all be made anew: DROP SCHEMA search_mcp CASCADE"
            return f"{address} lacks some of the tables: restore them, {anew}"
        case asyncpg.DiskFullError():
            return f"the disk of {address} is full"
        case asyncpg.ReadOnlySQLTransactionError():
            return f"{address} takes no writes"
        case asyncpg.InsufficientPrivilegeError():
            return f"the user {address.user} may not use or make the tables of {address}"
        case asyncpg.CannotConnectNowError() | asyncpg.AdminShutdownError() | asyncpg.CrashShutdownError():
            return f"{address} is starting up or shutting down"
        case asyncpg.PostgresError():
            return f"{address} answered with {type(error).__name__} ({error.sqlstate})"
    return f"no PostgreSQL answers at {address.host} ({type(error).__name__})"


SCHEMA_NAME = "search_mcp"
_VERSION = 2
"""Version of the tables; `_MIGRATIONS` updates older ones."""
_OLDEST_SERVER = 12
"""Oldest supported major version of PostgreSQL."""
_ENCODING = "UTF8"

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    Connection = asyncpg.Connection  # the class takes no type parameters at run time

_LOCK = 0x53_4D_43_50_00_01
"""Advisory lock held while the tables are created."""

WORDS_INDEX = (
    f"CREATE INDEX words_by_vector ON {SCHEMA_NAME}.words USING gin (vector) WITH (gin_pending_list_limit = 1024)"
)
"""New words are first in a pending list that every search reads; a megabyte of it takes 1 ms. Above 1,024 kB it is
merged into the index."""
_CREATE_RECORDS = f"""
    CREATE TABLE IF NOT EXISTS {SCHEMA_NAME}.records (
        principal text NOT NULL,
        log text NOT NULL,
        number int NOT NULL,
        written_at double precision NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (principal, log, number)
    );
"""
# `words` is separate from `pages` so that ranking reads a narrow table. Its rows are stored whole (MAIN). Only the
# vector is stored outside (EXTERNAL) if four rows would not fit into a block with it; it is read if positions count.
# Long URLs do not fit into a B-tree, so a page's place is a digest. Statistics of vectors are expensive and do not
# help the planner.
_CREATE = (
    files(__package__)
    .joinpath("schema.sql")
    .read_text(encoding="utf-8")
    .format(SCHEMA_NAME=SCHEMA_NAME, _VERSION=_VERSION, WORDS_INDEX=WORDS_INDEX)
)


async def _add_records(connection: Connection) -> None:
    await connection.execute(_CREATE_RECORDS)


_MIGRATIONS: Mapping[int, Callable[[Connection], Awaitable[None]]] = {1: _add_records}
"""Function that migrates each version to the next one."""


async def prepare_schema(connection: Connection) -> None:
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
            await _MIGRATIONS[step](connection)
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
