"""Services of a process: each is created at its first use, and all are closed in reverse order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from browsers import system_diagnostics
from browsers.client import Browsers
from browsers.errors import FilterListError
from browsers.model import Tier
from scraper.caching import PageCache
from scraper.coordination import open_shared_state
from scraper.coordination.state import SharedState
from scraper.settings import Settings, SettingsError
from scraper.store.factory import Store, open_store
from scraper.workers import WorkerPool

if TYPE_CHECKING:
    from scraper.reading.browsing import BrowseRunner
    from scraper.reading.document_reader import DocumentReader
    from scraper.reading.documents.parser import DocumentParser
    from scraper.reading.fetcher import Fetcher
    from scraper.reading.fields import FieldReader, StructuredReader
    from scraper.reading.screenshots import ScreenshotReader
    from scraper.search.instant_answers import InstantAnswerClient
    from scraper.search.searcher import Searcher
    from scraper.site.crawl_service import CrawlService
    from scraper.site.page_change_tracker import PageChangeTracker
    from scraper.site.site_mapper import SiteMapService


class _Closable(Protocol):
    def close(self) -> Awaitable[None]: ...


_T = TypeVar("_T", bound=_Closable)


@dataclass(eq=False)
class Services:
    """Services that live as long as the process.

    Browsers, workers, store and shared state are open from the start. The others import their modules and open at
    their first use, because a call from the command line needs few of them.
    """

    settings: Settings
    browsers: Browsers
    workers: WorkerPool
    store: Store
    shared: SharedState
    closing: AsyncExitStack

    def __post_init__(self) -> None:
        """Take what readers use of the store."""
        self.pages, self.indexes = self.store.pages, self.store.indexes

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, *, is_lazy: bool = False, browser_options: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Services]:
        """Open all services; if `is_lazy`, browser and workers start on their first use. Raise SettingsError.

        `browser_options` are fields of `BrowserSettings` that no setting has.
        """
        async with AsyncExitStack() as stack:
            browser_settings = replace(settings.browser_settings(), **(browser_options or {}))
            for tier, path in system_diagnostics.find_unusable_paths(browser_settings).items():
                raise SettingsError(
                    f"SEARCH_MCP_{tier.value.upper()}_CHROMIUM={path}: there is no program at that path. "
                    "Correct it, or remove the setting: Chromium is then looked for."
                )
            try:
                created = Browsers(browser_settings, is_lazy=is_lazy)
            except FilterListError as error:
                raise SettingsError(f"SEARCH_MCP_FILTER_LISTS: {error}") from error
            browsers = await stack.enter_async_context(created)
            workers = await stack.enter_async_context(WorkerPool(is_lazy=is_lazy))
            store = open_store(settings)
            stack.push_async_callback(store.close)
            shared = await open_shared_state(settings)
            stack.push_async_callback(shared.close)
            yield cls(settings, browsers, workers, store, shared, stack)

    def start_soon(self) -> None:
        """Start browser and workers in the background, if they do not run, for an expected call."""
        self.browsers.start_soon(Tier.LIGHT)
        self.workers.start_soon()

    def _close_later(self, service: _T) -> _T:
        self.closing.push_async_callback(service.close)
        return service

    @cached_property
    def page_cache(self) -> PageCache:
        """Cache of pages."""
        return PageCache(self.pages, self.settings)

    @cached_property
    def _parser(self) -> DocumentParser:
        from scraper.reading.documents.ocr import Tesseract
        from scraper.reading.documents.parser import DocumentParser
        from scraper.workers.single_use import SingleUseProcesses

        return DocumentParser(self._close_later(SingleUseProcesses()), Tesseract())

    @cached_property
    def fetcher(self) -> Fetcher:
        """Reader of pages."""
        from scraper.reading.fetcher import Fetcher

        return self._close_later(
            Fetcher(self.browsers, self.workers, self.pages, self.settings, documents=self._parser, shared=self.shared)
        )

    @cached_property
    def documents(self) -> DocumentReader:
        """Reader of documents."""
        from scraper.reading.document_reader import DocumentReader

        return self._close_later(DocumentReader(self.fetcher, self._parser, self.pages, self.settings, self.shared))

    @cached_property
    def structured(self) -> StructuredReader:
        """Reader of structured data."""
        from scraper.reading.fields import StructuredReader

        return self._close_later(StructuredReader(self.fetcher.visitor, self.workers, self.settings, self.shared))

    @cached_property
    def fields(self) -> FieldReader:
        """Reader of requested fields and records."""
        from scraper.reading.fields import FieldReader, StoredRecipes

        return FieldReader(self.fetcher.visitor, self.workers, StoredRecipes(self.store.records))

    @cached_property
    def pictures(self) -> ScreenshotReader:
        """Reader of pictures of pages."""
        from scraper.reading.screenshots import ScreenshotReader

        return self._close_later(ScreenshotReader(self.fetcher.visitor))

    @cached_property
    def browsing(self) -> BrowseRunner:
        """Sessions of browsers that callers act in."""
        from scraper.reading.browsing import BrowseRunner
        from scraper.store.login_profiles import LoginProfiles

        logins = LoginProfiles(self.store.records, self.settings.data_dir, self.settings.profile_key)
        return BrowseRunner(self.browsers, self.fetcher.visitor, self.workers, logins, self.settings, self.shared)

    @cached_property
    def searcher(self) -> Searcher:
        """Search in several engines."""
        from scraper.engines.model import DEFAULT_ENGINES
        from scraper.engines.registry import ENGINES
        from scraper.engines.sources import SOURCES
        from scraper.search.searcher import Searcher

        return self._close_later(
            Searcher(
                self.browsers,
                self.workers,
                self.store.searches,
                self.settings,
                engines=ENGINES,
                default_engines=DEFAULT_ENGINES,
                sources=SOURCES,
                shared=self.shared,
            )
        )

    @cached_property
    def instant_answers(self) -> InstantAnswerClient:
        """Client of the encyclopedic index."""
        from scraper.search.engine_throttle import open_engine_throttle
        from scraper.search.instant_answers import InstantAnswerClient

        return InstantAnswerClient(self.browsers, self.settings, open_engine_throttle(self.settings, self.shared))

    @cached_property
    def site_maps(self) -> SiteMapService:
        """Maps of sites."""
        from scraper.site.site_mapper import SiteMapService

        return self._close_later(SiteMapService(self.fetcher, self.workers))

    @cached_property
    def crawls(self) -> CrawlService:
        """Crawls of sites."""
        from scraper.site.crawl_service import CrawlService

        return CrawlService(self.fetcher, self.workers, self.store.records, self.indexes)

    @cached_property
    def change_tracker(self) -> PageChangeTracker:
        """Comparison of pages with their earlier versions."""
        from scraper.site.page_change_tracker import PageChangeTracker

        return PageChangeTracker(self.fetcher, self.store.records)
