"""A requirement, and how it is looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.contract.rows.world import World

Check = Callable[[World], Awaitable[str]]
"""Gives the evidence, or raises what it found instead."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    document: str
    paragraph: str
    requirement: str
    check: Check


def seen(holds: object, evidence: object) -> str:
    """Return the evidence if the requirement holds.

    Raises:
        AssertionError: it does not; with the same evidence.
    """
    text = " ".join(str(evidence).split())
    if not holds:
        raise AssertionError(text)
    return text
