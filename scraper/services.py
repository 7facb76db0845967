"""Services of a process: opened in the order of their dependencies, closed in reverse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from browsers import Browsers, BrowserSettings, system_diagnostics
from browsers.errors import FilterListError
from scraper.caching.page_cache import PageCache
from scraper.coordination import open_shared_state
from scraper.coordination.protocols import SharedState
from scraper.engines.names import DEFAULT_ENGINES
from scraper.engines.registry import ENGINES
from scraper.engines.sources.registry import SOURCES
from scraper.reading.browsing import BrowseRunner
from scraper.reading.document_reader import DocumentReader
from scraper.reading.documents.ocr import Tesseract
from scraper.reading.documents.parser import DocumentParser
from scraper.reading.fetcher import Fetcher
from scraper.reading.fields import FieldReader
from scraper.reading.screenshots import ScreenshotReader
from scraper.reading.stored_recipes import StoredRecipes
from scraper.reading.structured import StructuredReader
from scraper.search.engine_throttle import open_engine_throttle
from scraper.search.instant_answers import InstantAnswerClient
from scraper.search.searcher import Searcher
from scraper.settings import Settings, SettingsError
from scraper.site.crawl_service import CrawlService
from scraper.site.page_change_tracker import PageChangeTracker
from scraper.site.site_mapper import SiteMapService
from scraper.store.factory import Store, open_store
from scraper.store.login_profiles import LoginProfiles
from scraper.workers import WorkerPool
from scraper.workers.single_use import SingleUseProcesses


@dataclass(eq=False)
class Services:
    """Container of the services that live as long as the process."""

    settings: Settings
    browsers: Browsers
    workers: WorkerPool
    store: Store
    fetcher: Fetcher
    documents: DocumentReader
    searcher: Searcher
    structured: StructuredReader
    site_maps: SiteMapService
    crawls: CrawlService
    change_tracker: PageChangeTracker
    pictures: ScreenshotReader
    fields: FieldReader
    browsing: BrowseRunner
    shared: SharedState

    def __post_init__(self) -> None:
        """Create the services that use other services."""
        self.pages = self.store.pages
        self.indexes = self.store.indexes
        self.page_cache = PageCache(self.pages, self.settings)
        throttle = open_engine_throttle(self.settings, self.shared)
        self.instant_answers = InstantAnswerClient(self.browsers, self.settings, throttle)

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, *, is_lazy: bool = False) -> AsyncIterator[Services]:
        """Open all services; the browser starts in the background, and visits wait for it.

        If `is_lazy`, browser and workers start on their first use.

        Raises:
            SettingsError: The settings name a Chromium that does not exist, or need a library that is missing.
        """
        async with AsyncExitStack() as stack:
            browsers = await stack.enter_async_context(_create_browsers(_browser_settings(settings), is_lazy=is_lazy))
            workers = await stack.enter_async_context(WorkerPool(is_lazy=is_lazy))
            store = open_store(settings)
            stack.push_async_callback(store.close)
            shared = await open_shared_state(settings)
            stack.push_async_callback(shared.close)
            processes = SingleUseProcesses()
            stack.push_async_callback(processes.close)
            parser = DocumentParser(processes, Tesseract())
            fetcher = Fetcher(browsers, workers, store.pages, settings, documents=parser, shared=shared)
            stack.push_async_callback(fetcher.close)
            structured = StructuredReader(fetcher.visitor, workers, settings, shared)
            stack.push_async_callback(structured.close)
            documents = DocumentReader(fetcher, parser, store.pages, settings, shared)
            stack.push_async_callback(documents.close)
            searcher = Searcher(
                browsers,
                workers,
                store.searches,
                settings,
                engines=ENGINES,
                default_engines=DEFAULT_ENGINES,
                sources=SOURCES,
                shared=shared,
            )
            stack.push_async_callback(searcher.close)
            site_maps = SiteMapService(fetcher, workers)
            stack.push_async_callback(site_maps.close)
            crawls = CrawlService(fetcher, workers, store.records, store.indexes)
            tracker = PageChangeTracker(fetcher, store.records)
            pictures = ScreenshotReader(fetcher.visitor)
            stack.push_async_callback(pictures.close)
            fields = FieldReader(fetcher.visitor, workers, StoredRecipes(store.records))
            logins = LoginProfiles(store.records, settings.data_dir, settings.profile_key)
            browsing = BrowseRunner(browsers, fetcher.visitor, workers, logins, settings, shared)
            readers = (fetcher, documents, searcher, structured, site_maps, crawls, tracker, pictures, fields, browsing)
            yield cls(settings, browsers, workers, store, *readers, shared)


def _browser_settings(settings: Settings) -> BrowserSettings:
    browser_settings = settings.browser_settings()
    for tier, path in system_diagnostics.find_unusable_paths(browser_settings).items():
        raise SettingsError(
            f"SEARCH_MCP_{tier.value.upper()}_CHROMIUM={path}: there is no program at that path. "
            "Correct it, or remove the setting: Chromium is then looked for."
        )
    return browser_settings


def _create_browsers(settings: BrowserSettings, *, is_lazy: bool) -> Browsers:
    try:
        return Browsers(settings, is_lazy=is_lazy)
    except FilterListError as error:
        raise SettingsError(f"SEARCH_MCP_FILTER_LISTS: {error}") from error
