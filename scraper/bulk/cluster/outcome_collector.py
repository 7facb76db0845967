"""Collect the outcomes of all processes of a cluster in one actor, which lives as long as a run.

If a process dies, another process gets its block, asks the collector and reads only the remaining pages.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from dataclasses import dataclass

from scraper.bulk.model import IdSet

WAITING_BYTES = 128 << 20
"""Bytes of outcomes that are submitted but not collected; with more, `submit` waits."""


@dataclass(frozen=True, slots=True)
class BlockStart:
    """Answer of the collector to a process that starts a block."""

    remaining: tuple[int, ...]
    """Numbers of the pages to read."""
    was_started: bool
    """True if another process or an earlier run may have requested pages of its hosts recently."""


class OutcomeCollector:
    """Collect outcomes as a Ray actor. Its methods are called over the network, several at once, in one event loop."""

    def __init__(self, pause_s: float = 0.0) -> None:
        """Start without outcomes.

        Hosts pause for `pause_s`, because an earlier run may have requested pages recently.
        """
        self._paused_until = time.monotonic() + pause_s
        self._submitted = IdSet()
        self._started = IdSet()
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._changed = asyncio.Condition()
        self._is_stopped = False

    async def start_block(self, block: int, numbers: tuple[int, ...]) -> BlockStart:
        """Start or continue the block with these page numbers; no pages remain if the job was stopped."""
        was_started = block in self._started or time.monotonic() < self._paused_until
        self._started.add(block)
        remaining = () if self._is_stopped else tuple(one for one in numbers if one not in self._submitted)
        return BlockStart(remaining, was_started)

    async def submit(self, numbers: tuple[int, ...], packed: bytes) -> bool:
        """Add the pickled list of outcomes of these page numbers; return False if the job was stopped.

        Wait while `WAITING_BYTES` are not yet collected.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._bytes < WAITING_BYTES or self._is_stopped)
            for number in numbers:
                self._submitted.add(number)
            self._waiting.append(packed)
            self._bytes += len(packed)
            self._changed.notify_all()
        return not self._is_stopped

    async def collect(self, wait_s: float) -> list[bytes]:
        """Return the pickled lists submitted since the last call; wait up to `wait_s` seconds for the first one."""
        async with self._changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait_for(lambda: bool(self._waiting))
            found = list(self._waiting)
            self._waiting.clear()
            self._bytes = 0
            self._changed.notify_all()
        return found

    async def is_running(self) -> bool:
        """Return True unless the job was stopped."""
        return not self._is_stopped

    async def stop(self) -> None:
        """Let all processes finish the pages in progress and start no more."""
        async with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
