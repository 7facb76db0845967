"""Processes that stay running between tests are lent without what the last test left in them."""

from __future__ import annotations

import dataclasses

import psutil
import pytest

from browsers import Browsers, BrowserSettings, Tier
from browsers.chromium.process import RunningChromium
from scraper.workers import WorkerPool
from tests.browsers.visits import visit
from tests.scraper.process import until
from tests.scraper.workers import jobs
from tests.scraper.workers.processes import pids_of
from tests.site.running import Site


async def started(browsers: Browsers) -> RunningChromium:
    await browsers.start(Tier.LIGHT)
    return browsers.pool.handles[Tier.LIGHT].chromium


@pytest.mark.browser
async def test_a_browser_is_lent_again_without_contexts(browser_settings: BrowserSettings, site: Site) -> None:
    settings = dataclasses.replace(browser_settings, warm_tabs=0)
    async with Browsers(settings) as browsers:
        first = await started(browsers)
        await visit(browsers, site, "/spa/1", site_profile="a")
        assert (await first.connection.browser.send("Target.getBrowserContexts"))["browserContextIds"]
    async with Browsers(settings) as browsers:
        assert (await started(browsers)).pid == first.pid
        assert (await first.connection.browser.send("Target.getBrowserContexts"))["browserContextIds"] == []
        async with Browsers(settings) as others:
            assert (await started(others)).pid != first.pid
        first.kill()
    async with Browsers(settings) as browsers:
        assert (await started(browsers)).pid != first.pid


@pytest.mark.browser
@pytest.mark.own_processes
async def test_a_test_with_own_processes_leaves_none(browser_settings: BrowserSettings) -> None:
    async with Browsers(browser_settings) as browsers:
        process = psutil.Process((await started(browsers)).pid)
    await until(lambda: not process.is_running())


async def test_pools_share_a_fork_server_but_no_worker() -> None:
    async with WorkerPool(1) as workers:
        assert await workers.run(jobs.echo, 1) == 1
        server, worker = pids_of(workers)
    await until(lambda: not psutil.pid_exists(worker))
    async with WorkerPool(1) as workers:
        assert await workers.run(jobs.echo, 2) == 2
        assert pids_of(workers)[0] == server and pids_of(workers)[1] != worker
