"""Types of answers in JSON. The output schemas of the tools are generated from them.

A key that may be missing is `NotRequired`. Later versions may add further keys.
"""

from typing import Any, NotRequired, TypedDict


class _WebAnswer(TypedDict):
    warnings: NotRequired[list[str]]
    notice: str


class _Heading(TypedDict):
    level: int
    text: str
    start: int


class _Link(TypedDict):
    url: str
    text: str


class _Image(TypedDict):
    url: str
    alt: str


class _Excerpt(TypedDict):
    start: int
    end: int
    heading: str
    url: str


class _PageText(TypedDict):
    url: str
    title: str | None
    content: str
    truncated: bool
    tokens_estimated: int
    author: str | None
    published_date: str | None
    sitename: str | None
    next_start: NotRequired[int]
    before: NotRequired[str]
    after: NotRequired[str]
    excerpts: NotRequired[list[_Excerpt]]
    warnings: NotRequired[list[str]]


class PageAnswer(_PageText):
    """Answer of `fetch`."""

    method: str
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
    headings: NotRequired[list[_Heading]]
    links: NotRequired[list[_Link]]
    images: NotRequired[list[_Image]]
    cached: bool
    retrieved_at: str
    notice: str


class BatchRow(_PageText):
    """A page in the answer of `fetch_batch`; `error` is null if it was read."""

    method: str | None
    final_url: NotRequired[str | None]
    status: int | None
    language: NotRequired[str | None]
    description: NotRequired[str | None]
    page_type: NotRequired[str | None]
    start: NotRequired[int]
    returned_chars: NotRequired[int]
    total_chars: NotRequired[int]
    cached: NotRequired[bool]
    retrieved_at: NotRequired[str]
    notice: NotRequired[str]
    error: str | None
    error_code: NotRequired[str]
    retryable: NotRequired[bool]


class _DocumentHeading(_Heading):
    page: NotRequired[int]


class DocumentAnswer(_WebAnswer):
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
    outline: NotRequired[list[_DocumentHeading]]
    excerpts: NotRequired[list[_Excerpt]]
    cached: bool
    retrieved_at: str


class _Result(TypedDict):
    title: str
    url: str
    snippet: str
    engines: list[str]
    score: float
    date: NotRequired[str]
    source: NotRequired[str]
    also: NotRequired[list[str]]
    facts: NotRequired[dict[str, Any]]


class SearchResults(_WebAnswer):
    """Answer of `search`."""

    results: list[_Result]
    engines: list[str]
    cached: bool
    errors: NotRequired[dict[str, str]]
    hint: NotRequired[str]
    retrieved_at: NotRequired[str]


class _Source(TypedDict):
    rank: int
    title: str
    url: str
    snippet: str
    engines: list[str]
    score: float
    date: str | None
    read: bool
    also: NotRequired[list[str]]


class _ResearchDocument(TypedDict):
    rank: int
    url: str
    title: NotRequired[str | None]
    content: NotRequired[str]
    excerpts: NotRequired[list[_Excerpt]]
    same_text_as: NotRequired[int]
    error: NotRequired[str]


class ResearchAnswer(_WebAnswer):
    """Answer of `research`; `rank` connects documents with sources."""

    question: str
    engines: list[str]
    sources: list[_Source]
    documents: list[_ResearchDocument]
    tokens_estimated: int
    errors: dict[str, str]
    pages_read: int
    independent_sources: int
    cached: bool
    hint: NotRequired[str]
    retrieved_at: NotRequired[str]


class _ComparedPage(TypedDict):
    url: str
    title: str | None
    excerpt: str
    passages: NotRequired[list[_Excerpt]]
    same_text_as: NotRequired[str]
    error: NotRequired[str]


class ComparisonAnswer(TypedDict):
    """Answer of `compare`."""

    question: str
    urls: list[str]
    excerpts: list[_ComparedPage]
    tokens_estimated: int
    notice: str


class StructuredAnswer(_WebAnswer):
    """Answer of `extract_structured`. For several URLs, `url` is the first, and `pages` has an answer or error each."""

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


class CacheHit(TypedDict):
    """A cached page in the answer of `cache_search`."""

    url: str
    title: str
    snippet: str
    start: int
    retrieved_at: str
    notice: str


class _IndexResult(TypedDict):
    doc_id: str
    score: float
    highlights: list[str]
    metadata: dict[str, Any]


class IndexResults(TypedDict):
    """Answer of `search_index`."""

    results: list[_IndexResult]
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


class _MappedPage(TypedDict):
    url: str
    title: NotRequired[str]
    modified: NotRequired[str]
    source: str
    score: NotRequired[float]


class _LeftOut(TypedDict):
    reason: str
    count: int
    example: str


class _ListCounts(TypedDict):
    files: int
    failed: int


class _AgentLink(TypedDict):
    name: str
    url: str


class SiteMapAnswer(_WebAnswer):
    """Answer of `map`."""

    pages: list[_MappedPage]
    total: int
    start: int
    more: bool
    left_out: list[_LeftOut]
    lists: _ListCounts
    agents: NotRequired[list[_AgentLink]]


class _CrawledPage(TypedDict):
    url: str
    title: NotRequired[str]
    excerpt: NotRequired[str]


class CrawlAnswer(_WebAnswer):
    """Answer of `crawl`."""

    crawl: str
    index: str
    done: bool
    read: int
    kept: int
    left: int
    pages: list[_CrawledPage]
    left_out: list[_LeftOut]


class _Change(TypedDict):
    kind: str
    heading: NotRequired[str]
    old: NotRequired[str]
    new: NotRequired[str]
    only_numbers: NotRequired[bool]


class _ChangedPage(TypedDict):
    url: str
    status: str
    title: NotRequired[str]
    before: NotRequired[str]
    now: NotRequired[str]
    new_url: NotRequired[str]
    changes: NotRequired[list[_Change]]
    noise: NotRequired[int]
    error: NotRequired[str]
    error_code: NotRequired[str]
    retryable: NotRequired[bool]


class ChangesAnswer(TypedDict):
    """Answer of `changes`."""

    pages: list[_ChangedPage]
    notice: str
