"""Types of answers in JSON. The output schemas of the tools are generated from them.

A key that may be missing is `NotRequired`. Later versions may add further keys.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class HeadingItem(TypedDict):
    """A heading of a page; `start` is its offset in the text of the whole page."""

    level: int
    text: str
    start: int


class LinkItem(TypedDict):
    """A link of the main content."""

    url: str
    text: str


class ImageItem(TypedDict):
    """An image of the main content."""

    url: str
    alt: str


class ExcerptItem(TypedDict):
    """Position of an excerpt; `url` opens the page at it."""

    start: int
    end: int
    heading: str
    url: str


class PageAnswer(TypedDict):
    """Answer of `fetch`."""

    url: str
    title: str | None
    content: str
    method: str
    truncated: bool
    tokens_estimated: int
    author: str | None
    published_date: str | None
    sitename: str | None
    final_url: str
    status: int
    language: str | None
    description: str | None
    page_type: str | None
    start: int
    returned_chars: int
    total_chars: int
    facts: NotRequired[dict[str, Any]]
    discussion: NotRequired[list[dict[str, Any]]]
    next_start: NotRequired[int]
    before: NotRequired[str]
    after: NotRequired[str]
    headings: NotRequired[list[HeadingItem]]
    links: NotRequired[list[LinkItem]]
    images: NotRequired[list[ImageItem]]
    excerpts: NotRequired[list[ExcerptItem]]
    cached: bool
    retrieved_at: str
    warnings: NotRequired[list[str]]
    notice: str


class BatchRow(TypedDict):
    """A page in the answer of `fetch_batch`; `error` is null if it was read."""

    url: str
    title: str | None
    content: str
    method: str | None
    truncated: bool
    tokens_estimated: int
    author: str | None
    published_date: str | None
    sitename: str | None
    final_url: NotRequired[str | None]
    status: int | None
    language: NotRequired[str | None]
    description: NotRequired[str | None]
    page_type: NotRequired[str | None]
    start: NotRequired[int]
    returned_chars: NotRequired[int]
    total_chars: NotRequired[int]
    next_start: NotRequired[int]
    before: NotRequired[str]
    after: NotRequired[str]
    excerpts: NotRequired[list[ExcerptItem]]
    cached: NotRequired[bool]
    retrieved_at: NotRequired[str]
    warnings: NotRequired[list[str]]
    notice: NotRequired[str]
    error: str | None
    error_code: NotRequired[str]
    retryable: NotRequired[bool]


class OutlineRow(TypedDict):
    """A heading of a document, with its page number if the document has pages."""

    level: int
    text: str
    start: int
    page: NotRequired[int]


class DocumentAnswer(TypedDict):
    """Answer of `read_doc`."""

    content: str
    title: str | None
    format: str | None
    total_chars: int
    start: int
    returned_chars: int
    truncated: bool
    source: str
    tokens_estimated: int
    next_start: NotRequired[int]
    author: NotRequired[str | None]
    pages: NotRequired[int]
    ocr_needed: NotRequired[list[int]]
    encrypted: NotRequired[bool]
    outline: NotRequired[list[OutlineRow]]
    excerpts: NotRequired[list[ExcerptItem]]
    cached: bool
    retrieved_at: str
    warnings: NotRequired[list[str]]
    notice: str


class ResultItem(TypedDict):
    """A result of `search`."""

    title: str
    url: str
    snippet: str
    engines: list[str]
    score: float
    date: NotRequired[str]
    source: NotRequired[str]
    also: NotRequired[list[str]]
    facts: NotRequired[dict[str, Any]]


class SearchResults(TypedDict):
    """Answer of `search`."""

    results: list[ResultItem]
    engines: list[str]
    cached: bool
    errors: NotRequired[dict[str, str]]
    hint: NotRequired[str]
    warnings: NotRequired[list[str]]
    retrieved_at: NotRequired[str]
    notice: str


class SourceItem(TypedDict):
    """A source of `research`."""

    rank: int
    title: str
    url: str
    snippet: str
    engines: list[str]
    score: float
    date: str | None
    read: bool
    also: NotRequired[list[str]]


class ResearchDocument(TypedDict):
    """A page of `research`: `content` has its excerpts, or `error` the reason of its failure."""

    rank: int
    url: str
    title: NotRequired[str | None]
    content: NotRequired[str]
    excerpts: NotRequired[list[ExcerptItem]]
    same_text_as: NotRequired[int]
    error: NotRequired[str]


class ResearchAnswer(TypedDict):
    """Answer of `research`; `rank` connects documents with sources."""

    question: str
    engines: list[str]
    sources: list[SourceItem]
    documents: list[ResearchDocument]
    tokens_estimated: int
    errors: dict[str, str]
    pages_read: int
    independent_sources: int
    cached: bool
    hint: NotRequired[str]
    retrieved_at: NotRequired[str]
    warnings: NotRequired[list[str]]
    notice: str


class ComparedPage(TypedDict):
    """A page of `compare`; `error` is set if it failed."""

    url: str
    title: str | None
    excerpt: str
    passages: NotRequired[list[ExcerptItem]]
    same_text_as: NotRequired[str]
    error: NotRequired[str]


class ComparisonAnswer(TypedDict):
    """Answer of `compare`."""

    question: str
    urls: list[str]
    excerpts: list[ComparedPage]
    tokens_estimated: int
    notice: str


class StructuredAnswer(TypedDict):
    """Answer of `extract_structured`: structured data, or `records`, or `values`.

    For several URLs, `url` is the first, and `pages` has an answer or `error` for each.
    """

    url: str
    json_ld: NotRequired[list[Any]]
    microdata: NotRequired[list[Any]]
    opengraph: NotRequired[list[Any]]
    rdfa: NotRequired[list[Any]]
    product: NotRequired[dict[str, Any]]
    recipe: NotRequired[dict[str, Any]]
    xhr: NotRequired[list[Any]]
    records: NotRequired[list[dict[str, Any]]]
    more: NotRequired[dict[str, Any]]
    values: NotRequired[dict[str, Any]]
    evidence: NotRequired[dict[str, Any]]
    pages: NotRequired[list[dict[str, Any]]]
    warnings: NotRequired[list[str]]
    notice: str


class CacheHit(TypedDict):
    """A cached page in the answer of `cache_search`."""

    url: str
    title: str
    snippet: str
    start: int
    retrieved_at: str
    notice: str


class IndexResult(TypedDict):
    """A document in the answer of `search_index`."""

    doc_id: str
    score: float
    highlights: list[str]
    metadata: dict[str, Any]


class IndexResults(TypedDict):
    """Answer of `search_index`."""

    results: list[IndexResult]
    total_matches: int
    query_parsed: NotRequired[dict[str, Any]]
    notice: NotRequired[str]


class AddedDocument(TypedDict):
    """Answer of `search_add_document`."""

    status: str
    doc_id: str
    token_count: int


class CreatedIndex(TypedDict):
    """Answer of `search_create_index`."""

    status: str
    index_name: str
    backend: str


class FailedIndexCall(TypedDict):
    """Answer of an index tool that failed."""

    error: str


class MappedPage(TypedDict):
    """A page of a site map."""

    url: str
    title: NotRequired[str]
    modified: NotRequired[str]
    source: str
    score: NotRequired[float]


class LeftOutItem(TypedDict):
    """Number of URLs that were left out for one reason, with an example."""

    reason: str
    count: int
    example: str


class ListCounts(TypedDict):
    """Numbers of sitemaps and feeds that were read or failed."""

    files: int
    failed: int


class SiteMapAnswer(TypedDict):
    """Answer of `map`."""

    pages: list[MappedPage]
    total: int
    start: int
    more: bool
    left_out: list[LeftOutItem]
    lists: ListCounts
    warnings: NotRequired[list[str]]
    notice: str


class CrawledRow(TypedDict):
    """A page in the answer of `crawl`."""

    url: str
    title: NotRequired[str]
    excerpt: NotRequired[str]


class CrawlAnswer(TypedDict):
    """Answer of `crawl`."""

    crawl: str
    index: str
    done: bool
    read: int
    kept: int
    left: int
    pages: list[CrawledRow]
    left_out: list[LeftOutItem]
    warnings: NotRequired[list[str]]
    notice: str


class ChangedBlock(TypedDict):
    """One change of a page."""

    kind: str
    heading: NotRequired[str]
    old: NotRequired[str]
    new: NotRequired[str]
    only_numbers: NotRequired[bool]


class ChangedPage(TypedDict):
    """A page in the answer of `changes`."""

    url: str
    status: str
    title: NotRequired[str]
    before: NotRequired[str]
    now: NotRequired[str]
    new_url: NotRequired[str]
    changes: NotRequired[list[ChangedBlock]]
    noise: NotRequired[int]
    error: NotRequired[str]
    error_code: NotRequired[str]
    retryable: NotRequired[bool]


class ChangesAnswer(TypedDict):
    """Answer of `changes`."""

    pages: list[ChangedPage]
    notice: str
