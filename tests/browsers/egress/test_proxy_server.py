"""A browser with our switches reaches nothing if its listener is closed or was never set."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Error, async_playwright

from browsers import BrowserSettings, Tier
from browsers.chromium import locate
from browsers.chromium.switches import plan_launch
from browsers.egress.proxy_server import EgressProxy
from browsers.identity.fingerprint import BrowserIdentity
from tests.browsers.egress.wire import hello, served
from tests.browsers.visits import TIERS
from tests.hostile.canary import Canary

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("tier", TIERS)]

HOLD_MS = 500


@asynccontextmanager
async def started(tier: Tier, settings: BrowserSettings) -> AsyncIterator[Browser]:
    """Start a browser with the switches of the product."""
    found = locate.find_chromium(tier, None)
    if found is None:
        pytest.skip(f"no Chromium of the {tier} tier")
    how = plan_launch(tier, BrowserIdentity.of(locate.read_version(found), tier, settings), settings)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found.executable,
            args=list(how.args),
            ignore_default_args=list(how.ignore_default_args),
            env=dict(how.env),
            chromium_sandbox=False,
        )
        try:
            yield browser
        finally:
            await browser.close()


async def test_context_without_a_listener_has_no_network(tier: Tier) -> None:
    async with Canary() as canary, started(tier, BrowserSettings()) as browser:
        page = await (await browser.new_context()).new_page()
        for host in ("127.0.0.1", "localhost", "[::1]"):
            with pytest.raises(Error, match="ERR_PROXY_CONNECTION_FAILED"):
                await page.goto(f"http://{host}:{canary.port}/")
        assert canary.contacts == []


async def test_page_with_a_closed_listener_has_no_network(tier: Tier) -> None:
    async with Canary() as canary, served(hello) as port:
        settings = BrowserSettings(test_hosts=(("www.example.com", "127.0.0.1", port),))
        egress = EgressProxy(settings)
        listener = await egress.open_listener()
        listener.begin_visit(1 << 20)
        async with started(tier, settings) as browser:
            context = await browser.new_context(proxy={"server": listener.proxy_server})
            page = await context.new_page()
            await page.goto("http://www.example.com/")
            await egress.close()
            near = f"http://127.0.0.1:{canary.port}/"
            for url in (near, "http://www.example.com/again"):
                tried = f"fetch({url!r}, {{mode: 'no-cors'}}).then(() => 'reached', () => 'failed')"
                assert await page.evaluate(tried) == "failed"
            await page.wait_for_timeout(HOLD_MS)
            with pytest.raises(Error, match="ERR_PROXY_CONNECTION_FAILED"):
                await page.goto(near)
        assert canary.contacts == []
