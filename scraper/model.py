"""The nouns that the rooms hand to each other: frozen data, no I/O."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from scraper.errors import ScraperError


class VerdictKind(enum.StrEnum):
    """Whether a snapshot holds what a person would read at that URL."""

    OK = "ok"
    THIN = "thin"
    """Next to nothing to read: the page needs its scripts."""
    BLOCKED = "blocked"
    """A wall stands in front of the page."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the reader makes of a snapshot, and why: `captcha`, `consent`, `login`, `javascript`, ..."""

    kind: VerdictKind = VerdictKind.OK
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether the content is there."""
        return self.kind is VerdictKind.OK


@dataclass(frozen=True, slots=True)
class Link:
    """A link in the main content, absolute."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image in the main content, absolute."""

    url: str
    alt: str


@dataclass(frozen=True, slots=True)
class Heading:
    """One line of the outline; `start` is its character offset in the Markdown."""

    level: int
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Document:
    """What was read from one snapshot. None means unknown; empty means known to be empty."""

    url: str
    title: str | None = None
    author: str | None = None
    published: datetime | None = None
    """Aware; a bare date stands at midnight UTC."""
    published_source: str | None = None
    """Where the date comes from: `structured`, `meta`, `url`, `text`."""
    site_name: str | None = None
    language: str | None = None
    page_type: str | None = None
    text: str = ""
    markdown: str = ""
    verdict: Verdict = field(default_factory=Verdict)
    degraded: bool = False
    """True when the reader ran out of its bounds and a plainer way was taken."""
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    outline: tuple[Heading, ...] = ()
    hidden_removed: int = 0
    """Elements left out because a person would not see them."""
    controls_removed: int = 0
    """Invisible characters left out: zero-width, tag and direction characters."""
    format: str | None = None
    """Of what is no page: `pdf`, `docx`, `csv`, ...; None for a page."""
    page_count: int | None = None
    """Of a document in pages, sheets or slides."""
    ocr_pages: tuple[int, ...] = ()
    """Its pages that are pictures of text, of which nothing could be read."""
    encrypted: bool = False
    """It was locked, and could be opened."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document, and how we came by it."""

    document: Document
    url: str
    """The final address."""
    requested_url: str
    status: int
    method: str
    """`http`: read as served. `browser`: rendered. `document`: by their readers. `file`: from disk."""
    cached: bool
    retrieved_at: datetime
    truncated: bool = False
    """The site sent more than the limit; the rest was cut off."""
    etag: str | None = None
    """What the server calls this version of the page; it tells later whether it still is."""
    last_modified: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One row of a merged search."""

    title: str
    url: str
    snippet: str
    engines: tuple[str, ...]
    """Who gave it, best rank first."""
    score: float
    date: datetime | None = None
    source: str | None = None
    also: tuple[str, ...] = ()
    """Other addresses of what seems to be the same text."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What several engines said together."""

    query: str
    results: tuple[SearchResult, ...]
    engines: tuple[str, ...]
    """Who was asked."""
    errors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Named reason by engine, for those that gave no rows; `layout_changed` may stand beside rows."""
    hint: str | None = None
    """What to try next, when little came back."""
    cached: bool = False
    retrieved_at: datetime | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelatedTopic:
    """Something related to an instant answer; the address is DuckDuckGo's own, so no source."""

    title: str
    text: str
    url: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class InstantAnswer:
    """What an encyclopaedic index knows of a query; everything empty: nothing."""

    heading: str = ""
    abstract: str = ""
    source: str = ""
    url: str = ""
    answer: str = ""
    definition: str = ""
    definition_source: str = ""
    definition_url: str = ""
    redirect: str = ""
    """Where a bang leads; not followed."""
    official: str = ""
    """The site of what is asked about."""
    facts: tuple[tuple[str, str], ...] = ()
    """Label and value."""
    topics: tuple[RelatedTopic, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        told = (self.abstract, self.answer, self.definition, self.redirect, self.official)
        return not (any(told) or self.topics)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage of a document that bears on a question."""

    text: str
    start: int
    """Its first character in the document's Markdown."""
    score: float
    heading: str = ""
    """The heading it stands under."""
    end: int = 0
    """Behind its last character in the document's Markdown."""
    fragment: str = ""
    """The text directive of a link that opens the page at it: `text=...`; empty: nothing can be quoted."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One page that was to be read for a question, and what of it bears on it."""

    url: str
    outcome: Reading | ScraperError
    excerpts: tuple[Excerpt, ...] = ()
    same_as: int | None = None
    """The place, counted from 0, of an earlier page that carries the same text."""


@dataclass(frozen=True, slots=True)
class ResearchReport:
    """What a search found for a question, and what the best of its pages say."""

    question: str
    search: SearchAnswer
    pages: tuple[ReadPage, ...] = ()
    """In the order of the search's results; those that were not tried are not among them."""


@dataclass(frozen=True, slots=True)
class StructuredData:
    """What a page says of itself for machines, by syntax, each block as it stands there."""

    url: str
    json_ld: tuple[dict[str, Any], ...] = ()
    microdata: tuple[dict[str, Any], ...] = ()
    opengraph: tuple[dict[str, Any], ...] = ()
    """OpenGraph properties, and Twitter cards among them."""
    rdfa: tuple[dict[str, Any], ...] = ()
    xhr: tuple[dict[str, Any], ...] = ()
    """JSON that the page fetched while it rendered: `url`, `status`, `data`."""
    product: dict[str, Any] | None = None
    """Normalised facts of a product, each with its source and confidence."""
    recipe: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CachedPageSummary:
    """What a list of kept pages shows of one."""

    number: int
    """Grows with time; where the next part of a list begins."""
    url: str
    title: str
    size_bytes: int
    retrieved_at: float
    """Seconds of the epoch."""


@dataclass(frozen=True, slots=True)
class PageHit:
    """One kept page in which a query was found."""

    url: str
    title: str
    snippet: str
    """The passage that says most of what was asked for, its words in [brackets]."""
    start: int
    """Where in the page's Markdown to read on."""
    retrieved_at: float
    score: float


@dataclass(frozen=True, slots=True)
class PageHits:
    """What a search through the kept pages came to."""

    hits: tuple[PageHit, ...] = ()
    note: str = ""
    """How the query was read, where that is not plain."""
    usable: bool = True
    """False: there is no cache to look into, or it did not answer."""


class Reuse(enum.Enum):
    """Earlier results that may answer a request."""

    STORED = "stored"
    """Stored results within the age limit, and loads in flight on other servers."""
    IN_MEMORY = "in_memory"
    """First a result in memory, of any age: the caller reads on in a text. Otherwise as `STORED`."""
    NONE = "none"
    """None, and no load of another server: the caller needs the response itself."""


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """Earlier results that may answer a request, and their age limit."""

    max_age_s: float | None = None
    """Seconds. Older stored results are not used. 0 requests a new one; None is the default of the
    operator."""
    reuse: Reuse = Reuse.STORED

    @property
    def reads_store(self) -> bool:
        """Return True if a stored result may be used."""
        return self.reuse is not Reuse.NONE and not self.is_refresh

    @property
    def is_refresh(self) -> bool:
        """Return True if only a new result is acceptable."""
        return self.max_age_s == 0


REFRESH = CachePolicy(max_age_s=0)
"""Read again, whatever is stored."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Request to read one page."""

    url: str
    """As the caller wrote it."""
    render: str = "auto"
    """`http`: as served. `browser`: rendered. `auto`: rendered if the page as served is not enough."""
    cache: CachePolicy = CachePolicy()
    principal: str = "local"
    deadline_s: float = 55.0
    batch: str | None = None
    """Name of the batch whose pages of this host are read one after the other."""


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """Request to read one document."""

    source: str
    """URL, or path below the folder of local files."""
    password: str | None = None
    pages: tuple[int, ...] = ()
    """Pages beyond those that are read by default; empty reads from the first page on."""
    principal: str = "local"


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
    cache: CachePolicy = CachePolicy()
    principal: str = "local"
    deadline_s: float = 55.0
    """Seconds. The deadline of each engine may be shorter."""
