"""Opens what lasts where the settings say: files of this machine, or a database that many servers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scraper.settings import Settings, SettingsError
from scraper.settings.optional_dependencies import install_command
from scraper.store.indexes.index_service import IndexService
from scraper.store.indexes.model import NamedIndexes
from scraper.store.protocols import PageStore
from scraper.store.search_cache import SearchCache, SqliteSearches
from scraper.store.sqlite.pages import NoPages, SqlitePages

if TYPE_CHECKING:
    from scraper.store.postgres.connection_pool import PostgresPool

MB = 1_000_000
LOOK_LIMIT_S = 12.0
"""To look at a database: more than one connection may take."""


@dataclass(frozen=True, slots=True)
class Store:
    """Pages, answers of engines, and named indexes."""

    pages: PageStore
    searches: SearchCache
    indexes: NamedIndexes
    server: PostgresPool | None = None
    """The database that keeps them; None for files."""

    @property
    def problem(self) -> str | None:
        """Why the database is not used; None when it is, and where there is none."""
        return None if self.server is None else self.server.problem

    async def met(self) -> None:
        """Return when a database has answered or failed, however slow the way to it; files need no time."""
        if self.server is not None:
            await self.server.look(LOOK_LIMIT_S)

    async def close(self) -> None:
        """Write what was put, then let go of files and connections."""
        await self.indexes.close()
        await self.searches.close()
        await self.pages.close()
        if self.server is not None:
            await self.server.close()


def open_store(settings: Settings) -> Store:
    """What the settings name; whether a database answers is found out in the background.

    Raises:
        SettingsError: the library that it needs is not installed.
    """
    if settings.database_url is not None:
        return _in_database(settings, settings.database_url)
    keeps = settings.cache_mb > 0
    pages = SqlitePages(settings.data_dir, limit_bytes=settings.cache_mb * MB) if keeps else NoPages()
    searches = SqliteSearches(settings.data_dir, keeps_answers=keeps)
    return Store(pages, searches, IndexService(settings.data_dir))


def _in_database(settings: Settings, url: str) -> Store:
    try:
        from scraper.store.postgres.connection_pool import PostgresPool
        from scraper.store.postgres.indexes import PostgresIndexes
        from scraper.store.postgres.pages import PostgresPages
        from scraper.store.postgres.search_cache import PostgresSearches
    except ImportError:
        raise SettingsError(
            f"SEARCH_MCP_DATABASE_URL needs asyncpg. Run: {install_command('shared')}"
        ) from None
    server = PostgresPool(url)
    server.greet()
    keeps = settings.cache_mb > 0
    pages = PostgresPages(server, limit_bytes=settings.cache_mb * MB) if keeps else NoPages()
    searches = PostgresSearches(server, keeps_answers=keeps)
    return Store(pages, searches, IndexService(PostgresIndexes(server)), server)


async def database_fault(settings: Settings) -> str | None:
    """What keeps the database from being used; None when nothing does. Nothing secret is in it.

    Raises:
        SettingsError: the library that it needs is not installed.
    """
    store = open_store(settings)
    try:
        await store.met()
        return store.problem
    finally:
        await store.close()
