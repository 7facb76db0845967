"""One request in flight per engine, and a pause between two: what engines take for a person."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

__all__ = ["Spacing"]

JITTER = 0.3
"""Up to this share longer: nobody clicks to the beat."""


@dataclass(slots=True)
class _Lane:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0
    ahead: int = 0
    """Who has the turn, and who waits for it."""


class Spacing:
    """The lanes of all engines."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}

    @asynccontextmanager
    async def turn(self, engine: str) -> AsyncIterator[None]:
        """Wait until nobody else asks the engine; holds it for the block."""
        lane = self._lanes.setdefault(engine, _Lane())
        lane.ahead += 1
        try:
            async with lane.turn:
                yield
        finally:
            lane.ahead -= 1

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
