"""All services open and close together, and leave nothing behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest

from scraper.app import App
from scraper.settings import Settings
from tests.site.running import Site


@pytest.fixture
def settings(site: Site, tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, test_hosts=site.test_hosts)


def chromiums() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True) if "chrom" in child.name()}


async def is_ready(app: App) -> bool:
    for _ in range(200):
        if app.ready():
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.browser
async def test_an_app_reads_a_page_and_says_how_it_stands(settings: Settings, site: Site) -> None:
    async with App.open(settings) as app:
        reading = await app.fetcher.fetch(site.url("/static/81"))
        await app.fetcher.fetch(site.url("/static/81"))
        status = await app.status()
    assert reading.method == "http"
    assert status.ready and status.pages_under_way == 0 and status.browsers.active == 0
    assert (status.cache.hits, status.cache.pages) == (1, 1)


@pytest.mark.browser
async def test_opening_does_not_wait_for_the_browser(settings: Settings) -> None:
    async with App.open(settings) as app:
        assert not app.ready()
        assert await is_ready(app)


@pytest.mark.browser
async def test_closing_leaves_no_browser_behind(settings: Settings) -> None:
    before = chromiums()
    async with App.open(settings) as app:
        assert await is_ready(app)
        assert chromiums() > before
    assert chromiums() == before


@pytest.mark.browser
async def test_closing_ends_what_is_being_read(settings: Settings, site: Site) -> None:
    async with App.open(settings) as app:
        assert await is_ready(app)
        task = asyncio.create_task(app.fetcher.fetch(site.url("/api/hang")))
        await asyncio.sleep(0.3)
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.browser
async def test_an_operator_can_keep_no_cache(settings: Settings, site: Site, tmp_path: Path) -> None:
    async with App.open(Settings(data_dir=tmp_path, test_hosts=site.test_hosts, cache_mb=0)) as app:
        await app.fetcher.fetch(site.url("/static/82"))
        assert not (await app.fetcher.fetch(site.url("/static/82"))).cached
    assert list(tmp_path.iterdir()) == []


async def test_a_cache_that_cannot_be_kept_does_not_keep_the_app_from_opening(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    async with App.open(Settings(data_dir=tmp_path / "file")) as app:
        assert not (await app.status()).cache.usable
