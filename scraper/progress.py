"""How a long reading tells where it stands."""

from __future__ import annotations

from typing import Protocol


class ProgressCallback(Protocol):
    """Told of steps done, steps in all, and the last one in words; must return at once."""

    def __call__(self, done: float, total: float | None = None, message: str | None = None) -> None: ...
