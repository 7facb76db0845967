"""One deadline enters with a call and is handed down."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock."""

    at: float

    @classmethod
    def within(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(time.monotonic() + seconds)

    def left_s(self, *, reserve_s: float = 0.0) -> float:
        """Seconds left, keeping some back; never negative."""
        return max(0.0, self.at - reserve_s - time.monotonic())
