"""Limit the requests to each engine: one at a time, pauses between them, and cooldowns after failures.

Engines block clients that send many requests in a row. Servers with the same public address share the limits.
"""

import asyncio
import hashlib
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from scraper.coordination.state import Cooldown, Cooldowns, Leases, RetryLater, SharedState, ThrottleTerms
from scraper.settings import Settings

_POLL_S = 0.25
_JITTER = 0.3
"""Maximum share by which a pause is extended at random: people do not click at regular intervals."""
COOLDOWNS_S = (60.0, 300.0, 1_800.0, 3_600.0)
"""Seconds. Lengths of consecutive cooldowns. Observed blocks: DuckDuckGo one hour, Brave 5 to 15 minutes."""
MAX_PAUSE_S = COOLDOWNS_S[-1]
"""Seconds. Longest pause that an engine can ask for."""
MAX_FAULTS = 3
"""Consecutive timeouts and network errors that count as one block."""
BLOCKING_REASONS = frozenset({"captcha", "consent", "rate_limited", "refused", "off_topic"})
"""Errors with which an engine blocks this client."""


def describe_route(settings: Settings) -> str:
    """Return the route to the engines: proxy and test hosts."""
    hosts = (f"{name}={address}:{port}" for name, address, port in settings.test_hosts)
    return " ".join(filter(None, (settings.proxy, *hosts)))


def _hash_route(route: str) -> str:
    """Return the name that servers with the same route share; it does not reveal the route."""
    return hashlib.sha256(route.encode()).hexdigest()[:12] if route else "direct"


def open_engine_throttle(settings: Settings, shared: SharedState) -> "EngineThrottle":
    """Return the throttle that this server shares with others on its route."""
    return EngineThrottle(None if shared.is_alone else shared.leases, _hash_route(describe_route(settings)))


@dataclass(slots=True)
class _Lane:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0
    """Monotonic seconds before which no request starts."""
    pending: int = 0
    """Queries that hold the lock or wait for it."""


class EngineThrottle:
    """One query at a time for each engine, with a pause between its requests."""

    def __init__(self, leases: Leases | None = None, route: str = "") -> None:
        """Create the throttle; `leases` is None without other servers, `route` the name from `_hash_route`."""
        self._lanes: dict[str, _Lane] = {}
        self._leases = leases
        self.route = route

    @asynccontextmanager
    async def turn(self, engine: str, spacing_s: float = 0.0) -> AsyncIterator[None]:
        """Wait for the engine, and lock it during the block."""
        lane = self._lane(engine)
        lane.pending += 1
        try:
            async with lane.lock, self._lease(engine, spacing_s):
                yield
        finally:
            lane.pending -= 1

    @asynccontextmanager
    async def _lease(self, engine: str, spacing_s: float) -> AsyncIterator[None]:
        """Lock the engine among all servers; they also wait during the pause after the block."""
        if self._leases is None:
            yield
            return
        key, terms = f"engine:{engine}:{self.route}", ThrottleTerms(at_once=1, gap_s=spacing_s)
        lease = await self._leases.take(key, terms)
        while isinstance(lease, RetryLater):
            await asyncio.sleep(min(lease.seconds, _POLL_S) * random.uniform(0.5, 1.0))
            lease = await self._leases.take(key, terms)
        try:
            yield
        finally:
            left_s = self._lanes[engine].free_at - time.monotonic()
            if left_s > 0:
                await self._leases.start_cooldown(key, left_s)
            self._leases.give_back(lease)

    def minimum_wait_s(self, engine: str, spacing_s: float) -> float:
        """Return the seconds that a new query waits at least, if all before it send a request."""
        lane = self._lane(engine)
        return max(0.0, lane.free_at - time.monotonic()) + lane.pending * spacing_s

    async def pause(self, engine: str) -> None:
        """Wait for the end of the pause; call this in a turn before each request."""
        await asyncio.sleep(max(0.0, self._lane(engine).free_at - time.monotonic()))

    def note_request(self, engine: str, spacing_s: float) -> None:
        """Start the pause after a request."""
        self._lane(engine).free_at = time.monotonic() + spacing_s * (1 + random.uniform(0, _JITTER))

    def _lane(self, engine: str) -> _Lane:
        return self._lanes.setdefault(engine, _Lane())


def after_failure(cooldown: Cooldown | None, reason: str, now: float, minimum_s: float = 0.0) -> Cooldown:
    """Return the state of an engine after one more failure, which starts a cooldown if it is a block.

    Of other failures, `MAX_FAULTS` in a row count as a block. A cooldown takes at least `minimum_s`.
    """
    before = cooldown or Cooldown(reason)
    if reason not in BLOCKING_REASONS and before.faults + 1 < MAX_FAULTS:
        return replace(before, reason=reason, faults=before.faults + 1)
    pause_s = COOLDOWNS_S[min(before.step, len(COOLDOWNS_S) - 1)]
    pause_s = max(pause_s, min(minimum_s, MAX_PAUSE_S))
    return Cooldown(reason, step=before.step + 1, faults=0, until=now + pause_s)


def is_cooling_down(cooldown: Cooldown | None, now: float) -> bool:
    """Return True during a cooldown; ignore one that is longer than possible, as after a change of the clock."""
    return cooldown is not None and now < cooldown.until <= now + COOLDOWNS_S[-1]


class CircuitBreakers:
    """Cooldowns of all engines on this server's route.

    Requests to an engine that blocks prolong the block, so each cooldown is longer than the last. The first request
    after a cooldown decides if another one starts.
    """

    def __init__(self, cooldowns: Cooldowns, route: str = "") -> None:
        """Create the breakers; only the hash of the route is stored."""
        self._cooldowns = cooldowns
        self.route = _hash_route(route)

    async def find_cooldown(self, engine: str) -> tuple[str, float] | None:
        """Return the reason of an engine's cooldown and the seconds left, or None if it can be queried."""
        cooldown, now = await self._cooldowns.get_cooldown(engine, self.route), time.time()
        if cooldown is None or not is_cooling_down(cooldown, now):
            return None
        return cooldown.reason, cooldown.until - now

    async def note_outcome(self, engine: str, error: str | None, minimum_s: float = 0.0) -> None:
        """Record the error of a query, or None for an answer; a cooldown takes at least `minimum_s`."""
        cooldown = await self._cooldowns.get_cooldown(engine, self.route)
        if error is not None:
            self._cooldowns.set_cooldown(engine, self.route, after_failure(cooldown, error, time.time(), minimum_s))
        elif cooldown is not None:
            self._cooldowns.set_cooldown(engine, self.route, None)
