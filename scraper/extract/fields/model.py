"""Requests for values of pages, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_FIELDS = 40
"""Fields of one request."""
MIN_RECORDS = 3
"""Least number of records that are a list."""
MIN_FITTING = 0.6
"""Least similarity of all places of a page in the design of the example: other sites reach .54, the same one .64."""


@dataclass(frozen=True, slots=True)
class FieldRequest:
    """What to read from each page."""

    records: bool = False
    """True for all records of the page's list, False for the one thing that the page is about."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Name of each field, and a hint: other words for it, or an empty string."""
    example: Mapping[str, str] = field(default_factory=dict)
    """Field, and its value as one of the pages shows it."""
    recipe: str = ""
    """Recipe of an earlier answer as text."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a value is from."""

    source: str
    confidence: float
    """Share of correct values among those of this kind, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class PageFields:
    """Values of one page."""

    url: str
    values: Mapping[str, str | None] = field(default_factory=dict)
    """Value by field, as the page shows it; None if the page does not state it."""
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    recipe: str = ""
    """Places of the fields of an example, as text."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Nearest text on the page for each value of the example that is not on it."""
    misfit: tuple[float, ...] = ()
    """Similarity of the place of each field, in ascending order, if the recipe does not fit the page."""
    records: tuple[dict[str, Any], ...] = ()
    """Rows of the list, in page order."""
    next_page: str = ""
    """URL of the next part of the list."""
    largest: int = 0
    """Number of records of the longest list that is too short to be one."""
    warnings: tuple[str, ...] = ()
