"""Frozen data types of merged search results and instant answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result of a merged search."""

    title: str
    url: str
    snippet: str
    engines: tuple[str, ...]
    """Engines that found it, best rank first."""
    score: float
    date: datetime | None = None
    source: str | None = None
    also: tuple[str, ...] = ()
    """URLs of near-duplicates."""
    facts: tuple[tuple[str, str | int | float], ...] = ()
    """Facts by name from sources, such as authors, year, stars."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Merged answer of several engines."""

    query: str
    results: tuple[SearchResult, ...]
    engines: tuple[str, ...]
    """Engines that were queried."""
    errors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Reason code by engine that failed; with `layout_changed` it may still have results."""
    hint: str | None = None
    """Advice if there are few results."""
    cached: bool = False
    retrieved_at: datetime | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelatedTopic:
    """Topic related to an instant answer. The URL is one of DuckDuckGo and not a source."""

    title: str
    text: str
    url: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class InstantAnswer:
    """Answer of an encyclopedic index to a query; all fields are empty if there is none."""

    heading: str = ""
    abstract: str = ""
    source: str = ""
    url: str = ""
    answer: str = ""
    definition: str = ""
    definition_source: str = ""
    definition_url: str = ""
    redirect: str = ""
    """Target of a bang; it is not followed."""
    official: str = ""
    """Official site of the subject."""
    facts: tuple[tuple[str, str], ...] = ()
    """Labels and values."""
    topics: tuple[RelatedTopic, ...] = ()

    @property
    def empty(self) -> bool:
        """Return True if there is no answer."""
        texts = (self.abstract, self.answer, self.definition, self.redirect, self.official)
        return not (any(texts) or self.topics)
