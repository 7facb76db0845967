"""Count the bytes and record the connection failures of one visit. Chromium's own errors lack this detail."""

import enum
from dataclasses import dataclass, field

from browsers.egress.ip_rules import normalize_host

MAX_FAILURES = 512
"""Maximum of failures; the oldest are dropped beyond it. A page can request any number of hosts."""


class FailureKind(enum.StrEnum):
    """Reason why a connection was refused, failed or was closed."""

    BLOCKED_ADDRESS = "blocked_address"
    UNSAFE_PORT = "unsafe_port"
    NAME_NOT_RESOLVED = "name_not_resolved"
    NAME_LOOKUP_TIMEOUT = "name_lookup_timeout"
    CONNECTION_REFUSED = "connection_refused"
    HOST_UNREACHABLE = "host_unreachable"
    CONNECT_TIMEOUT = "connect_timeout"
    PROXY_FAILED = "proxy_failed"
    """The operator's upstream proxy refused or failed."""
    PROXY_SILENT = "proxy_silent"
    """The operator's upstream proxy accepts no connection."""
    NO_NETWORK = "no_network"
    """This machine reaches no host at all."""
    IDLE = "idle"
    """No byte passed in either direction within the limit."""
    TOO_LARGE = "too_large"
    """The visit reached its limit of bytes."""
    TOO_MANY_CONNECTIONS = "too_many_connections"
    THIRD_PARTY = "third_party"
    """The page may not load this third party."""
    NOT_ALLOWED = "not_allowed"
    """No visit is in progress on this listener."""
    INTERNAL = "internal"
    """Unexpected error. The connection is refused."""


@dataclass(frozen=True, slots=True)
class ConnectionFailure:
    """One failed connection. `detail` never contains an address or a credential."""

    kind: FailureKind
    host: str
    port: int
    detail: str = ""


class ConnectionDeniedError(Exception):
    """The connection was refused or failed. The error carries the failure."""

    def __init__(self, kind: FailureKind, host: str, port: int, detail: str = "") -> None:
        """Set the failure of a connection to host and port."""
        super().__init__(f"{kind}: {detail}")
        self.failure = ConnectionFailure(kind, host, port, detail)


@dataclass(slots=True)
class TrafficLog:
    """Record the byte counters and connection failures of one visit."""

    limit_bytes: int
    """Maximum of bytes in each direction."""
    down_bytes: int = 0
    up_bytes: int = 0
    down_end: bytes = b""
    """The last four bytes received."""
    connections: int = 0
    too_large: bool = False
    """True if the limit was exceeded."""
    refused_hosts: set[str] = field(default_factory=set)
    """Hosts of third parties that were refused."""
    _failures: dict[tuple[str, int], ConnectionFailure] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[ConnectionFailure, ...]:
        """The latest failure of each host and port, oldest first."""
        return tuple(self._failures.values())

    @property
    def latest_failure(self) -> ConnectionFailure | None:
        """The latest failure of any host."""
        return next(reversed(self._failures.values()), None)

    def failure_for(self, host: str, port: int) -> ConnectionFailure | None:
        """Return the latest failure of this host and port."""
        return self._failures.get((normalize_host(host), port))

    def record(self, failure: ConnectionFailure) -> None:
        """Store a failure. A later success of the same host and port removes it (`clear`)."""
        key = (normalize_host(failure.host), failure.port)
        self._failures.pop(key, None)
        if len(self._failures) >= MAX_FAILURES:
            del self._failures[next(iter(self._failures))]
        self._failures[key] = failure

    def clear(self, host: str, port: int) -> None:
        """Remove the failure of a host and port that was reached."""
        if self._failures:
            self._failures.pop((normalize_host(host), port), None)
