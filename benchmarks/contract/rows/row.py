"""A requirement of the contract and its check."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.contract.rows.testbed import Testbed

Check = Callable[[Testbed], Awaitable[str]]
"""Return the evidence, or raise AssertionError."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    document: str
    paragraph: str
    requirement: str
    check: Check


def require(holds: object, evidence: object) -> str:
    """Return the evidence if the requirement holds.

    Raises:
        AssertionError: the requirement does not hold; the message is the evidence.
    """
    text = " ".join(str(evidence).split())
    if not holds:
        raise AssertionError(text)
    return text
