"""Progress messages of long calls."""

from __future__ import annotations

from typing import Protocol


class ProgressCallback(Protocol):
    """Receiver of progress: steps done, steps in total, and a description of the last one. It must not
    block."""

    def __call__(self, done: float, total: float | None = None, message: str | None = None) -> None: ...


def ignore_progress(done: float, total: float | None = None, message: str | None = None) -> None:
    """Discard progress."""
