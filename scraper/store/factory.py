"""Open the stores that the settings select: local SQLite files, or PostgreSQL for servers that share data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scraper.settings import Settings, SettingsError
from scraper.settings.files import install_command
from scraper.store.index_service import IndexService
from scraper.store.protocols import NullPageStore, PageStore
from scraper.store.record_logs import RecordLogs
from scraper.store.search_cache import SearchCache, open_search_cache
from scraper.store.sqlite.pages import SqlitePageStore
from scraper.store.sqlite.record_logs import open_record_logs

if TYPE_CHECKING:
    from scraper.store.postgres.database import PostgresPool

MB = 1_000_000
_CHECK_LIMIT_S = 12.0
"""Seconds to reach a database, more than one connection may take."""


@dataclass(frozen=True, slots=True)
class Store:
    """The page store, the search cache, the named indexes and the record logs of a server."""

    pages: PageStore
    searches: SearchCache
    indexes: IndexService
    records: RecordLogs
    server: "PostgresPool | None" = None
    """Connections to PostgreSQL; None if SQLite files are used."""

    @property
    def problem(self) -> str | None:
        """Reason why the database is unavailable; None if it is available, or if SQLite files are used."""
        return None if self.server is None else self.server.problem

    async def wait_connected(self) -> None:
        """Wait until the database has answered or failed; return immediately for SQLite files."""
        if self.server is not None:
            await self.server.check(_CHECK_LIMIT_S)

    async def close(self) -> None:
        """Write everything that is queued, then close files and connections."""
        await self.records.close()
        await self.indexes.close()
        await self.searches.close()
        await self.pages.close()
        if self.server is not None:
            await self.server.disconnect()


def open_store(settings: Settings) -> Store:
    """Open the stores that the settings select; a database is contacted in the background.

    Raises:
        SettingsError: The client library of the database is not installed.
    """
    is_caching, limit_bytes = settings.cache_mb > 0, settings.cache_mb * MB
    if settings.database_url is None:
        pages = SqlitePageStore(settings.data_dir, limit_bytes=limit_bytes) if is_caching else NullPageStore()
        searches = open_search_cache(settings.data_dir, keeps_answers=is_caching)
        return Store(pages, searches, IndexService(settings.data_dir), open_record_logs(settings.data_dir))
    try:
        from scraper.store.postgres.database import PostgresPool
        from scraper.store.postgres.stores import PostgresIndexStore, PostgresPageStore, PostgresSearchCache
    except ImportError:
        raise SettingsError(f"SEARCH_MCP_DATABASE_URL needs asyncpg. Run: {install_command('shared')}") from None
    server = PostgresPool(settings.database_url)
    server.start_check()
    return Store(
        PostgresPageStore(server, limit_bytes=limit_bytes) if is_caching else NullPageStore(),
        PostgresSearchCache(server, keeps_answers=is_caching),
        IndexService(PostgresIndexStore(server)),
        RecordLogs(server),
        server,
    )


async def find_database_problem(settings: Settings) -> str | None:
    """Return the reason why the database is unavailable, without secrets, or None.

    Raises:
        SettingsError: The client library of the database is not installed.
    """
    store = open_store(settings)
    try:
        await store.wait_connected()
        return store.problem
    finally:
        await store.close()
