"""What can be wrong with the database, in words for the operator that hold nothing secret."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import asyncpg

DEFAULT_PORT = 5_432


class PostgresUnavailableError(Exception):
    """The database cannot serve this operation; the log says why."""

    def __init__(self, reason: BaseException | None = None) -> None:
        super().__init__()
        self.reason = reason


class PostgresRefusedError(Exception):
    """The database answers, and cannot be used; in words that follow its name."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, without who asks and with which password."""

    place: str
    database: str
    user: str

    @classmethod
    def of(cls, url: str) -> Address:
        """The parts of a URL that may be shown."""
        parts = urlsplit(url)
        host = parts.hostname or "localhost"
        port = parts.port or DEFAULT_PORT
        user = unquote(parts.username or "")
        return cls(f"{host}:{port}", unquote(parts.path.strip("/")) or user, user)

    def __str__(self) -> str:
        return f"the database {self.database} at {self.place}"


FAULTS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    # What the client says of a connection that broke in the middle of an answer.
    asyncpg.InternalClientError,
    OSError,
    EOFError,
)
"""All that an operation may raise for want of a database."""

_AWAY = (
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


def is_away(error: BaseException) -> bool:
    """Whether the connection is gone, rather than what was asked being wrong."""
    # A value that cannot be sent is the caller's; and what is slow is there.
    return isinstance(error, _AWAY) and not isinstance(error, (TimeoutError, ValueError))


def is_of_the_value(error: BaseException | None) -> bool:
    """Whether what was to be kept is at fault, and not the database."""
    at_fault = isinstance(error, (ValueError, asyncpg.DataError, asyncpg.ProgramLimitExceededError))
    # A certificate that cannot be trusted is a ValueError, too.
    return at_fault and not isinstance(error, OSError) and not is_of_the_url(error)


def is_of_the_url(error: BaseException | None) -> bool:
    """Whether the operator has to mend the URL or what it names before anything can go well."""
    return isinstance(
        error, (asyncpg.ClientConfigurationError, FileNotFoundError, ssl.SSLCertVerificationError)
    )


def told(error: BaseException, address: Address, limit_s: float) -> str:
    """One sentence for the log, the doctor and status."""
    match error:
        case PostgresRefusedError():
            return f"{address} {error}"
        case FileNotFoundError():
            return f"a file that the URL of {address} names (sslrootcert, sslcert, sslkey) is not there"
        case asyncpg.ClientConfigurationError():
            # What follows the first line is a hint for programmers.
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
            # No entry for this machine, or none without TLS, or no such user: the database says which.
            return f"{address} does not let the user {address.user} in: {error}"
        case asyncpg.UndefinedObjectError():
            return f"{address} does not know what is asked of it: {error}"
        case asyncpg.InvalidCatalogNameError():
            return f"there is no database {address.database} at {address.place}"
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
    return f"no PostgreSQL answers at {address.place} ({type(error).__name__})"
