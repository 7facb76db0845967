"""Services over the test site."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from browsers.login_state import LoginState
from scraper.services import Services
from scraper.settings import Settings
from scraper.store.login_profiles import LoginProfiles
from tests.site.running import Site


@pytest.fixture(scope="module")
async def app(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    """Open services with an empty cache for the tests of one module."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), test_hosts=site.test_hosts)
    async with Services.open(settings) as opened:
        yield opened


@pytest.fixture(scope="module")
async def signed_in(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    """Open services with two profiles of the caller ann on site.example: `shop`, and `stale` with an expired login."""
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("data"),
        test_hosts=site.test_hosts,
        acting="act",
        toolsets=("default", "acting"),
    )
    async with Services.open(settings) as opened:
        profiles = LoginProfiles(opened.store.records, settings.data_dir, None)
        for name, sid in (("shop", "secret-sid"), ("stale", "of-last-year")):
            cookie = {"name": "sid", "value": sid, "domain": "site.example", "path": "/", "httpOnly": True}
            state = LoginState((cookie,), {"http://site.example": {"token": "secret-token"}})
            await profiles.save("ann", name, ("site.example",), state)
        yield opened
