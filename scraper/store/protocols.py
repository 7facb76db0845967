"""What the services expect of a store, whichever backend keeps it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

from scraper.model import CachedPageSummary, PageHits, Reading


@dataclass(frozen=True, slots=True)
class CacheScope:
    """Whose pages, and as whom they were read: nobody sees what another's cookies fetched."""

    principal: str = "local"
    profile: str = ""
    """The named set of cookies that went along; empty is none."""
    language: str = "en-US"


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One page as it was read."""

    shelf: CacheScope
    key: str
    """The URL in canonical form, as it was asked for."""
    reading: Reading
    allowances: frozenset[str] = field(default_factory=frozenset)
    """Exceptions from the address rules that were in force. A page is given out only while all of them
    still are: what may no longer be visited may no longer be read from the cache either."""


@dataclass(frozen=True, slots=True)
class PagesStats:
    """How the cache stands."""

    usable: bool = False
    problem: str | None = None
    """Why it is not usable, or why the last write was lost."""
    pages: int = 0
    bytes: int = 0
    hits: int = 0
    misses: int = 0
    written: int = 0
    lost: int = 0
    """Pages that could not be kept."""
    waiting: int = 0
    """Pages that are not kept yet."""


class IncompleteSearchError(Exception):
    """What was asked for was not done to its end; the message, without secrets, says why."""


class PageStore(Protocol):
    """The page cache. A fault of it is a miss, and is never the caller's, but for who looks after it.

    Another backend is one file with this and a line in `open_store`: `tests/scraper/store` runs over each of
    them.
    """

    async def get(
        self,
        key: str,
        *,
        shelf: CacheScope,
        methods: tuple[str, ...],
        max_age_s: float,
        allowed: frozenset[str],
    ) -> PageEntry | None:
        """The newest page read by one of `methods`, not older than `max_age_s`, under rules still valid."""

    def put(self, entry: PageEntry) -> None:
        """Keep a page; returns at once."""

    async def settled(self) -> None:
        """Wait until all that was put is in the file, or is known to be lost."""

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        """The pages of one principal that hold what is asked for, best first, each page once."""

    async def recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        """One principal's pages, newest first; `before` is the number of the last one that is known."""

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        """The newest reading of one principal's page by the address at which it was found."""

    def entries(self, principal: str | None = None) -> AsyncIterator[PageEntry]:
        """Every page, for an export; None is everybody's.

        Raises:
            Incomplete: there may be more.
        """

    async def clear(self, principal: str | None = None) -> int:
        """Forget every page, or one principal's; how many there were.

        Raises:
            Incomplete: there are some left.
        """

    async def stats(self) -> PagesStats:
        """Numbers for status and metrics."""

    async def close(self) -> None:
        """Finish what was put, then let go of the backend."""
