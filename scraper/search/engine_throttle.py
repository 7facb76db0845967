"""One request in flight per engine, and a pause between two: what engines take for a person.

Servers that look the same to the engines are one person together.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from scraper.coordination.protocols import Leases, RetryLater, ThrottleTerms

LOOK_S = 0.25
"""Between two looks whether another server is done with an engine."""
JITTER = 0.3
"""Up to this share longer: nobody clicks to the beat."""


@dataclass(slots=True)
class _Lane:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0
    ahead: int = 0
    """Who has the turn, and who waits for it."""


class EngineThrottle:
    """The lanes of all engines."""

    def __init__(self, leases: Leases | None = None, egress: str = "") -> None:
        """`leases`: where other servers ask too, those that look the same by `egress`."""
        self._lanes: dict[str, _Lane] = {}
        self._leases = leases
        self._egress = egress

    @asynccontextmanager
    async def turn(self, engine: str, spacing_s: float = 0.0) -> AsyncIterator[None]:
        """Wait until nobody else asks the engine; holds it for the block."""
        lane = self._lanes.setdefault(engine, _Lane())
        lane.ahead += 1
        try:
            async with lane.turn:
                if self._leases is None:
                    yield
                    return
                async with self._leased(self._leases, engine, spacing_s):
                    yield
        finally:
            lane.ahead -= 1

    @asynccontextmanager
    async def _leased(self, leases: Leases, engine: str, spacing_s: float) -> AsyncIterator[None]:
        """The turn among all servers; the pause after it is theirs too."""
        key, terms = f"engine:{engine}:{self._egress}", ThrottleTerms(at_once=1, gap_s=spacing_s)
        got = await leases.take(key, terms)
        while isinstance(got, RetryLater):
            await asyncio.sleep(min(got.seconds, LOOK_S) * random.uniform(0.5, 1.0))
            got = await leases.take(key, terms)
        try:
            yield
        finally:
            left_s = self._lanes[engine].free_at - time.monotonic()
            if left_s > 0:
                await leases.rest(key, left_s)
            leases.give_back(got)

    def least_wait_s(self, engine: str, spacing_s: float) -> float:
        """How long whoever comes now waits at least, if all who came before ask."""
        lane = self._lanes.setdefault(engine, _Lane())
        return max(0.0, lane.free_at - time.monotonic()) + lane.ahead * spacing_s

    async def pause(self, engine: str) -> None:
        """Wait until the engine may be asked again; whoever has the turn calls it before each request."""
        lane = self._lanes.setdefault(engine, _Lane())
        await asyncio.sleep(max(0.0, lane.free_at - time.monotonic()))

    def asked(self, engine: str, spacing_s: float) -> None:
        """Note that the engine was asked just now."""
        lane = self._lanes.setdefault(engine, _Lane())
        lane.free_at = time.monotonic() + spacing_s * (1 + random.uniform(0, JITTER))
