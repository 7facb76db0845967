"""Pages that break off, never end or are far too large: content with a warning, or one clear error."""

from __future__ import annotations

import time

import pytest

from scraper.app import App
from scraper.errors import ScraperError, Walled
from scraper.settings import Settings
from tests.browsers.reading import MARK
from tests.site.running import Site

pytestmark = pytest.mark.browser


@pytest.fixture
def settings(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    data = str(tmp_path_factory.mktemp("data"))
    environ = {"SEARCH_MCP_DATA": data, "SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable}
    return Settings.load(environ, {})


@pytest.mark.parametrize("path", ["/short", "/reset-midway", "/endless"])
async def test_a_page_that_broke_off_is_read_with_a_warning_and_not_kept(
    settings: Settings, site: Site, path: str
) -> None:
    async with App.open(settings) as app:
        for _ in range(2):
            reading = await app.fetcher.fetch(site.url(path), render="http", deadline_s=20)
            assert reading.truncated and reading.warnings
            assert not reading.cached


@pytest.mark.parametrize("path", ["/big", "/nested/100000", "/leave", "/wide/100000", "/attributes/500000"])
async def test_a_page_beyond_all_measure_gives_its_text(settings: Settings, site: Site, path: str) -> None:
    async with App.open(settings) as app:
        reading = await app.fetcher.fetch(site.url(path), deadline_s=50)
        assert MARK.search(reading.document.text)


async def test_a_byte_a_second_ends_at_the_deadline_with_what_had_come(
    settings: Settings, site: Site
) -> None:
    started = time.monotonic()
    async with App.open(settings) as app:
        try:
            reading = await app.fetcher.fetch(site.url("/drip"), render="http", deadline_s=8)
            assert reading.truncated and reading.warnings
        except ScraperError as error:
            # Where not even a byte came in time.
            assert "drip" in str(error)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("path", ["/wall/captcha", "/wall/consent", "/wall/login", "/wall/challenge"])
async def test_a_wall_is_told_as_a_wall(settings: Settings, site: Site, path: str) -> None:
    async with App.open(settings) as app:
        with pytest.raises(Walled):
            await app.fetcher.fetch(site.url(path), deadline_s=50)
