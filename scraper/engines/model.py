"""Data classes of the search engines: queries, results, responses and engine definitions."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from browsers.model import Request, Snapshot

ENGINE_NAMES = ("duckduckgo", "mojeek", "googlenews", "startpage", "brave", "bing", "baidu")

DEFAULT_ENGINES = ENGINE_NAMES[:3]

SOURCE_NAMES = (
    "arxiv crossref europepmc doaj semanticscholar openalex datacite dblp hal inspire zbmath eric osti huggingface "
    "github gitlab codeberg crates rubygems packagist nuget dockerhub ecosystems stackexchange hackernews lemmy gdelt "
    "peertube youtube wikipedia wikidata wiktionary openlibrary internetarchive"
).split()

_PAGE_CATEGORIES = ("news", "pdf", "github", "paper", "forum", "blog")
"""Categories that filter the results of search engines."""
SOURCE_CATEGORIES = ("code", "package", "question", "encyclopedia", "book", "video")
"""Categories for which only sources are queried, and no search engine."""
CATEGORIES = _PAGE_CATEGORIES + SOURCE_CATEGORIES


class EngineKind(enum.StrEnum):
    """Format of the answers of an engine."""

    PAGE = "page"
    JSON = "json"
    ATOM = "atom"
    XML = "xml"


class EngineOutcome(enum.StrEnum):
    """Outcome of one result page. A page that cannot be parsed is an error, never `none`."""

    OK = "ok"
    NONE = "none"
    """The engine reports that it found nothing."""
    BLOCKED = "blocked"
    """A captcha, proof of work, consent dialog or rate limit; `detail` names the reason."""
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Search query, independent of the engine."""

    text: str
    freshness: str | None = None
    """`day`, `week`, `month` or `year`."""
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    category: str | None = None
    language: str = "en-US"
    contact: str = ""
    """Mail address of the operator, which some sources ask for."""


@dataclass(frozen=True, slots=True)
class EngineResult:
    """One organic result. `rank` counts from 1."""

    rank: int
    title: str
    url: str
    """URL of the page, without the redirect of the engine where it can be decoded."""
    snippet: str = ""
    date: datetime | None = None
    source: str | None = None
    source_url: str | None = None
    key: str = ""
    """Identity of the result, such as `doi:10.1/x`. Results of several sources with the same key are merged."""
    facts: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True, slots=True)
class EngineResponse:
    """Parsed result page of one engine."""

    outcome: EngineOutcome
    results: tuple[EngineResult, ...] = ()
    next: Request | None = None
    detail: str = ""
    """Reason of a block page or an error.

    Block pages: `captcha`, `consent`, `rate_limited`, `refused`. Errors: `not_rendered` (the scripts of the page did
    not run), `layout_changed` (unknown markup), `unreadable` (no text), `http_NNN`. A page that the browser could not
    load has `no_network`, `timeout`, `busy`, `browser_failed` or `unreachable`.
    """
    clears_itself: bool = False
    """True if a waiting browser passes: the page computes a proof and reloads."""
    loosened: bool = False
    """True if the engine found nothing for the exact query and shows results of a relaxed query."""
    layout_changed: bool = False
    """True if the layout parser and the shape parser disagree: the markup has probably changed."""
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class HomePageForm:
    """Form on an engine's home page with a value that a search request needs, such as a visitor code."""

    page: Callable[[SearchQuery, datetime], Request]
    build_request: Callable[[Snapshot, SearchQuery, datetime], Request | None]
    """Build the search request from the form; None if the page has no such form."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Definition of one search engine: requests, parser and request spacing."""

    name: str
    family: str
    """Owner of the index. Results of engines of one family do not count as independent votes."""
    build_request: Callable[[SearchQuery, datetime], Request]
    parse: Callable[[Snapshot, datetime], EngineResponse]
    """Parse a result page; the datetime is the time of the response."""
    spacing_s: float
    about: str = ""
    """One line for people: the strengths of the engine."""
    ready: str | None = None
    """CSS selector of a result; wait for it while a block page resolves itself."""
    fallbacks: tuple[Callable[[SearchQuery, datetime], Request], ...] = field(default=())
    """Alternative requests, tried in order when the first is blocked."""
    home_page_form: HomePageForm | None = None
    """Request through the home page, used when plain requests fail."""
    kind: EngineKind = EngineKind.PAGE
    category: str | None = None
    """Category whose queries use this source; None for a search engine."""
    is_by_name: bool = False
    """True for a source that is queried only if a caller names it, not for its category."""
    per_day: int = 0
    """Requests a day that a source allows; 0 for no published limit."""

    @property
    def is_source(self) -> bool:
        """Return True for a source of one category, False for a general search engine."""
        return self.category is not None


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
    facts: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Merged answer of several engines."""

    query: str
    results: tuple[SearchResult, ...]
    engines: tuple[str, ...]
    errors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Reason code by engine that failed; with `layout_changed` it may still have results."""
    hint: str | None = None
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
    facts: tuple[tuple[str, str], ...] = ()
    topics: tuple[RelatedTopic, ...] = ()

    @property
    def empty(self) -> bool:
        """Return True if there is no answer."""
        texts = (self.abstract, self.answer, self.definition, self.redirect, self.official)
        return not (any(texts) or self.topics)
