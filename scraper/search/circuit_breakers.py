"""When an engine rests: after a wall at once, after faults that may be the network's only when they repeat.

Going on to ask a walled engine prolongs the wall, so each rest is longer than the last; after it one request
tries whether the engine answers again.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

from scraper.coordination.protocols import Cooldown, Cooldowns

RESTS_S = (60.0, 300.0, 1_800.0, 3_600.0)
"""DuckDuckGo's wall was seen to last an hour, Brave's 5 to 15 minutes."""
FAULTS = 3
"""Timeouts and broken connections in a row that count as one wall."""
WALLS = frozenset({"captcha", "consent", "rate_limited", "refused", "off_topic"})
"""Reasons that lie with the engine."""


def after_failure(rest: Cooldown | None, reason: str, now: float) -> Cooldown:
    """How an engine stands after one more failure."""
    before = rest or Cooldown(reason)
    if reason not in WALLS and before.faults + 1 < FAULTS:
        return replace(before, reason=reason, faults=before.faults + 1)
    pause_s = RESTS_S[min(before.step, len(RESTS_S) - 1)]
    return Cooldown(reason, step=before.step + 1, faults=0, until=now + pause_s)


def is_resting(rest: Cooldown | None, now: float) -> bool:
    """Whether an engine is not to be asked; a rest longer than any was set under a wrong clock."""
    return rest is not None and now < rest.until <= now + RESTS_S[-1]


def egress_name(way_out: str) -> str:
    """The name under which servers with the same way to the engines know each other."""
    return hashlib.sha256(way_out.encode()).hexdigest()[:12] if way_out else "direct"


class CircuitBreakers:
    """How every engine stands, from this server's egress address."""

    def __init__(self, rests: Cooldowns, way_out: str = "") -> None:
        """`way_out`: what tells this server's way to the engines from others; only its hash is kept."""
        self._rests = rests
        self._egress = egress_name(way_out)

    async def resting(self, engine: str) -> tuple[str, float] | None:
        """Why an engine rests, and for how many seconds still; None when it can be asked."""
        rest, now = await self._rests.rest(engine, self._egress), time.time()
        if rest is None or not is_resting(rest, now):
            return None
        return rest.reason, rest.until - now

    async def note(self, engine: str, reason: str | None) -> None:
        """Note what became of a request: None when it was answered."""
        rest = await self._rests.rest(engine, self._egress)
        if reason is not None:
            self._rests.set_rest(engine, self._egress, after_failure(rest, reason, time.time()))
        elif rest is not None:
            self._rests.set_rest(engine, self._egress, None)
