"""A partial App that serves stored pages: a page cache and named indexes, no browser."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from scraper.caching import PageCache
from scraper.model import Document, Reading
from scraper.services import Services
from scraper.settings import Settings
from scraper.store.index_model import IndexDocument
from scraper.store.index_service import IndexService
from scraper.store.protocols import CacheScope, PageEntry
from scraper.store.sqlite.pages import SqlitePageStore

READ_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KeptApp:
    """The services, with methods to store pages and documents."""

    settings: Settings
    pages: SqlitePageStore
    page_cache: PageCache
    indexes: IndexService
    browsers: Any = None

    @property
    def app(self) -> Services:
        """Return this object cast to App."""
        return cast(Services, self)

    def keep(self, url: str, text: str, *, title: str = "A page", principal: str = "local") -> None:
        """Put a page into the cache."""
        document = Document(url, title=title, markdown=text, text=text)
        reading = Reading(document, url, url, 200, "http", False, READ_AT)
        self.pages.put(PageEntry(CacheScope(principal), url, reading))

    async def index(
        self, doc_id: str, text: str, *, name: str = "default", principal: str = "local", **metadata: Any
    ) -> None:
        """Put a document into an existing index."""
        await self.indexes.add(name, IndexDocument(doc_id, text, metadata), principal=principal)


@contextlib.asynccontextmanager
async def kept_app(folder: Path) -> AsyncIterator[KeptApp]:
    """Open an empty app in a folder."""
    settings = Settings(data_dir=folder)
    pages, indexes = SqlitePageStore(folder, limit_bytes=100_000_000), IndexService(folder)
    try:
        yield KeptApp(settings, pages, PageCache(pages, settings), indexes)
    finally:
        await indexes.close()
        await pages.close()
