"""Change the number of slots with the free CPU, memory and event loop time of the machine.

A page that waits for the network needs memory but no CPU, so more pages are admitted as long as CPU is idle. The
number changes in steps like that of crawlee's AutoscaledPool, and not faster than pages end: the pages of a step use
CPU only when their sites respond.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence

from browsers.fair_queue import FairSemaphore
from browsers.free_resources import FreeResources, ResourceMeter

_INTERVAL_S = 0.25
"""Seconds between two measurements."""
_MAX_INTERVAL_S = 1.5
"""Maximum seconds between two steps, if visits take long."""
_VISITS_PER_STEP = 0.25
"""Time between two steps, as a share of the median seconds for which a visit holds its slot."""
_GROWTH = 1.3
_SHRINKAGE = 0.85
"""Factors by which the number of slots changes in one step."""
_MIN_FREE_CPU = 0.10
"""Minimum share of idle CPU at which more pages are admitted."""
_NO_FREE_CPU = 0.03
"""Share of idle CPU below which fewer pages are admitted."""
_MAX_LOOP_DELAY_S = 0.1
"""Seconds. A later event loop answers late to every page in progress, so that their limits run out."""
_MIN_FREE_MEMORY_BYTES = 1_000_000_000
"""Bytes of free memory below which fewer pages are admitted. A tab takes 40 MB, a heavy page 600."""


def decide_size(slots: FairSemaphore, free: FreeResources) -> int:
    """Return the number of slots for the next interval, within the limits of `slots`."""
    size = slots.size
    is_overloaded = free.cpu < _NO_FREE_CPU or free.loop_delay_s > _MAX_LOOP_DELAY_S
    if is_overloaded or free.memory_bytes < _MIN_FREE_MEMORY_BYTES:
        size = math.floor(size * _SHRINKAGE)
    elif free.cpu > _MIN_FREE_CPU and slots.queued and slots.in_use >= size:
        size = math.ceil(size * _GROWTH)
    return min(max(size, slots.min_size), slots.max_size)


class SlotScaler:
    """Scale slots from the first visit that waits for one until no visit is left; measure only then."""

    def __init__(self, slots: Sequence[FairSemaphore]) -> None:
        """Scale all of `slots` by the same measurements."""
        self._slots = slots
        self._scaled_at = dict.fromkeys(slots, 0.0)
        self._task: asyncio.Task[None] | None = None
        for one in slots:
            if one.max_size > one.min_size:
                one.on_wait = self._start

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="slot scaling")

    async def close(self) -> None:
        """Stop the measurements."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        meter = ResourceMeter()
        try:
            while any(slots.pending for slots in self._slots):
                expected_at = time.monotonic() + _INTERVAL_S
                await asyncio.sleep(_INTERVAL_S)
                free = meter.measure(time.monotonic() - expected_at)
                for slots in self._slots:
                    self._scale(slots, free)
        finally:
            self._task = None
            for slots in self._slots:
                slots.resize(slots.min_size)

    def _scale(self, slots: FairSemaphore, free: FreeResources) -> None:
        now = time.monotonic()
        if now - self._scaled_at[slots] >= min(_MAX_INTERVAL_S, _VISITS_PER_STEP * slots.median_hold_s()):
            size = decide_size(slots, free)
            if size != slots.size:
                self._scaled_at[slots] = now
                slots.resize(size)
