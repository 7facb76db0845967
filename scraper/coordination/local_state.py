"""Coordination state of a server that runs alone, held in memory."""

from __future__ import annotations

import itertools
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from scraper.coordination.protocols import (
    Cooldowns,
    Lease,
    Limit,
    RetryLater,
    SharedStateStatus,
    ThrottleTerms,
)


class LocalState:
    """The `Shared` protocol in one process."""

    alone = True
    claims = None
    texts = None

    def __init__(self) -> None:
        self.limits = LocalLimits()
        self.leases = LocalLeases()

    def rests(self, own: Cooldowns) -> Cooldowns:
        """What the server keeps by itself."""
        return own

    def status(self) -> SharedStateStatus:
        """Nothing is shared."""
        return SharedStateStatus()

    async def close(self) -> None:
        """There is nobody to tell."""


MAX_LIMIT_KEYS = 10_000
_ROUNDING_S = 1e-6


class LocalLimits:
    """The generic cell rate algorithm (ITU-T I.371): of each key the moment at which it is even again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, keep: int = MAX_LIMIT_KEYS) -> None:
        self._clock = clock
        self._keep = keep
        self._even_at: OrderedDict[tuple[str, str], float] = OrderedDict()

    async def take(self, limit: Limit, key: str, *, servers: int = 1) -> float:
        """Count one against this server's share; the seconds to wait when it may not be done."""
        now = self._clock()
        interval_s = servers / limit.per_second
        burst = max(1.0, limit.burst / servers)
        place = (limit.name, key)
        even_at = max(now, self._even_at.get(place, now))
        wait_s = even_at + interval_s - burst * interval_s - now
        if wait_s > _ROUNDING_S:
            return wait_s
        self._even_at[place] = even_at + interval_s
        self._even_at.move_to_end(place)
        if len(self._even_at) > self._keep:
            self._even_at.popitem(last=False)
        return 0.0


MAX_LEASE_KEYS = 4_096
"""Beyond, those that nobody asks and nobody needs to spare are forgotten."""


@dataclass(slots=True)
class _Lane:
    held: set[str] = field(default_factory=set)
    next_at: float = 0.0
    """No request starts before: the gap after the last one."""
    rests_until: float = 0.0


class LocalLeases:
    """Who may ask whom, by this process's clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, keep: int = MAX_LEASE_KEYS) -> None:
        self._clock = clock
        self._keep = keep
        self._lanes: dict[str, _Lane] = {}
        self._numbers = itertools.count()

    async def take(self, key: str, terms: ThrottleTerms) -> Lease | RetryLater:
        """A lease under these terms, or how long there is none."""
        now, lane = self._clock(), self._lanes.get(key)
        if lane is not None and (wait := _wait(lane, terms, now)) is not None:
            return wait
        lease = Lease(key, f"here-{next(self._numbers)}")
        self.note(lease, terms)
        return lease

    def note(self, lease: Lease, terms: ThrottleTerms) -> None:
        """Count a lease that was taken here or elsewhere."""
        lane = self._lane(lease.key)
        lane.held.add(lease.token)
        lane.next_at = max(lane.next_at, self._clock() + terms.gap_s)

    def give_back(self, lease: Lease) -> None:
        """The request is over."""
        lane = self._lanes.get(lease.key)
        if lane is not None:
            lane.held.discard(lease.token)
            if not lane.held and max(lane.next_at, lane.rests_until) <= self._clock():
                del self._lanes[lease.key]

    async def rest(self, key: str, seconds: float) -> None:
        """Let nobody ask for so long."""
        lane = self._lane(key)
        lane.rests_until = max(lane.rests_until, self._clock() + seconds)

    def held(self) -> list[Lease]:
        """Every lease that was not given back."""
        return [Lease(key, token) for key, lane in self._lanes.items() for token in lane.held]

    def rests(self) -> dict[str, float]:
        """Seconds for which keys are still left alone."""
        now = self._clock()
        return {k: lane.rests_until - now for k, lane in self._lanes.items() if lane.rests_until > now}

    def _lane(self, key: str) -> _Lane:
        if key not in self._lanes and len(self._lanes) >= self._keep:
            self._forget()
        return self._lanes.setdefault(key, _Lane())

    def _forget(self) -> None:
        now = self._clock()
        for key, lane in list(self._lanes.items()):
            if not lane.held and max(lane.next_at, lane.rests_until) <= now:
                del self._lanes[key]
        idle = [key for key, lane in self._lanes.items() if not lane.held]
        for key in idle[: max(0, len(self._lanes) - self._keep + 1)]:
            del self._lanes[key]


def _wait(lane: _Lane, terms: ThrottleTerms, now: float) -> RetryLater | None:
    if lane.rests_until > now:
        return RetryLater(lane.rests_until - now, resting=True)
    if terms.at_once and len(lane.held) >= terms.at_once:
        return RetryLater(math.inf, known=False)
    if terms.gap_s and lane.next_at > now:
        return RetryLater(lane.next_at - now)
    return None
