"""Frozen data types of pages, documents and their cache, which the layers exchange."""

import enum
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from browsers.model import Screenshot


class VerdictKind(enum.StrEnum):
    """Verdict of the reader on a snapshot."""

    OK = "ok"
    THIN = "thin"
    """Content is missing, mostly because the page needs its scripts."""
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of the reader, with its reason: `captcha`, `consent`, `login`, `javascript`, ..."""

    kind: VerdictKind = VerdictKind.OK
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Return True if the snapshot has the content of the page."""
        return self.kind is VerdictKind.OK


@dataclass(frozen=True, slots=True)
class Link:
    """Link in the main content; the URL is absolute."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """Image in the main content; the URL is absolute."""

    url: str
    alt: str


@dataclass(frozen=True, slots=True)
class Heading:
    """Heading of the outline; `start` is its character offset in the Markdown."""

    level: int
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Post:
    """Post of a discussion: a post of a thread, a question, an answer, a comment, a mail or a review."""

    position: int
    """Number in the order of the page, from 1."""
    author: str | None
    date: str | None
    """Date as written on the page."""
    published: datetime | None
    """Time with zone; a date without time is midnight UTC. None for relative and ambiguous dates."""
    text: str
    """Own text, without quotations and signature."""
    score: int | None = None
    accepted: bool = False
    quoted: str = ""
    """Text that the post quotes."""
    reply_to: int | None = None
    """Position of the post that contains this one."""

    def as_object(self) -> dict[str, Any]:
        """Return the post for JSON, with the optional fields only if they are known."""
        date = self.date
        if self.published is not None:
            is_day = (self.published.hour, self.published.minute) == (0, 0)
            date = self.published.date().isoformat() if is_day else self.published.isoformat(timespec="minutes")
        answer: dict[str, Any] = {"position": self.position, "author": self.author, "date": date, "text": self.text}
        optional = {
            "date_text": self.date if self.date != date else None,
            "score": self.score,
            "accepted": self.accepted or None,
            "quoted": self.quoted or None,
            "reply_to": self.reply_to,
        }
        return answer | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMetadata:
    """What a page states about itself. None means unknown."""

    title: str | None = None
    author: str | None = None
    published: datetime | None = None
    """Time with zone; a date without time is midnight UTC."""
    published_source: str | None = None
    """Source of the date: `structured`, `meta`, `url`, `text`."""
    site_name: str | None = None
    language: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """Statement of a publisher about the use of a page by machines."""

    use: str
    """`input`, `train`, `search`, `mining` or `license`."""
    value: str
    """`allowed` or `disallowed`; the URL of a license, or `required`."""
    source: str
    """Where it was stated, such as `robots.txt Content-Signal`."""


@dataclass(frozen=True, slots=True)
class Document(PageMetadata):
    """Content of one snapshot. None means unknown; empty means known to be empty."""

    url: str
    page_type: str | None = None
    text: str = ""
    markdown: str = ""
    verdict: Verdict = field(default_factory=Verdict)
    degraded: bool = False
    """True if the fallback reader was used, because the reader exceeded its limits."""
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    outline: tuple[Heading, ...] = ()
    discussion: tuple[Post, ...] = ()
    hidden_removed: int = 0
    """Number of invisible elements that were removed."""
    controls_removed: int = 0
    """Number of invisible characters that were removed: zero-width, tag and direction characters."""
    format: str | None = None
    """Format of a document: `pdf`, `docx`, `csv`, ...; None for a page."""
    page_count: int | None = None
    """Number of pages, sheets or slides of a document."""
    is_part: bool = False
    """True if some of the pages of a document were not read."""
    ocr_pages: tuple[int, ...] = ()
    """Pages that are images of text and could not be read."""
    encrypted: bool = False
    """True if the document was encrypted and could be opened."""
    facts: tuple[tuple[str, str | float], ...] = ()
    """Facts of the product or recipe of a page: name and value, such as `price` and 12.5."""
    withheld_characters: int = 0
    """Length of the text that only paying readers can see, if the content is only a part of it."""
    torn_parts: int = 0
    """Number of parts of the text without what belongs to them, such as a label without its value."""
    wishes: tuple[Wish, ...] = ()
    site_markdown: str = ""
    """URL of the Markdown of the page on its site, if the page names it."""
    is_site_markdown: bool = False
    """True if the text is that of `site_markdown`."""
    tools: tuple[str, ...] = ()
    """Names of the forms that `browse` can call as tools of the page."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document with the facts about its reading."""

    document: Document
    url: str
    """Final URL."""
    requested_url: str
    status: int
    method: str
    """`http`: read as served. `browser`: rendered. `document`: read by a document parser. `file`: from disk."""
    cached: bool
    retrieved_at: datetime
    truncated: bool = False
    """True if the site sent more than the limit and the rest was cut off."""
    etag: str | None = None
    """Validator of this version of the page for revalidation."""
    last_modified: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StructuredData:
    """Structured data of a page by syntax, each block unchanged."""

    url: str
    json_ld: tuple[dict[str, Any], ...] = ()
    microdata: tuple[dict[str, Any], ...] = ()
    opengraph: tuple[dict[str, Any], ...] = ()
    rdfa: tuple[dict[str, Any], ...] = ()
    xhr: tuple[dict[str, Any], ...] = ()
    """JSON that the page fetched while it rendered: `url`, `status`, `data`."""
    product: dict[str, Any] | None = None
    """Normalized facts of a product, each with its source and confidence."""
    recipe: dict[str, Any] | None = None
    discussion: tuple[dict[str, Any], ...] = ()
    """Posts of the page: `position`, `author`, `date`, `text`, ..."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CachedPageSummary:
    """Entry in a list of stored pages."""

    number: int
    """Number that grows with time; it marks the start of the next part of a list."""
    url: str
    title: str
    size_bytes: int
    retrieved_at: float
    """Seconds of the epoch."""


@dataclass(frozen=True, slots=True)
class PageHit:
    """Stored page that matches a query."""

    url: str
    title: str
    snippet: str
    """Best passage, with the words of the query in [brackets]."""
    start: int
    """Offset of the passage in the Markdown."""
    retrieved_at: float
    score: float


@dataclass(frozen=True, slots=True)
class PageHits:
    """Result of a search in the stored pages."""

    hits: tuple[PageHit, ...] = ()
    note: str = ""
    """Explanation of how the query was parsed, if that is not obvious."""
    usable: bool = True
    """False if there is no cache, or it did not answer."""


class Reuse(enum.Enum):
    """Kinds of earlier results that may answer a request."""

    STORED = "stored"
    """Stored results within the age limit, and loads in flight on other servers."""
    IN_MEMORY = "in_memory"
    """A result in memory, of any age, because the caller continues to read a text; otherwise as `STORED`."""
    NONE = "none"
    """Neither stored results nor loads of other servers, because the caller needs the response itself."""


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """Earlier results that may answer a request, and their age limit."""

    max_age_s: float | None = None
    """Seconds. Older stored results are not used. 0 requests a new one; None uses the operator's default."""
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


@dataclass(frozen=True, slots=True)
class PagePart:
    """Part of a page to read, by CSS selectors. Such a reading is never stored."""

    wait_for: str | None = None
    """Selector that must match before the page is read; scripts may add its element."""
    select: str | None = None
    """Selector of the only elements to read."""
    exclude: str | None = None


WHOLE_PAGE = PagePart()


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Request to read one page."""

    url: str
    """Text of the caller, unchanged."""
    render: str = "auto"
    """`http`: as served. `browser`: rendered. `auto`: rendered if the page as served is not enough."""
    cache: CachePolicy = CachePolicy()
    principal: str = "local"
    deadline_s: float = 55.0
    is_bulk: bool = False
    """True if interactive calls have priority. Links and JSON-LD of the whole page are extracted too."""
    batch: str | None = None
    """Name of the batch whose pages of this host are read one after the other."""
    part: PagePart = WHOLE_PAGE
    is_beginning: bool = False
    """True if the first pages of a document suffice, about `FIRST_CHARACTERS` of text."""


FIRST_CHARACTERS = 18_000
"""Characters of text that the beginning of a document has at least, some 5,000 tokens."""


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """Request to read one document."""

    source: str
    """URL, or path below the folder of local files."""
    password: str | None = None
    pages: tuple[int, ...] = ()
    """Pages that suffice, in ascending order; empty to start with the first page."""
    principal: str = "local"
    is_beginning: bool = False
    """True if the first pages suffice, about `FIRST_CHARACTERS` of text."""


@dataclass(frozen=True, slots=True)
class PageScreenshots:
    """Pictures of one page. For a whole page, the overview comes first, then its parts."""

    url: str
    """URL after redirects."""
    status: int
    title: str
    pictures: tuple[Screenshot, ...]
    warnings: tuple[str, ...] = ()
