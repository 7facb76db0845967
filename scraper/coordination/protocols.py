"""Protocols of short-lived state, stored by one process or shared by many servers.

All of it may be lost. Then a page is fetched twice, or a site is visited too soon. No method raises or hangs if the
service behind it is down; docs/shared-state.md describes the behavior in this case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Rate limit for each of its keys: a burst, refilled at a constant rate."""

    name: str
    """Name of what is limited: `calls`, `searches`."""
    burst: int
    """Events allowed at once."""
    per_second: float
    """Events a second in the long run."""


class RateLimits(Protocol):
    """Rate limits by key, common to all servers."""

    async def take(self, limit: RateLimit, key: str) -> float:
        """Count one event and return 0, or return the seconds until it is allowed and count nothing."""


@dataclass(frozen=True, slots=True)
class ThrottleTerms:
    """Limits on the requests to one host or engine."""

    at_once: int = 0
    """Requests in flight; 0 for no limit."""
    gap_s: float = 0.0
    """Minimum seconds between the starts of two requests."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Permission for one request, which must be given back after it."""

    key: str
    token: str


@dataclass(frozen=True, slots=True)
class RetryLater:
    """No lease is available now."""

    seconds: float
    """Seconds until the next attempt; infinite if no attempt can succeed before a lease is given back."""
    known: bool = True
    """True if no lease can be available before `seconds` have passed. False if one may be given back at any time."""
    is_cooldown: bool = False
    """True if the key is in a cooldown."""


class Leases(Protocol):
    """Leases on hosts and engines. Keys are hosts, and `engine:NAME` for engines."""

    async def take(self, key: str, terms: ThrottleTerms) -> Lease | RetryLater:
        """Return a lease under these terms, or the time to wait; a lease expires soon after its server ends."""

    def give_back(self, lease: Lease) -> None:
        """End a lease; returns at once."""

    async def start_cooldown(self, key: str, seconds: float) -> None:
        """Start a cooldown, in which no lease is available; a longer one stays in force."""


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Recent failures of an engine for one egress address."""

    reason: str
    """Reason of the last failure: `captcha`, `rate_limited`, ..."""
    step: int = 0
    """Number of consecutive cooldowns; each is longer than the last."""
    faults: int = 0
    """Number of consecutive failures that may be caused by the network; one alone starts no cooldown."""
    until: float = 0.0
    """Seconds of the epoch. The engine is not queried earlier."""


class Cooldowns(Protocol):
    """Cooldowns of engines, in the store of searches or shared."""

    async def get_cooldown(self, engine: str, egress: str) -> Cooldown | None:
        """Return the failures of an engine, or None if there are none."""

    def set_cooldown(self, engine: str, egress: str, cooldown: Cooldown | None) -> None:
        """Store the failures of an engine; returns at once."""


@dataclass(frozen=True, slots=True)
class WorkClaim:
    """Work that this server does; the claim is renewed until the work is completed or given up."""

    key: str
    token: str


@dataclass(frozen=True, slots=True)
class WorkCompleted:
    """Another server has done the work."""

    value: bytes


class WorkClaims(Protocol):
    """Claims on work that one server does at a time, while others wait for its result."""

    async def begin(self, key: str, *, waited: bool) -> WorkClaim | WorkCompleted | None:
        """Claim work; return None if another server is doing it, or its result if it has just finished.

        Without `waited`, finished work is repeated. With it, its result is accepted. Set it if the work was in flight
        when the result was requested, or if the result need not be newer.
        """

    def complete(self, claim: WorkClaim, value: bytes) -> None:
        """Publish the result; returns at once."""

    def give_up(self, claim: WorkClaim) -> None:
        """Let another server do the work; returns at once."""


class SharedBlobs(Protocol):
    """Small files that one server has fetched and all servers need."""

    async def get(self, key: str) -> bytes | None:
        """Return the file stored under a key, or None."""

    def put(self, key: str, value: bytes, keep_s: float) -> None:
        """Store a file for `keep_s` seconds; returns at once."""


@dataclass(frozen=True, slots=True)
class SharedStateStatus:
    """Status of the shared state."""

    configured: bool = False
    problem: str | None = None
    """Reason why it is unavailable, in one sentence without secrets; None if it is available."""
    note: str | None = None
    """Problem although it works: it is slow, or may evict data."""
    slow: bool = False
    servers: int = 1
    """Servers last seen alive, including this one."""
    command_s: float = math.nan
    """Seconds. Average time of a command."""

    @property
    def away(self) -> bool:
        """Return True if this server is configured to share state and cannot."""
        return self.configured and self.problem is not None


class SharedState(Protocol):
    """All short-lived state, opened by `open_shared_state`. The default methods serve a server that runs alone."""

    is_alone: bool = True
    """True if there are no other servers; then no caller waits for a service."""
    limits: RateLimits
    leases: Leases
    claims: WorkClaims | None = None
    """Claims on work; None without other servers."""
    blobs: SharedBlobs | None = None
    """Shared files; None without other servers."""

    def cooldowns(self, local: Cooldowns) -> Cooldowns:
        """Return the cooldowns of engines; `local` are those stored by this server."""
        return local

    def status(self) -> SharedStateStatus:
        """Return the last known status, for `/ready`, `doctor` and metrics."""
        return SharedStateStatus()

    async def close(self) -> None:
        """Leave the other servers."""
        return
