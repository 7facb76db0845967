"""Read with crawl4ai 0.9.5: `arun`, or `arun_many` for a batch; caches are bypassed.

`--text` is its cheapest browser: text mode (no images, no fonts) and light mode. `--avoid-ads` blocks advertising.
"""
# mypy: ignore-errors

import sys
from contextlib import asynccontextmanager

from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig, SemaphoreDispatcher

from benchmarks.peers.reading_loop import Reader, answer


class Crawl4aiReader(Reader):
    def __init__(self, crawler):
        self._crawler = crawler

    async def read(self, url, how):
        return _text(await self._crawler.arun(url, config=_config()))

    async def read_together(self, urls, how, at_once):
        dispatcher = SemaphoreDispatcher(semaphore_count=at_once)
        results = await self._crawler.arun_many(list(urls), config=_config(), dispatcher=dispatcher)
        texts = {result.url: _text(result) for result in results}
        return [texts.get(url, "") for url in urls]


@asynccontextmanager
async def opened():
    options = {"text_mode": True, "light_mode": True} if "--text" in sys.argv else {}
    if "--avoid-ads" in sys.argv:
        options["avoid_ads"] = True
    async with AsyncWebCrawler(config=BrowserConfig(headless=True, verbose=False, **options)) as crawler:
        yield Crawl4aiReader(crawler)


def _config():
    return CrawlerRunConfig(cache_mode=CacheMode.BYPASS, verbose=False)


def _text(result):
    if not result.success:
        raise RuntimeError(result.error_message)
    return str(result.markdown)


if __name__ == "__main__":
    answer(opened)
