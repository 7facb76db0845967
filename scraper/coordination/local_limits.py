"""Limits kept by one process: all of the rate, or its share of it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from scraper.coordination.protocols import Limit

KEYS_KEPT = 10_000
_ROUNDING_S = 1e-6


class LocalLimits:
    """The generic cell rate algorithm (ITU-T I.371): of each key the moment at which it is even again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, keep: int = KEYS_KEPT) -> None:
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
