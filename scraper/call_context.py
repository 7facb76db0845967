"""Deadline and progress callback of a call, passed to every step of it."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, Self


@dataclass(frozen=True, slots=True)
class Deadline:
    """Time at which a call must end, in seconds of the monotonic clock."""

    at: float

    @classmethod
    def within(cls, seconds: float) -> Self:
        """Return the deadline `seconds` from now."""
        return cls(time.monotonic() + seconds)

    def left_s(self, *, reserve_s: float = 0.0) -> float:
        """Return the seconds left minus `reserve_s`; never negative."""
        return max(0.0, self.at - reserve_s - time.monotonic())


AskUser = Callable[[str], Awaitable[bool]]
"""Asks the person at the client a question; returns True for yes."""


class ProgressCallback(Protocol):
    """Callback for progress; it must not block."""

    def __call__(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Receive steps done, steps in total, and a description of the last one."""


def ignore_progress(done: float, total: float | None = None, message: str | None = None) -> None:
    """Discard progress."""
