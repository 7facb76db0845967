"""Where a cluster's processes hand in what they have read, and ask what is left to read: one actor of Ray.

What it knows, it knows for the life of a run: when a process dies, the block that it worked on is given to
another, which asks here and reads only what was not handed in. Whoever started the job keeps the job itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from dataclasses import dataclass

from scraper.bulk.id_set import IdSet

WAITING_BYTES = 128 << 20
"""Handed in and not collected; beyond, whoever hands in waits."""


@dataclass(frozen=True, slots=True)
class StartedBlock:
    """What of a block is to be read."""

    left: tuple[int, ...]
    again: bool
    """Somebody has begun it before, and may have asked its hosts just now."""


class RowCollector:
    """Its methods are called over the network, several at once, in one event loop."""

    def __init__(self, rest_s: float = 0.0) -> None:
        """`rest_s`: so long hosts are to be left alone, because somebody may have asked them just now."""
        self._rested_at = time.monotonic() + rest_s
        self._handed_in = IdSet()
        self._begun = IdSet()
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._changed = asyncio.Condition()
        self._stopped = False

    async def begin(self, block: int, numbers: tuple[int, ...]) -> StartedBlock:
        """Begin a block, or go on with it; nothing is left when the job was told to stop."""
        again = block in self._begun or time.monotonic() < self._rested_at
        self._begun.add(block)
        left = () if self._stopped else tuple(one for one in numbers if one not in self._handed_in)
        return StartedBlock(left, again)

    async def hand_in(self, numbers: tuple[int, ...], packed: bytes) -> bool:
        """Take outcomes, packed; whether to go on."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._bytes < WAITING_BYTES or self._stopped)
            for number in numbers:
                self._handed_in.add(number)
            self._waiting.append(packed)
            self._bytes += len(packed)
            self._changed.notify_all()
        return not self._stopped

    async def collect(self, wait_s: float) -> list[bytes]:
        """What was handed in since the last time; waits for the first."""
        async with self._changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait_for(lambda: bool(self._waiting))
            found = list(self._waiting)
            self._waiting.clear()
            self._bytes = 0
            self._changed.notify_all()
        return found

    async def going_on(self) -> bool:
        """Whether pages are to be read."""
        return not self._stopped

    async def stop(self) -> None:
        """Let everybody end what is under way, and no more."""
        async with self._changed:
            self._stopped = True
            self._changed.notify_all()
