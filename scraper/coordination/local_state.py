"""Coordination state of a single server, in memory."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cachetools import LRUCache

from scraper.coordination.protocols import Lease, RateLimit, RetryLater, SharedState, ThrottleTerms

_MAX_LIMIT_KEYS = 10_000
"""Keys of limits in memory. With more, the least recently used one is evicted."""
_MAX_LEASE_KEYS = 4_096
"""Keys of leases in memory. With more, keys without leases are evicted, those without effect first."""
_ROUNDING_S = 1e-6


class LocalState(SharedState):
    """Implement `SharedState` in one process."""

    def __init__(self) -> None:
        """Create the local limits and leases."""
        self.limits = LocalLimits()
        self.leases = LocalLeases()


class LocalLimits:
    """Implement `RateLimits` by the generic cell rate algorithm (ITU-T I.371).

    It stores one time for each key: the moment at which the full burst is available again.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, max_keys: int = _MAX_LIMIT_KEYS) -> None:
        """Start without keys; `clock` returns seconds, `max_keys` limits the keys."""
        self._clock = clock
        self._full_at: LRUCache[tuple[str, str], float] = LRUCache(max_keys)

    async def take(self, limit: RateLimit, key: str, *, servers: int = 1) -> float:
        """Count one event against this server's share of the limit, one of `servers`.

        Return 0 if it is allowed, else the seconds until it is; then it is not counted.
        """
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
    """Leases of one key."""

    tokens: set[str] = field(default_factory=set)
    next_at: float = 0.0
    """Monotonic seconds before which no request starts, because of the gap after the last one."""
    cooldown_until: float = 0.0


class LocalLeases:
    """Implement `Leases` in this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, max_keys: int = _MAX_LEASE_KEYS) -> None:
        """Start without keys; `clock` returns seconds, `max_keys` limits the keys."""
        self._clock = clock
        self._max_keys = max_keys
        self._keys: dict[str, _KeyLeases] = {}
        self._numbers = itertools.count()

    async def take(self, key: str, terms: ThrottleTerms) -> Lease | RetryLater:
        """Return a lease under these terms, or the seconds until there may be one."""
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
        """End a lease."""
        leases = self._keys.get(lease.key)
        if leases is not None:
            leases.tokens.discard(lease.token)
            if not leases.tokens and max(leases.next_at, leases.cooldown_until) <= self._clock():
                del self._keys[lease.key]

    async def start_cooldown(self, key: str, seconds: float) -> None:
        """Start a cooldown of a key, unless a longer one runs."""
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
            self._evict()
        return self._keys.setdefault(key, _KeyLeases())

    def _evict(self) -> None:
        """Remove keys without effect, and more keys without leases if there are still too many."""
        now = self._clock()
        for key, leases in list(self._keys.items()):
            if not leases.tokens and max(leases.next_at, leases.cooldown_until) <= now:
                del self._keys[key]
        idle = [key for key, leases in self._keys.items() if not leases.tokens]
        for key in idle[: max(0, len(self._keys) - self._max_keys + 1)]:
            del self._keys[key]
