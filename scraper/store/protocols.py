"""Interfaces of the databases and of the page store, and their data types."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from scraper.model import CachedPageSummary, PageHits, Reading

CLOCK_SKEW_S = 60.0
"""Seconds. If an entry is dated further in the future, the clock was wrong, so its age is unknown."""


class DatabaseUnavailableError(Exception):
    """The database cannot be used for this operation; the log says why."""

    def __init__(self, reason: BaseException | None = None, *, may_retry: bool = False) -> None:
        """Store the error of the client library, and True if the same write may succeed later."""
        super().__init__()
        self.reason = reason
        self.may_retry = may_retry


class SqlDatabase(Protocol):
    """Connections to one SQLite file or to PostgreSQL. Methods raise DatabaseUnavailableError."""

    @property
    def problem(self) -> str | None:
        """Reason why the database is unavailable, or None."""

    async def run(self, work: Callable[[Any], Any], limit_s: float) -> Any:
        """Return the result of `work`, which is called with a connection, within `limit_s` seconds."""

    async def fetch(
        self, statement: str, values: tuple[Any, ...], limit_s: float, *, writes: bool = False
    ) -> list[Any]:
        """Return the rows of a statement within `limit_s` seconds."""

    async def close(self) -> None:
        """Close the connections, unless other stores use them too."""


@dataclass(frozen=True, slots=True)
class CacheScope:
    """Owner of cached entries, which are never returned to other owners."""

    principal: str = "local"
    profile: str = ""
    """Named set of cookies sent with the request; empty if none."""
    language: str = "en-US"


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One cached page."""

    scope: CacheScope
    key: str
    """Canonical form of the requested URL."""
    reading: Reading
    allowances: frozenset[str] = field(default_factory=frozenset)
    """Exceptions from the address rules that applied when the page was read.

    The page is returned only while all of them still apply: an address that may no longer be visited may no longer be
    read from the cache either.
    """

    @property
    def place(self) -> tuple[CacheScope, str, str]:
        """Key under which the page is stored; a later reading with the same key replaces it."""
        return self.scope, self.key, self.reading.method


@dataclass(frozen=True, slots=True)
class PageStoreStats:
    """State of a page store, for status and metrics."""

    usable: bool = False
    problem: str | None = None
    """Reason why the store is unavailable, or why the last write failed."""
    pages: int = 0
    bytes: int = 0
    hits: int = 0
    misses: int = 0
    written: int = 0
    lost: int = 0
    """Pages that could not be stored."""
    waiting: int = 0
    """Number of pages queued for writing."""


class IncompleteOperationError(Exception):
    """An export or deletion stopped early; the message says why and contains no secrets."""


class PageStore(Protocol):
    """Page cache. A failure counts as a miss; only exports and deletions report it to the caller.

    The methods of this class store nothing. A new backend overrides them and is opened in `open_store`. The tests in
    `tests/scraper/store` run with every backend.
    """

    async def get(
        self, key: str, *, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        """Return the newest page read by one of `methods`, or None if it is missing, stale or not allowed.

        Args:
            key: Canonical URL.
            scope: Owner of the page.
            methods: Accepted reading methods, such as `http` and `browser`.
            max_age_s: Maximum age in seconds; 0 or less always misses.
            allowed: Exceptions from the address rules that apply now.
        """
        return None

    def put(self, entry: PageEntry) -> None:
        """Queue a page for writing and return immediately."""
        return

    async def flush(self) -> None:
        """Wait until all queued pages are written or counted as lost."""
        return

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        """Return the pages of one principal that match a full-text query, best first, one hit per URL."""
        return PageHits(usable=False)

    async def list_recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        """Return summaries of one principal's pages, newest first; `before` is the number of the last known one."""
        return []

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        """Return one principal's newest page with this final URL, or None."""
        return None

    async def iter_entries(self) -> AsyncIterator[PageEntry]:
        """Iterate over all pages.

        Raises:
            IncompleteOperationError: The store failed; there may be more pages.
        """
        nothing: tuple[PageEntry, ...] = ()
        for entry in nothing:
            yield entry

    async def clear(self) -> int:
        """Delete all pages and return their number.

        Raises:
            IncompleteOperationError: The store failed; some pages are left.
        """
        return 0

    async def stats(self) -> PageStoreStats:
        """Return counters and sizes for status and metrics."""
        return PageStoreStats()

    async def close(self) -> None:
        """Write the queued pages and close the backend."""
        return


class NullPageStore(PageStore):
    """A page store that stores nothing, for operators who switch the page cache off."""
