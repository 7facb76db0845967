"""What happened on the wire during one visit: the browser's own errors do not tell."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass

from browsers.egress.ip_rules import normal_host

FAILURES_KEPT = 512
"""A page can ask for any number of hosts; the first failures are dropped when there are more."""


class FailureKind(enum.StrEnum):
    """Why a connection was not made, or not kept."""

    BLOCKED_ADDRESS = "blocked_address"
    UNSAFE_PORT = "unsafe_port"
    NAME_NOT_RESOLVED = "name_not_resolved"
    NAME_LOOKUP_TIMEOUT = "name_lookup_timeout"
    CONNECTION_REFUSED = "connection_refused"
    HOST_UNREACHABLE = "host_unreachable"
    CONNECT_TIMEOUT = "connect_timeout"
    PROXY_FAILED = "proxy_failed"
    """The operator's upstream proxy refused or broke."""
    IDLE = "idle"
    """No byte in either direction for too long."""
    TOO_LARGE = "too_large"
    """The visit's bytes are used up."""
    TOO_MANY_CONNECTIONS = "too_many_connections"
    NOT_ALLOWED = "not_allowed"
    """No visit has begun on this gate."""
    INTERNAL = "internal"
    """Something unforeseen: it fails closed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One connection that was not made, or not kept. `detail` never holds an address or a credential."""

    kind: FailureKind
    host: str
    port: int
    detail: str = ""


class ConnectionDeniedError(Exception):
    """No connection; carries the failure."""

    def __init__(self, kind: FailureKind, host: str, port: int, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.failure = Failure(kind, host, port, detail)


class TrafficLog:
    """Counters and failures of one visit."""

    __slots__ = (
        "_failures",
        "connections",
        "down_bytes",
        "last_byte_at",
        "too_large",
        "up_bytes",
        "wire_bytes",
    )

    def __init__(self, wire_bytes: int) -> None:
        self.wire_bytes = wire_bytes
        """How many bytes may come down, and as many go up."""
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
        """The newest failure of each host and port, oldest first."""
        return tuple(self._failures.values())

    @property
    def latest_failure(self) -> Failure | None:
        """The newest failure of all."""
        return next(reversed(self._failures.values()), None)

    def failure_for(self, host: str, port: int) -> Failure | None:
        """The newest failure of this host and port."""
        return self._failures.get((normal_host(host), port))

    def record(self, failure: Failure) -> None:
        """Keep a failure; a later success of the same host and port takes it back (`clear`)."""
        key = (normal_host(failure.host), failure.port)
        self._failures.pop(key, None)
        if len(self._failures) >= FAILURES_KEPT:
            del self._failures[next(iter(self._failures))]
        self._failures[key] = failure

    def clear(self, host: str, port: int) -> None:
        """The host and port were reached after all."""
        if self._failures:
            self._failures.pop((normal_host(host), port), None)
