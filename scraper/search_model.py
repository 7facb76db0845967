"""Frozen data types of searches: requests, results, instant answers, and excerpts that answer a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from scraper.errors import ScraperError
from scraper.model import CachePolicy, Reading


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Request to query search engines."""

    query: str
    engines: Sequence[str] | None = None
    """Names; None for the default engines."""
    max_results: int = 10
    freshness: str | None = None
    """Oldest acceptable results: `day`, `week`, `month` or `year`."""
    include_domains: Sequence[str] = ()
    exclude_domains: Sequence[str] = ()
    category: str | None = None
    include_text: str | None = None
    exclude_text: str | None = None
    cache: CachePolicy = field(default_factory=CachePolicy)
    principal: str = "local"
    deadline_s: float = 55.0
    """Seconds. The deadline of each engine may be shorter."""


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


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Passage of a document that is relevant to a question."""

    text: str
    start: int
    """Offset of its first character in the Markdown."""
    score: float
    heading: str = ""
    """Heading above it."""
    end: int = 0
    """Offset after its last character in the Markdown."""
    fragment: str = ""
    """Text directive of a link that opens the page at the passage: `text=...`; empty if there is none."""


@dataclass(frozen=True, slots=True)
class PageExcerpts:
    """Page that was requested for a question, with its relevant excerpts."""

    url: str
    outcome: Reading | ScraperError
    excerpts: tuple[Excerpt, ...] = ()
    same_as: int | None = None
    """Index, from 0, of an earlier page with the same text."""


@dataclass(frozen=True, slots=True)
class ResearchReport:
    """Results of a search for a question, and excerpts of the best pages."""

    question: str
    search: SearchAnswer
    pages: tuple[PageExcerpts, ...] = ()
    """Pages that were tried, in the order of the results."""
