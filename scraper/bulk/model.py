"""Types of a job: options, page to read, row of the output, position in the output."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from browsers.model import Snapshot
from scraper.settings.files import install_command
from scraper.site.crawled_page import CrawledPage, SiteFacts


class BulkError(Exception):
    """Base of all errors of a job. The message says what to do."""


class UrlListError(BulkError):
    """The list of URLs cannot be read."""


class JobMismatchError(BulkError):
    """The folder contains a job with another list or other options."""


class JobInUseError(BulkError):
    """Another process works on the folder."""


class MissingExtraError(BulkError):
    """A required library is not installed."""

    def __init__(self, purpose: str, library: str, alternative: str = "") -> None:
        """Create the message for an option or input; `alternative` is an option that works without the library."""
        other = f", or use {alternative}" if alternative else ""
        super().__init__(f"{purpose} needs {library}: {install_command('bulk')}{other}")


class ClusterUnavailableError(BulkError):
    """No cluster answers at an address, or Ray cannot start on this machine."""

    def __init__(self, address: str, reason: str) -> None:
        """Create the message; the address `local` is that of a new cluster on this machine."""
        if address == "local":
            problem = f"Ray cannot start a cluster on this machine: {reason}. End other programs to free memory"
        else:
            problem = f"The cluster at {address} cannot be reached: {reason}. Check it with `ray status`"
        super().__init__(f"{problem}, or run the same command without --cluster.")


class DiskFullError(BulkError):
    """The disk is full."""


STDIN = "-"
_DEADLINE_S = 60.0
"""Seconds per page, which limits the time for a page that never finishes."""


class Format(enum.StrEnum):
    """Format of the output."""

    PARQUET = "parquet"
    JSONL = "jsonl"
    WARC = "warc"
    MARKDOWN = "markdown"
    """One file for each page that was read, with its facts as front matter."""
    CSV = "csv"
    """Columns for the URL, each field or column of the recipe, and the error; only for jobs with a recipe."""


@dataclass(frozen=True, slots=True)
class JobRate:
    """Concurrency of a job and of requests to one host."""

    concurrency: int | None = None
    """Pages read at once in one process; None for as many as all cores allow."""
    per_host: int = 2
    """Pages of one host read at once; two are as many as a person with two tabs requests."""
    gap_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """Sites of a job that finds its pages by their links."""

    urls: tuple[str, ...]
    """Start pages, also without a scheme; each begins the crawl of its site, or of its folder."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Patterns of paths to read, and not to read, as in `CrawlScope`."""
    max_pages: int = 100_000
    """Pages of all sites together."""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """Options of a job."""

    source: str
    """File of URLs, or `-` for standard input."""
    folder: Path
    """Folder of output and state; running a job in the same folder continues it."""
    format: Format
    rate: JobRate
    render: str = "auto"
    max_age_s: float | None = None
    """Seconds. Cached pages that are younger are used; None for the value of the settings."""
    deadline_s: float = _DEADLINE_S
    limit: int | None = None
    """Number of pages to read from the start of the list; None for all."""
    crawl: CrawlOptions | None = None
    """Sites whose pages are read instead of a list."""
    recipe: str = ""
    """Recipe whose fields or rows are extracted from each page, as text; empty for none."""


@dataclass(frozen=True, slots=True)
class JobPage:
    """One page of a job: a distinct line of the URL list, or a page that a crawl found."""

    number: int
    """Position among the distinct lines and the pages added later, from 1."""
    url: str
    host: str
    problem: str = ""
    """Reason why the line is not a valid URL; such a line becomes a row with an error."""
    other_url: str = ""
    """URL that is read if only this one can be reached, for an address without a scheme."""
    is_batched: bool = field(default=False, compare=False)
    """True if other pages of its host are running or waiting, and no pause is between them."""
    is_start: bool = field(default=False, compare=False)
    """True for the start page of a crawl, with which robots.txt, sitemaps and feeds of its site are read."""
    site: int = field(default=0, compare=False)
    """Position of its site among the start pages of a crawl, from 0."""


@dataclass(frozen=True, slots=True)
class PageFailure:
    """Reason why a page could not be read."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class OutputRow:
    """Row of one page in the output, in the order of its columns. None means unknown; empty means known to be empty."""

    url: str
    final_url: str | None = None
    status: int | None = None
    method: str | None = None
    """`http` for a page as served, `browser` for a rendered page, `document` for other formats."""
    fetched_at: datetime | None = None
    title: str | None = None
    author: str | None = None
    published_date: datetime | None = None
    sitename: str | None = None
    language: str | None = None
    description: str | None = None
    page_type: str | None = None
    train: str | None = None
    """`allowed` or `disallowed`, if the publisher states a wish about the training of models."""
    license: str | None = None
    """URLs of licenses that the publisher states."""
    markdown: str | None = None
    json_ld: tuple[Mapping[str, Any], ...] | None = None
    """None for pages from the cache or from another server, which do not contain it."""
    headings: tuple[Mapping[str, Any], ...] | None = None
    """`level`, `text`, and character offset in the Markdown as `start`."""
    links: tuple[Mapping[str, str], ...] | None = None
    """`url` and `text`."""
    images: tuple[Mapping[str, str], ...] | None = None
    """`url`, and alternative text as `alt`."""
    fields: Mapping[str, str | None] | None = None
    """Value of each field of the recipe; None if the job has no recipe, or if it does not fit the page."""
    confidence: Mapping[str, float] | None = None
    """Measured share of correct values, by field. A field without a value has no entry."""
    records: tuple[Mapping[str, str | None], ...] | None = None
    """Rows of the list, by a recipe of its columns; None if the job has no such recipe, or if it does not fit."""
    next_page: str | None = None
    """URL of the next part of the list; empty if there is none."""
    error: PageFailure | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds from the start of the visit to the end of each stage."""
    hash: str | None = None
    """SHA-256 of the Markdown in UTF-8, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """Outcome of reading a page."""

    page: JobPage
    row: OutputRow
    seconds: float
    """Seconds from the start of reading, including waits."""
    cached: bool = False
    tries: int = 1
    """Number of attempts; 0 if the page was skipped because other pages of its site were unreachable."""
    snapshot: Snapshot | None = None
    """Response and DOM, if the output format stores them."""
    crawled: CrawledPage | None = None
    """Links and text fingerprint of the page; None unless the job is a crawl."""
    facts: SiteFacts | None = None
    """Robots.txt, sitemap and feed entries of its site; only for the start page of a crawl."""

    @property
    def code(self) -> str:
        """`ok`, or the code of the error."""
        return "ok" if self.row.error is None else self.row.error.code


@dataclass(frozen=True, slots=True)
class OutputPosition:
    """Position up to which the output is on the disk; later rows do not count as written."""

    file: int = 1
    """Number of the file, from 1."""
    offset: int = 0
    """Bytes of the file."""
