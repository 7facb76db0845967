"""Findings of `doctor`: a level, a text and a remedy."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class CheckLevel(enum.Enum):
    """Severity of a finding."""

    GOOD = "ok"
    POOR = "!!"
    """The server works, but not optimally."""
    BAD = "no"
    """The server cannot work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    level: CheckLevel
    text: str
    remedy: str = ""
    """The next step; "" if none is needed."""


def good(text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(CheckLevel.GOOD, text)


def poor(text: str, remedy: str = "") -> Finding:
    """Return a finding with a minor problem."""
    return Finding(CheckLevel.POOR, text, remedy)


def bad(text: str, remedy: str) -> Finding:
    """Return a finding that prevents the server from working."""
    return Finding(CheckLevel.BAD, text, remedy)
