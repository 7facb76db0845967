"""Requests for values of pages, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldRequest:
    """What to read from each page."""

    records: bool = False
    """True for all records of the page's list, False for the one thing that the page is about."""


@dataclass(frozen=True, slots=True)
class PageFields:
    """Values of one page."""

    url: str
    records: tuple[dict[str, Any], ...] = ()
    """Rows of the list, in page order."""
    next_page: str = ""
    """URL of the next part of the list."""
    largest: int = 0
    """Number of records of the longest list that is too short to be one."""
    warnings: tuple[str, ...] = field(default=())
