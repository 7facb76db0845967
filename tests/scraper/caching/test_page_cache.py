"""A stale page is revalidated instead of read again if its site supports conditional requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from browsers import Browsers, BrowserSettings
from scraper.model import REFRESH, CachePolicy, DocumentRequest, Reading, ReadRequest
from scraper.reading.document_reader import DocumentReader
from scraper.reading.documents.parser import DocumentParser
from scraper.reading.fetcher import Fetcher
from scraper.settings import Settings
from scraper.store.sqlite.pages import SqlitePageStore
from scraper.workers import WorkerPool
from scraper.workers.single_use import SingleUseProcesses
from tests.site.running import Site

pytestmark = pytest.mark.browser

OLD = 1e-6
"""Seconds. Every cached page is older than that."""


def content(reading: Reading) -> str:
    return reading.document.markdown


@pytest.mark.parametrize("path", ["/etag/renewed", "/modified/renewed"])
@pytest.mark.parametrize("render", ["auto", "http", "browser"])
async def test_a_page_that_has_not_changed_is_renewed_without_being_served_again(
    fetcher: Fetcher, site: Site, path: str, render: str
) -> None:
    url = site.url(f"{path}-{render}")
    first = await fetcher.fetch(ReadRequest(url, render=render))
    again = await fetcher.fetch(ReadRequest(url, render=render, cache=CachePolicy(max_age_s=OLD)))
    assert "SERVED-1" in content(first) and content(again) == content(first)
    assert again.cached and again.retrieved_at > first.retrieved_at and again.method == first.method
    kept = await fetcher.fetch(ReadRequest(url, render=render, cache=CachePolicy(max_age_s=60.0)))
    assert kept.cached and kept.retrieved_at == again.retrieved_at


async def test_a_refresh_loads_again(fetcher: Fetcher, site: Site) -> None:
    url = site.url("/etag/anew")
    await fetcher.fetch(ReadRequest(url))
    assert "SERVED-2" in content(await fetcher.fetch(ReadRequest(url, cache=REFRESH)))
    assert "SERVED-3" in content(await fetcher.fetch(ReadRequest(url, cache=REFRESH)))


async def test_a_page_without_a_validator_is_read_again(fetcher: Fetcher, site: Site) -> None:
    url = site.url("/fresh/60/validator")
    await fetcher.fetch(ReadRequest(url))
    again = await fetcher.fetch(ReadRequest(url, cache=CachePolicy(max_age_s=OLD)))
    assert "SERVED-2" in content(again) and not again.cached


async def test_a_changed_page_replaces_the_stored_one(fetcher: Fetcher, site: Site) -> None:
    url = site.url("/changing-etag/revalidated")
    first = await fetcher.fetch(ReadRequest(url))
    again = await fetcher.fetch(ReadRequest(url, cache=CachePolicy(max_age_s=OLD)))
    assert "SERVED-1" in content(first) and "SERVED-2" in content(again) and not again.cached
    assert again.etag != first.etag


async def test_every_page_of_a_batch_is_revalidated(
    browsers: Browsers, workers: WorkerPool, browser_settings: BrowserSettings, site: Site, tmp_path: Path
) -> None:
    urls = [site.url(f"/etag/batch-{number}") for number in range(3)]
    settings = Settings(test_hosts=browser_settings.test_hosts, cache_ttl_h=OLD / 1e6)
    pages = SqlitePageStore(tmp_path, limit_bytes=50_000_000)
    reading = Fetcher(browsers, workers, pages, settings)
    first, again = await reading.fetch_batch(urls), await reading.fetch_batch(urls)
    await reading.close()
    await pages.close()
    for one, two in zip(first, again, strict=True):
        assert isinstance(one, Reading) and isinstance(two, Reading)
        assert two.cached and two.retrieved_at > one.retrieved_at and content(two) == content(one)


async def test_a_page_behind_a_redirect_is_renewed_too(fetcher: Fetcher, site: Site) -> None:
    url = site.url("/redirect-to/etag/behind")
    first = await fetcher.fetch(ReadRequest(url))
    again = await fetcher.fetch(ReadRequest(url, cache=CachePolicy(max_age_s=OLD)))
    assert again.cached and again.retrieved_at > first.retrieved_at and content(again) == content(first)


async def test_that_another_page_has_not_changed_renews_nothing(fetcher: Fetcher, site: Site) -> None:
    url = site.url("/moving/revalidated")
    first = await fetcher.fetch(ReadRequest(url))
    again = await fetcher.fetch(ReadRequest(url, cache=CachePolicy(max_age_s=OLD)))
    assert first.url.endswith("/modified/revalidated-1") and not again.cached
    assert not again.url.endswith("/modified/revalidated-1") and "SERVED-1" in content(again)


async def test_a_document_that_has_not_changed_is_renewed_by_its_weak_tag(
    browsers: Browsers, workers: WorkerPool, browser_settings: BrowserSettings, site: Site, tmp_path: Path
) -> None:
    settings = Settings(test_hosts=browser_settings.test_hosts, cache_ttl_h=OLD / 1e6)
    pages = SqlitePageStore(tmp_path, limit_bytes=50_000_000)
    wanted = DocumentRequest(site.url("/report/weak"))
    readings = []
    shots = SingleUseProcesses(1)
    fetcher = Fetcher(browsers, workers, pages, settings)
    for _ in range(2):
        documents = DocumentReader(fetcher, DocumentParser(shots), pages, settings)
        readings.append(await documents.read(wanted))
        await documents.close()
    for service in (fetcher, shots, pages):
        await service.close()
    first, again = readings
    assert first.etag == 'W/"weak"' and "here" in content(first) and not first.cached
    assert again.cached and content(again) == content(first) and again.retrieved_at > first.retrieved_at
    assert again.last_modified is not None, "what the answer says of the page is kept"
