"""All services open and close together, and leave no process behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import psutil
import pytest

from browsers import Tier
from browsers.chromium.process import launch_chromium
from browsers.pool import browser_pool
from scraper import errors
from scraper.model import Reading, ReadRequest
from scraper.services import Services
from scraper.settings import Settings
from tests.scraper.process import START_S, alive, chromium_of, until
from tests.scraper.workers.processes import pids_of
from tests.site.running import Site


@pytest.fixture
def settings(site: Site, tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, test_hosts=site.test_hosts)


async def ready(app: Services) -> None:
    await until(lambda: app.browsers.status().ready, limit_s=START_S)


@pytest.mark.browser
async def test_services_read_a_page_and_report_their_status(settings: Settings, site: Site) -> None:
    async with Services.open(settings) as app:
        reading = await app.fetcher.fetch(ReadRequest(site.url("/static/81")))
        await app.fetcher.fetch(ReadRequest(site.url("/static/81")))
        browsers, cache = app.browsers.status(), await app.pages.stats()
        assert app.fetcher.in_flight == 0
    assert reading.method == "http"
    assert browsers.ready and browsers.active == 0
    assert (cache.hits, cache.pages) == (1, 1)


@pytest.mark.browser
@pytest.mark.own_processes
async def test_opening_does_not_wait_for_the_browser(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = asyncio.Event()

    async def held(*order: Any, **how: Any) -> Any:
        await opened.wait()
        return await launch_chromium(*order, **how)

    monkeypatch.setattr(browser_pool, "launch_chromium", held)
    async with Services.open(settings) as app:
        assert not app.browsers.status().ready
        opened.set()
        await ready(app)


@pytest.mark.browser
@pytest.mark.own_processes
async def test_lazy_services_start_browser_and_workers_with_the_first_page(settings: Settings, site: Site) -> None:
    async with Services.open(settings, is_lazy=True) as app:
        await app.page_cache.search("tides")
        assert app.browsers.status().browsers == () and pids_of(app.workers) == ()
        assert (await app.fetcher.fetch(ReadRequest(site.url("/static/82")))).method == "http"
        assert app.browsers.status().browsers and pids_of(app.workers)


@pytest.mark.browser
@pytest.mark.own_processes
async def test_closing_ends_the_browser(settings: Settings) -> None:
    async with Services.open(settings) as app:
        await ready(app)
        # Check only this app's processes: browsers that other tests share may start others.
        browser = psutil.Process(app.browsers.pool.handles[Tier.LIGHT].chromium.pid)
        started = [browser, *chromium_of(browser)]
        assert len(started) > 1
    await until(lambda: alive(started) == [])


@pytest.mark.browser
async def test_closing_cancels_running_reads(settings: Settings, site: Site) -> None:
    async with Services.open(settings) as app:
        await ready(app)
        task = asyncio.create_task(app.fetcher.fetch(ReadRequest(site.url("/api/hang?closing=1"), deadline_s=300)))
        await until(lambda: site.open("/api/hang?closing=1"))
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.browser
async def test_a_cached_private_page_is_refused_when_its_network_is_no_longer_allowed(
    site: Site, tmp_path: Path
) -> None:
    url = site.direct("/static/83")
    async with Services.open(Settings(data_dir=tmp_path, allow_nets=("127.0.0.0/8",))) as app:
        await app.fetcher.fetch(ReadRequest(url))
        assert (await app.fetcher.fetch(ReadRequest(url))).cached
    async with Services.open(Settings(data_dir=tmp_path)) as app:
        with pytest.raises(errors.PrivateAddressError):
            await app.fetcher.fetch(ReadRequest(url))


@pytest.mark.browser
async def test_a_full_queue_is_an_error_with_a_retry_time(site: Site, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, test_hosts=site.test_hosts, peek_slots=1, max_slots=1, queue_limit=2)
    async with Services.open(settings) as app:
        await ready(app)
        # Hold the only slot until all calls have arrived, however slow they are.
        async with app.browsers._peeks.acquire("another", "held.example", url="", wait_s=60):
            urls = [site.url(f"/static/{number}") for number in range(200, 220)]
            calls = [asyncio.create_task(app.fetcher.fetch(ReadRequest(url, deadline_s=120))) for url in urls]
            await until(lambda: sum(call.done() for call in calls) == 18, limit_s=START_S)
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, errors.OverloadedError)]
    assert len(refused) == 18 and all(error.retry_after_s >= 1 for error in refused)
    assert sum(isinstance(outcome, Reading) for outcome in outcomes) == 2


@pytest.mark.browser
async def test_a_batch_larger_than_the_queue_waits_for_itself(site: Site, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, test_hosts=site.test_hosts, peek_slots=1, queue_limit=2)
    async with Services.open(settings) as app:
        outcomes = await app.fetcher.fetch_batch(
            [site.url(f"/static/{number}") for number in range(220, 230)], deadline_s=240
        )
    assert all(isinstance(outcome, Reading) for outcome in outcomes)


@pytest.mark.browser
async def test_the_cache_can_be_disabled(settings: Settings, site: Site, tmp_path: Path) -> None:
    async with Services.open(Settings(data_dir=tmp_path, test_hosts=site.test_hosts, cache_mb=0)) as app:
        await app.fetcher.fetch(ReadRequest(site.url("/static/82")))
        assert not (await app.fetcher.fetch(ReadRequest(site.url("/static/82")))).cached
    assert list(tmp_path.iterdir()) == []


async def test_services_open_without_a_usable_cache(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    async with Services.open(Settings(data_dir=tmp_path / "file")) as app:
        assert not (await app.pages.stats()).usable
