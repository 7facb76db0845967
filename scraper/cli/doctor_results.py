"""Results of the checks of `doctor`: level, text and remedy."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class CheckLevel(enum.Enum):
    """Severity of a finding."""

    GOOD = "ok"
    POOR = "!!"
    """The server works, but slowly or with less than its full quality."""
    BAD = "no"
    """The server cannot work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check, a line of the report."""

    level: CheckLevel
    text: str
    remedy: str = ""
    """Next step for the user; empty if none is needed."""


def good_finding(text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(CheckLevel.GOOD, text)


def poor_finding(text: str, remedy: str = "") -> Finding:
    """Return a finding with a minor problem."""
    return Finding(CheckLevel.POOR, text, remedy)


def bad_finding(text: str, remedy: str) -> Finding:
    """Return a finding that prevents the server from working."""
    return Finding(CheckLevel.BAD, text, remedy)
