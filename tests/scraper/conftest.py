"""Services that several packages of tests use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browsers import Browsers, BrowserSettings
    from scraper.reading.fetcher import Fetcher
    from scraper.workers import WorkerPool
    from tests.scraper.stored_texts import KeptApp


@pytest.fixture(scope="module")
async def workers() -> AsyncIterator[WorkerPool]:
    """Start a pool of workers."""
    from scraper.workers import WorkerPool

    async with WorkerPool() as running:
        yield running


@pytest.fixture
async def fetcher(
    browsers: Browsers, workers: WorkerPool, browser_settings: BrowserSettings, tmp_path: Path
) -> AsyncIterator[Fetcher]:
    """Return a fetcher with an empty cache and no knowledge of hosts."""
    from scraper.reading.fetcher import Fetcher
    from scraper.settings import Settings
    from scraper.store.sqlite.pages import SqlitePageStore

    pages = SqlitePageStore(tmp_path, limit_bytes=50_000_000)
    reading = Fetcher(browsers, workers, pages, Settings(test_hosts=browser_settings.test_hosts))
    yield reading
    await reading.close()
    await pages.close()


@pytest.fixture
async def texts(tmp_path: Path) -> AsyncIterator[KeptApp]:
    """Open services with an empty page cache and without a browser."""
    from tests.scraper.stored_texts import kept_app

    async with kept_app(tmp_path) as opened:
        yield opened
