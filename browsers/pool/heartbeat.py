"""Whether a browser still answers: one that stands still has not ended, so nobody tells of it."""

from __future__ import annotations

import time

from browsers.cdp.session import Connection

EVERY_S = 4.0
"""Six tabs of pages that flood and grow, two cores at a load of 18: the slowest of 266 answers took .53 s."""
MISSED_TOLERATED = 4
"""Stopped and gone on, as machines and containers are, it has missed one."""


class Heartbeat:
    """Asks a browser the simplest question every few seconds; anything that it says counts as an answer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._asked_at = float("-inf")
        self._heard = -1
        self._missed = 0

    @property
    def beats(self) -> bool:
        """Whether it said anything since it was asked, or has time left for that."""
        return self._missed == 0 or self._has_spoken

    @property
    def is_lost(self) -> bool:
        """Whether it was asked so often in vain that it can be taken for dead."""
        return self._missed >= MISSED_TOLERATED and not self._has_spoken

    def feel(self) -> None:
        """Ask again, where it is time: to be called now and then."""
        now = time.monotonic()
        if now - self._asked_at < EVERY_S:
            return
        self._missed = 0 if self._has_spoken else self._missed + 1
        self._asked_at, self._heard = now, self._connection.heard
        self._connection.ask()

    @property
    def _has_spoken(self) -> bool:
        return self._connection.heard != self._heard
