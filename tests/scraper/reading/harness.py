"""A fetcher with fake browsers, workers and cache, and two hooks for its visits."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from browsers import Browsers
from browsers import errors as browser_errors
from browsers.model import Mode, Request, Tier
from scraper import errors
from scraper.call_context import ProgressCallback
from scraper.model import Reading, ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.workers import WorkerPool
from tests.scraper.reading.fakes import CountingPages, ScriptedBrowsers, ScriptedWorkers

URL = "https://example.org/page"


class Harness:
    """A fetcher with fake browsers, workers and cache."""

    def __init__(self, client: ScriptedBrowsers | None = None, settings: Settings | None = None) -> None:
        self.client = client or ScriptedBrowsers()
        self.workers = ScriptedWorkers()
        self.pages = CountingPages()
        self.fetcher = Fetcher(
            cast(Browsers, self.client),
            cast(WorkerPool, self.workers),
            cast(PageStore, self.pages),
            settings or Settings(),
        )

    async def text(self, url: str = URL, **options: Any) -> str:
        return (await self.read(url, **options)).document.text

    async def read(self, url: str = URL, *, progress: ProgressCallback | None = None, **options: Any) -> Reading:
        return await self.fetcher.fetch(ReadRequest(url, **options), progress=progress)

    async def error(self, url: str = URL, **options: Any) -> errors.ScraperError:
        with pytest.raises(errors.ScraperError) as caught:
            await self.fetcher.fetch(ReadRequest(url, **options))
        return caught.value

    @property
    def modes(self) -> list[Mode]:
        return [request.mode for request in self.client.requests]

    @property
    def tiers(self) -> list[Tier]:
        return [request.tier for request in self.client.requests]


async def refuse(request: Request) -> None:
    raise browser_errors.BlockedAddressError("That host is not on the public internet.", url=request.url)


async def shortly(request: Request) -> None:
    await asyncio.sleep(0.1)
