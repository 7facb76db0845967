"""Frozen data types of maps, crawls and changes of a site."""

from dataclasses import dataclass

from scraper.model import Reading


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of a site, found in links, sitemaps or feeds."""

    url: str
    title: str = ""
    """Title in a sitemap or feed, or the longest text of a link to the page."""
    modified: str = ""
    """Date of the last change in the sitemap or feed, YYYY-MM-DD."""
    source: str = "link"
    """`start`, `link` or `list` (sitemap or feed)."""
    place: str = ""
    """Position of the link, as in `extract.outlinks`."""


@dataclass(frozen=True, slots=True)
class ExcludedUrls:
    """Number of excluded URLs for one reason, with an example."""

    reason: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class SiteMap:
    """Pages of a site, and the excluded URLs by reason."""

    url: str
    """URL of the start page after redirects."""
    pages: tuple[SitePage, ...]
    left_out: tuple[ExcludedUrls, ...] = ()
    list_files: int = 0
    """Number of requested sitemaps and feeds."""
    list_failures: int = 0
    """Number of sitemaps and feeds that could not be read."""
    pages_read: int = 0
    """Number of pages whose links were read."""
    warnings: tuple[str, ...] = ()
    agents: tuple[tuple[str, str], ...] = ()
    """Name and URL of what the site offers programs. Nothing of it is read."""


@dataclass(frozen=True, slots=True)
class BlockChange:
    """One change of a page."""

    kind: str
    """`added`, `removed`, `edited` or `moved`."""
    heading: str
    old: str = ""
    new: str = ""
    only_numbers: bool = False


@dataclass(frozen=True, slots=True)
class PageChange:
    """Comparison of a page with an earlier version."""

    url: str
    """Requested URL."""
    status: str
    """`first`, `same`, `changed`, `gone`, `moved`, `reader_changed`."""
    now: float
    """Time of the new version in seconds of the epoch."""
    before: float | None = None
    title: str = ""
    new_url: str = ""
    changes: tuple[BlockChange, ...] = ()
    noise: int = 0
    """Number of ignored differences: clocks, counts, advertisements."""


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """Start page, question and path patterns of a new crawl."""

    url: str
    """Start page. Its folder limits the crawl, unless there are patterns."""
    question: str | None = None
    include: tuple[str, ...] = ()
    """Path patterns such as `/docs/*`."""
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """State of a crawl after one call."""

    crawl: str
    """ID with which the crawl can be continued."""
    url: str
    question: str | None
    index: str
    """Named index that contains the pages."""
    is_done: bool
    """True if no URL with a sufficient value is left."""
    visited: int
    """Number of visited pages of all calls."""
    kept: int
    """Number of pages with unique content of all calls."""
    waiting: int
    """Number of URLs that were found but not visited."""
    pages: tuple[SitePage, ...] = ()
    """Without a question, the new pages of this call; with one, all pages with content, best first."""
    readings: tuple[Reading, ...] = ()
    left_out: tuple[ExcludedUrls, ...] = ()
    warnings: tuple[str, ...] = ()
