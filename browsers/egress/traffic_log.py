"""Byte counters and connection failures of one visit. Chromium's own errors do not give this detail."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass

from browsers.egress.ip_rules import normalize_host

MAX_FAILURES = 512
"""A page can request any number of hosts. The oldest failures are dropped beyond this number."""


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
    IDLE = "idle"
    """No byte passed in either direction within the limit."""
    TOO_LARGE = "too_large"
    """The visit reached its limit of bytes."""
    TOO_MANY_CONNECTIONS = "too_many_connections"
    NOT_ALLOWED = "not_allowed"
    """No visit is in progress on this listener."""
    INTERNAL = "internal"
    """Unexpected error. The connection is refused."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed connection. `detail` never contains an address or a credential."""

    kind: FailureKind
    host: str
    port: int
    detail: str = ""


class ConnectionDeniedError(Exception):
    """No connection was made. Carries the failure."""

    def __init__(self, kind: FailureKind, host: str, port: int, detail: str = "") -> None:
        """Set the failure of a connection to host and port."""
        super().__init__(f"{kind}: {detail}")
        self.failure = Failure(kind, host, port, detail)


class TrafficLog:
    """Counters and failures of one visit."""

    __slots__ = ("_failures", "connections", "down_bytes", "last_byte_at", "too_large", "up_bytes", "wire_bytes")

    def __init__(self, wire_bytes: int) -> None:
        """Limit the visit to `wire_bytes`."""
        self.wire_bytes = wire_bytes
        """Limit of bytes in each direction."""
        self.down_bytes = 0
        self.up_bytes = 0
        self.connections = 0
        self.too_large = False
        self.last_byte_at = time.monotonic()
        self._failures: dict[tuple[str, int], Failure] = {}

    @property
    def idle_s(self) -> float:
        """Seconds since the last byte in either direction, or since the visit began."""
        return time.monotonic() - self.last_byte_at

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The latest failure of each host and port, oldest first."""
        return tuple(self._failures.values())

    @property
    def latest_failure(self) -> Failure | None:
        """The latest failure of any host."""
        return next(reversed(self._failures.values()), None)

    def failure_for(self, host: str, port: int) -> Failure | None:
        """Return the latest failure of this host and port."""
        return self._failures.get((normalize_host(host), port))

    def record(self, failure: Failure) -> None:
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
