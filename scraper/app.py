"""All services of one process: opened once, in the order in which they need each other, closed in reverse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from browsers import Browsers, BrowserSettings, diagnostics
from scraper.coordination.factory import open_shared
from scraper.coordination.protocols import SharedState
from scraper.engines.names import DEFAULTS
from scraper.engines.registry import ENGINES
from scraper.reading.comparison import ReadingComparer
from scraper.reading.documents.from_snapshot import SnapshotDocumentReader
from scraper.reading.documents.parser import Parser
from scraper.reading.documents.reader import DocumentReader
from scraper.reading.fetcher import Fetcher
from scraper.reading.page_cache_queries import Library
from scraper.reading.structured import StructuredReader
from scraper.search.instant_answers import InstantAnswers
from scraper.search.searcher import Searcher, spacing_of
from scraper.settings import Settings, SettingsError
from scraper.store.factory import Store, open_store
from scraper.workers import WorkerPool
from scraper.workers.single_use import SingleUseProcesses


class App:
    """Owner of everything that lives as long as the process."""

    def __init__(
        self,
        settings: Settings,
        browsers: Browsers,
        workers: WorkerPool,
        store: Store,
        fetcher: Fetcher,
        documents: DocumentReader,
        searcher: Searcher,
        structured: StructuredReader,
        shared: SharedState,
    ) -> None:
        self.settings = settings
        self.browsers = browsers
        self.workers = workers
        self.store = store
        self.pages = store.pages
        self.fetcher = fetcher
        self.documents = documents
        self.searcher = searcher
        self.indexes = store.indexes
        self.structured = structured
        self.shared = shared
        self.sides = ReadingComparer(fetcher, workers)
        self.library = Library(store.pages, settings)
        self.instant_answers = InstantAnswers(browsers, settings, spacing_of(settings, shared))

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator[App]:
        """Open all services; the browser starts in the background, and a visit waits for it.

        Raises:
            SettingsError: they name a Chromium that is not there, or what needs a library that is not.
        """
        async with AsyncExitStack() as stack:
            browsers = await stack.enter_async_context(Browsers(_browser_settings(settings)))
            workers = await stack.enter_async_context(WorkerPool())
            store = open_store(settings)
            stack.push_async_callback(store.close)
            pages = store.pages
            shared = await open_shared(settings)
            stack.push_async_callback(shared.close)
            shots = SingleUseProcesses()
            stack.push_async_callback(shots.close)
            parser = Parser(shots)
            reads = SnapshotDocumentReader(parser)
            fetcher = Fetcher(browsers, workers, pages, settings, documents=reads, shared=shared)
            stack.push_async_callback(fetcher.close)
            structured = StructuredReader(fetcher, workers, settings, shared)
            stack.push_async_callback(structured.close)
            documents = DocumentReader(fetcher, parser, pages, settings, shared)
            stack.push_async_callback(documents.close)
            searcher = Searcher(
                browsers, workers, store.searches, settings, engines=ENGINES, usual=DEFAULTS, shared=shared
            )
            stack.push_async_callback(searcher.close)
            yield cls(settings, browsers, workers, store, fetcher, documents, searcher, structured, shared)


def _browser_settings(settings: Settings) -> BrowserSettings:
    chosen = settings.browser_settings()
    for tier, path in diagnostics.find_unusable_paths(chosen).items():
        raise SettingsError(
            f"SEARCH_MCP_{tier.value.upper()}_CHROMIUM={path}: there is no program at that path. "
            "Correct it, or remove the setting: Chromium is then looked for."
        )
    return chosen
