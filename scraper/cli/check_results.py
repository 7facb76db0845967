"""What `doctor` finds: what there is, whether it will do, and how to mend it."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class CheckLevel(enum.Enum):
    """How much it matters."""

    GOOD = "ok"
    POOR = "!!"
    """It works, but less well than it could."""
    BAD = "no"
    """The server cannot serve."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    level: CheckLevel
    text: str
    mend: str = ""
    """What to do; empty where there is nothing to mend."""


def good(text: str) -> Finding:
    """It is as it should be."""
    return Finding(CheckLevel.GOOD, text)


def poor(text: str, mend: str = "") -> Finding:
    """It works all the same."""
    return Finding(CheckLevel.POOR, text, mend)


def bad(text: str, mend: str) -> Finding:
    """It must be mended before the server can serve."""
    return Finding(CheckLevel.BAD, text, mend)
