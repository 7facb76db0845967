"""Coordination state of a server that runs alone, held in memory."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cachetools import LRUCache

from scraper.coordination.protocols import Cooldowns, Lease, Limit, RetryLater, SharedStateStatus, ThrottleTerms

MAX_LIMIT_KEYS = 10_000
MAX_LEASE_KEYS = 4_096
"""Beyond these, keys without leases and cooldowns are evicted."""
_ROUNDING_S = 1e-6


class LocalState:
    """The `SharedState` protocol in one process."""

    alone = True
    claims = None
    texts = None

    def __init__(self) -> None:
        """Create the local limits, leases and claims."""
        self.limits = LocalLimits()
        self.leases = LocalLeases()

    def cooldowns(self, own: Cooldowns) -> Cooldowns:
        """Return the cooldowns that the server holds by itself."""
        return own

    def status(self) -> SharedStateStatus:
        """Return the status of a server that shares nothing."""
        return SharedStateStatus()

    async def close(self) -> None:
        """Do nothing."""


class LocalLimits:
    """The `RateLimits` protocol by the generic cell rate algorithm (ITU-T I.371).

    It stores one time for each key: the moment at which the full burst is available again.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, keep: int = MAX_LIMIT_KEYS) -> None:
        """Start without keys; `clock` returns seconds, `keep` limits the keys."""
        self._clock = clock
        self._full_at: LRUCache[tuple[str, str], float] = LRUCache(keep)

    async def take(self, limit: Limit, key: str, *, servers: int = 1) -> float:
        """Count one event against this server's share; return 0 or the seconds until it is allowed."""
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
class _Lane:
    """Leases of one key."""

    held: set[str] = field(default_factory=set)
    """Tokens."""
    next_at: float = 0.0
    """No request starts before the end of the gap after the last one."""
    rests_until: float = 0.0
    """End of the cooldown."""


class LocalLeases:
    """The `Leases` protocol by this process's clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, keep: int = MAX_LEASE_KEYS) -> None:
        """Start without keys; `clock` returns seconds, `keep` limits the keys."""
        self._clock = clock
        self._keep = keep
        self._lanes: dict[str, _Lane] = {}
        self._numbers = itertools.count()

    async def take(self, key: str, terms: ThrottleTerms) -> Lease | RetryLater:
        """Return a lease under these terms, or the time until there is one."""
        now, lane = self._clock(), self._lanes.get(key)
        if lane is not None and (wait := _find_wait(lane, terms, now)) is not None:
            return wait
        lease = Lease(key, f"here-{next(self._numbers)}")
        self.note(lease, terms)
        return lease

    def note(self, lease: Lease, terms: ThrottleTerms) -> None:
        """Count a lease that was granted here or elsewhere."""
        lane = self._lane(lease.key)
        lane.held.add(lease.token)
        lane.next_at = max(lane.next_at, self._clock() + terms.gap_s)

    def give_back(self, lease: Lease) -> None:
        """End a lease."""
        lane = self._lanes.get(lease.key)
        if lane is not None:
            lane.held.discard(lease.token)
            if not lane.held and max(lane.next_at, lane.rests_until) <= self._clock():
                del self._lanes[lease.key]

    async def start_cooldown(self, key: str, seconds: float) -> None:
        """Start a cooldown."""
        lane = self._lane(key)
        lane.rests_until = max(lane.rests_until, self._clock() + seconds)

    def held(self) -> list[Lease]:
        """Return all leases that were not given back."""
        return [Lease(key, token) for key, lane in self._lanes.items() for token in lane.held]

    def cooldowns(self) -> dict[str, float]:
        """Return the seconds left of each cooldown, by key."""
        now = self._clock()
        return {k: lane.rests_until - now for k, lane in self._lanes.items() if lane.rests_until > now}

    def _lane(self, key: str) -> _Lane:
        if key not in self._lanes and len(self._lanes) >= self._keep:
            self._evict()
        return self._lanes.setdefault(key, _Lane())

    def _evict(self) -> None:
        """Remove keys without effect, and more keys without leases if there are still too many."""
        now = self._clock()
        for key, lane in list(self._lanes.items()):
            if not lane.held and max(lane.next_at, lane.rests_until) <= now:
                del self._lanes[key]
        idle = [key for key, lane in self._lanes.items() if not lane.held]
        for key in idle[: max(0, len(self._lanes) - self._keep + 1)]:
            del self._lanes[key]


def _find_wait(lane: _Lane, terms: ThrottleTerms, now: float) -> RetryLater | None:
    """Return the wait for a lease, or None if it is available."""
    if lane.rests_until > now:
        return RetryLater(lane.rests_until - now, is_cooldown=True)
    if terms.at_once and len(lane.held) >= terms.at_once:
        return RetryLater(math.inf, known=False)
    if terms.gap_s and lane.next_at > now:
        return RetryLater(lane.next_at - now)
    return None
