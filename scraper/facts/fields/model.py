"""Types of field extraction: the request, and the values found on each page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_FIELDS = 40
"""Fields of one request."""
MIN_RECORDS = 3
"""Minimum number of records of a list."""
MIN_FITTING = 0.6
"""Minimum median similarity of the places on a page to those of the example.

Pages of other sites reach .45, those of the same site at least .69 (16 sites, 240 pairs).
"""


@dataclass(frozen=True, slots=True)
class FieldRequest:
    """Fields to extract from each page."""

    records: bool = False
    """True to extract all records of a list, with the columns of `fields` and `example` if there are any."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Field names with a hint each: synonyms, or an empty string."""
    example: Mapping[str, str] = field(default_factory=dict)
    """Example value of each field, copied from one of the pages."""
    recipe: str = ""
    """Recipe from an earlier answer, as text."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Source and confidence of a value."""

    source: str
    """`json_ld`, `microdata`, `rdfa`, `fetched_json`, `label`, `name`, `title` or `example`."""
    confidence: float
    """Share of values of this source that were correct in a benchmark, from 0 to 1."""
    alternatives: tuple[str, ...] = ()
    """Values of other sources that contradict this one."""


@dataclass(frozen=True, slots=True)
class PageFields:
    """Fields or records of one page."""

    url: str
    values: Mapping[str, str | None] = field(default_factory=dict)
    """Value of each field as written on the page; None if it was not found."""
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    recipe: str = ""
    """Recipe for reading the same fields from similar pages, as text."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """For each example value that is not on the page, the most similar text."""
    misfit: tuple[float, ...] = ()
    """Similarities of the places in ascending order if the recipe does not fit the page."""
    unlisted: tuple[str, ...] = ()
    """Fields that no list of the page has; those of an example that no record has together with the others."""
    records: tuple[dict[str, Any], ...] = ()
    """Rows of the list, in page order."""
    next_page: str = ""
    """URL of the next part of the list."""
    warnings: tuple[str, ...] = ()
