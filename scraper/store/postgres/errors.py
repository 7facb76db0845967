"""Errors of the PostgreSQL store, and messages for operators that contain no secrets."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
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
