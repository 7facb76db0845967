"""Truncated, endless and far too large pages: content with a warning, or one clear error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from scraper.errors import BlockedBySiteError, ScraperError
from scraper.model import ReadRequest
from scraper.services import Services
from scraper.settings import Settings
from tests.browsers.visits import MARK
from tests.growth import thorough
from tests.scraper.process import START_S, until
from tests.site.running import Site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def settings(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    data = str(tmp_path_factory.mktemp("data"))
    environ = {"SEARCH_MCP_DATA": data, "SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable}
    return Settings.load(environ, {})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(settings: Settings) -> AsyncIterator[Services]:
    """Open the app and wait for its browser, so that its start uses up no deadline."""
    async with Services.open(settings) as opened:
        await until(lambda: opened.browsers.status().ready, limit_s=START_S)
        yield opened


@pytest.mark.parametrize("path", ["/short", "/reset-midway", "/endless"])
async def test_an_incomplete_page_is_read_with_a_warning_and_not_stored(app: Services, site: Site, path: str) -> None:
    for _ in range(2):
        reading = await app.fetcher.fetch(ReadRequest(site.url(path), render="http", deadline_s=8))
        assert reading.truncated and reading.warnings
        assert not reading.cached


@pytest.mark.parametrize(
    "path", ["/big", "/leave", *map(thorough, ("/nested/100000", "/wide/100000", "/attributes/500000"))]
)
async def test_a_huge_page_gives_its_text(app: Services, site: Site, path: str) -> None:
    reading = await app.fetcher.fetch(ReadRequest(site.url(path), deadline_s=240))
    assert MARK.search(reading.document.text)


async def test_a_slow_page_ends_at_the_deadline_with_its_received_part(app: Services, site: Site) -> None:
    async with asyncio.timeout(START_S):
        try:
            reading = await app.fetcher.fetch(ReadRequest(site.url("/drip"), render="http", deadline_s=8))
            assert reading.truncated and reading.warnings
        except ScraperError as error:
            # Not even one byte came in time.
            assert "drip" in str(error)


@pytest.mark.parametrize("path", ["/wall/captcha", "/wall/login", *map(thorough, ("/wall/consent", "/wall/challenge"))])
async def test_a_block_page_is_reported_as_blocked(app: Services, site: Site, path: str) -> None:
    with pytest.raises(BlockedBySiteError):
        await app.fetcher.fetch(ReadRequest(site.url(path), deadline_s=240))


async def test_content_behind_a_consent_dialog_is_read_after_its_refusal(app: Services, site: Site) -> None:
    reading = await app.fetcher.fetch(ReadRequest(site.url("/wall/consent-gate"), deadline_s=240))
    assert "CHOICE Reject" in reading.document.text and MARK.search(reading.document.text)
    assert any('was refused ("Reject all")' in warning for warning in reading.warnings)
