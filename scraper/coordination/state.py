"""State that servers share: in the memory of a single server, unless a subclass exchanges it."""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from cachetools import LRUCache


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Rate limit for each of its keys: a burst, refilled at a constant rate."""

    name: str
    """Name of what is limited: `calls`, `searches`."""
    burst: int
    """Events allowed at once."""
    per_second: float
    """Events a second in the long run."""


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


class SharedState:
    """All short-lived state, opened by `open_shared_state`. This class serves a server that runs alone."""

    is_alone: bool = True
    """True if there are no other servers; then no caller waits for a service."""
    claims: WorkClaims | None = None
    """Claims on work; None without other servers."""
    blobs: SharedBlobs | None = None
    """Shared files; None without other servers."""

    def __init__(self) -> None:
        """Create limits and leases in this process."""
        self.limits = RateLimits()
        self.leases = Leases()

    def cooldowns(self, local: Cooldowns) -> Cooldowns:
        """Return the cooldowns of engines; `local` are those stored by this server."""
        return local

    def status(self) -> SharedStateStatus:
        """Return the last known status, for `/ready`, `doctor` and metrics."""
        return SharedStateStatus()

    async def close(self) -> None:
        """Leave the other servers."""
        return


_MAX_LIMIT_KEYS = 10_000
"""Keys of limits in memory. With more, the least recently used one is evicted."""
_MAX_LEASE_KEYS = 4_096
"""Keys of leases in memory. With more, keys without leases are evicted, those without effect first."""
_ROUNDING_S = 1e-6


class RateLimits:
    """Rate limits by key, by the generic cell rate algorithm (ITU-T I.371).

    It stores one time for each key: the moment at which the full burst is available again.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, max_keys: int = _MAX_LIMIT_KEYS) -> None:
        """Start without keys; `clock` returns seconds, `max_keys` limits the keys."""
        self._clock = clock
        self._full_at: LRUCache[tuple[str, str], float] = LRUCache(max_keys)

    async def take(self, limit: RateLimit, key: str) -> float:
        """Count one event and return 0, or return the seconds until it is allowed and count nothing."""
        return self._take_share(limit, key, 1)

    def _take_share(self, limit: RateLimit, key: str, servers: int) -> float:
        """Count one event against this server's share of the limit, one of `servers`."""
        now = self._clock()
        interval_s = servers / limit.per_second
        burst = max(1.0, limit.burst / servers)
        full_key = (limit.name, key)
        full_at = max(now, self._full_at.get(full_key, now))
        wait_s = full_at + interval_s - burst * interval_s - now
        if wait_s > _ROUNDING_S:
            return wait_s
        self._full_at[full_key] = full_at + interval_s
        return 0.0


@dataclass(slots=True)
class _KeyLeases:
    tokens: set[str] = field(default_factory=set)
    next_at: float = 0.0
    """Monotonic seconds before which no request starts, because of the gap after the last one."""
    cooldown_until: float = 0.0


class Leases:
    """Leases on hosts and engines. Keys are hosts, and `engine:NAME` for engines."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, max_keys: int = _MAX_LEASE_KEYS) -> None:
        """Start without keys; `clock` returns seconds, `max_keys` limits the keys."""
        self._clock = clock
        self._max_keys = max_keys
        self._keys: dict[str, _KeyLeases] = {}
        self._numbers = itertools.count()

    async def take(self, key: str, terms: ThrottleTerms) -> Lease | RetryLater:
        """Return a lease under these terms, or the time to wait; a lease expires soon after its server ends."""
        now, leases = self._clock(), self._keys.get(key)
        if leases is not None:
            if leases.cooldown_until > now:
                return RetryLater(leases.cooldown_until - now, is_cooldown=True)
            if terms.at_once and len(leases.tokens) >= terms.at_once:
                return RetryLater(math.inf, known=False)
            if terms.gap_s and leases.next_at > now:
                return RetryLater(leases.next_at - now)
        lease = Lease(key, f"local-{next(self._numbers)}")
        self.note(lease, terms)
        return lease

    def note(self, lease: Lease, terms: ThrottleTerms) -> None:
        """Count a lease that was granted here or elsewhere."""
        leases = self._leases(lease.key)
        leases.tokens.add(lease.token)
        leases.next_at = max(leases.next_at, self._clock() + terms.gap_s)

    def give_back(self, lease: Lease) -> None:
        """End a lease; returns at once."""
        leases = self._keys.get(lease.key)
        if leases is not None:
            leases.tokens.discard(lease.token)
            if not leases.tokens and max(leases.next_at, leases.cooldown_until) <= self._clock():
                del self._keys[lease.key]

    async def start_cooldown(self, key: str, seconds: float) -> None:
        """Start a cooldown, in which no lease is available; a longer one stays in force."""
        leases = self._leases(key)
        leases.cooldown_until = max(leases.cooldown_until, self._clock() + seconds)

    def list_leases(self) -> list[Lease]:
        """Return all leases that were not given back."""
        return [Lease(key, token) for key, leases in self._keys.items() for token in leases.tokens]

    def cooldowns(self) -> dict[str, float]:
        """Return the seconds left of each cooldown, by key."""
        now = self._clock()
        return {k: leases.cooldown_until - now for k, leases in self._keys.items() if leases.cooldown_until > now}

    def _leases(self, key: str) -> _KeyLeases:
        if key not in self._keys and len(self._keys) >= self._max_keys:
            # The key without leases that ends first, and up to a tenth of them if they are without effect.
            ends = {name: max(one.next_at, one.cooldown_until) for name, one in self._keys.items() if not one.tokens}
            ending, now = sorted(ends, key=ends.__getitem__), self._clock()
            over = [name for name in ending[1 : 1 + len(ending) // 10] if ends[name] <= now]
            for name in ending[:1] + over:
                del self._keys[name]
        return self._keys.setdefault(key, _KeyLeases())
