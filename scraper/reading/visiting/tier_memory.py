"""Remembers which hosts let only the full browser in, so that a wall is met once a day, not at each page."""

from __future__ import annotations

import time
from collections import OrderedDict

from browsers.model import Tier

REMEMBERED_S = 86_400.0
"""Walls change: a host is tried with the usual browser again after a day."""
HOSTS_LIMIT = 1_000


class TierMemory:
    """Which browser a host is first visited with."""

    def __init__(self, usual: Tier) -> None:
        self._usual = usual
        self._until: OrderedDict[str, float] = OrderedDict()
        self._full_is_missing = False

    def first(self, host: str) -> Tier:
        """The tier to begin with."""
        until = self._until.get(host)
        if until is None:
            return self._usual
        if until < time.monotonic():
            del self._until[host]
            return self._usual
        return Tier.FULL

    def worth_full(self, used: Tier) -> bool:
        """Whether a wall that `used` met may be tried with the full browser."""
        return used is Tier.LIGHT and not self._full_is_missing

    def note_tried(self, host: str, served_by: Tier, *, let_in: bool) -> None:
        """How the full browser fared; where it is not installed another one served."""
        if served_by is not Tier.FULL:
            self._full_is_missing = True
        elif let_in:
            self._until[host] = time.monotonic() + REMEMBERED_S
            self._until.move_to_end(host)
            if len(self._until) > HOSTS_LIMIT:
                self._until.popitem(last=False)
