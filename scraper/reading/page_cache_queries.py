"""What was read before: found by its words, listed, exported, forgotten, without going out for anything."""

from __future__ import annotations

from collections.abc import AsyncIterator

from scraper.model import CachedPageSummary, PageHits, Reading
from scraper.reading.fetcher import exceptions_from_the_rules
from scraper.settings import Settings
from scraper.store.protocols import PageEntry, PagesStats, PageStore


class Library:
    """The kept pages as one caller may see them."""

    def __init__(self, pages: PageStore, settings: Settings) -> None:
        self._pages = pages
        self._allowed = exceptions_from_the_rules(settings)

    async def search(self, query: str, *, principal: str = "local", limit: int = 10) -> PageHits:
        """The pages that hold what is asked for, best first."""
        return await self._pages.search(query, principal=principal, allowed=self._allowed, limit=limit)

    async def recent(
        self, *, principal: str = "local", limit: int = 50, before: int | None = None
    ) -> list[CachedPageSummary]:
        """Pages, newest first; `before` is the number of the last one that is known."""
        return await self._pages.recent(
            principal=principal, allowed=self._allowed, limit=limit, before=before
        )

    async def page(self, url: str, *, principal: str = "local") -> Reading | None:
        """The newest reading of a page by its address."""
        entry = await self._pages.find(url, principal=principal, allowed=self._allowed)
        return None if entry is None else entry.reading

    def entries(self, principal: str | None = None) -> AsyncIterator[PageEntry]:
        """Every page, for an export; None is everybody's."""
        return self._pages.entries(principal)

    async def clear(self, principal: str | None = None) -> int:
        """Forget every page, or one principal's; how many there were."""
        return await self._pages.clear(principal)

    async def stats(self) -> PagesStats:
        """How the cache stands."""
        return await self._pages.stats()
