"""Fake searcher and fetcher whose results and pages the test chooses."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from scraper import errors
from scraper.engines.model import SearchAnswer, SearchResult
from scraper.model import Reading, ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.search.argument_validation import SearchRequest
from scraper.search.searcher import Searcher
from tests.scraper.render.readings import READ_AT, reading


def url_of(name: str) -> str:
    return f"https://{name}.example/page"


class Listed:
    """A searcher with fixed results that records its requests."""

    def __init__(self, *names: str, error: errors.ScraperError | None = None, **more: Any) -> None:
        self.asked: list[SearchRequest] = []
        self._names = names
        self._error = error
        self._more = more

    @property
    def searcher(self) -> Searcher:
        return cast(Searcher, self)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.asked.append(request)
        if self._error is not None:
            raise self._error
        results = tuple(
            SearchResult(f"About {name}", url_of(name), f"All of {name}.", ("mojeek",), 1 / rank)
            for rank, name in enumerate(self._names, start=1)
        )
        return SearchAnswer(
            request.query, results[: request.max_results], ("mojeek",), retrieved_at=READ_AT, **self._more
        )


class Library:
    """A fetcher of pages by name; an unknown name fails, a page that is None never arrives."""

    def __init__(self, pages: Mapping[str, str | None]) -> None:
        self.asked: list[ReadRequest] = []
        self._pages = {url_of(name): text for name, text in pages.items()}

    @property
    def fetcher(self) -> Fetcher:
        return cast(Fetcher, self)

    async def fetch(self, request: ReadRequest, progress: Any = None) -> Reading:
        self.asked.append(request)
        url = request.url
        if url not in self._pages:
            raise errors.NoContentError("Nothing there.", target=url, next_step="Try another one.")
        text = self._pages[url]
        if text is None:
            await asyncio.Event().wait()
        return reading(text or "", url=url)

    async def fetch_batch(
        self, urls: Sequence[str], *, progress: Any = None, **how: Any
    ) -> list[Reading | errors.ScraperError]:
        outcomes: list[Reading | errors.ScraperError] = []
        for url in urls:
            try:
                outcomes.append(await self.fetch(ReadRequest(url, **how)))
            except errors.ScraperError as error:
                outcomes.append(error)
        return outcomes
