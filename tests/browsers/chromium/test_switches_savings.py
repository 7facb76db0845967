"""Work that the light tier skips, and pages that need it and are complete anyway."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from aiohttp import web

from browsers import Browsers, BrowserSettings, Mode, Request, Snapshot, Tier, VisitLimits
from tests.browsers.visits import TIERS, WAITING

pytestmark = pytest.mark.browser

HOST = "spared.example"
DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
TEXT = "<p>The text that a reader came for, which is long enough to be taken for a page of its own right.</p>"
WRITTEN = f'<main id="m">{TEXT}'
"""Marker as a script inserts it; in the script itself it is written differently."""
PAGES = {
    # Pages detect supported image formats in this way.
    "/format-test": f"""<main id=m></main><script>
        const test = new Image();
        test.onload = () => document.getElementById("m").innerHTML = `{TEXT * 4}`;
        test.src = "{DOT}";</script>""",
    "/images": f"""<main>{TEXT * 4}<img src=/one.png alt=one>
        <div style='background:url(/two.png)'>x</div></main>""",
    "/pictures": f"""<main>{TEXT * 4}<img src=/one.png alt=one>
        <div style='background:url(/two.png)'>x</div></main><script>
        const look = setInterval(() => {{
          const loaded = performance.getEntriesByType("resource").map(entry => new URL(entry.name).pathname);
          if (!["/one.png", "/two.png"].every(path => loaded.includes(path))) return;
          clearInterval(look);
          document.querySelector("main").id = "loaded";
        }}, 20);</script>""",
    "/fonts": f"""<style>@font-face {{font-family: Own; src: url(/own.woff2)}} * {{font-family: Own}}</style>
        <p>{TEXT}</p><main id=m></main><script>
        document.fonts.load("1em Own").catch(() => 0)
          .then(() => document.fonts.ready).then(() => document.getElementById("m").innerHTML = `{TEXT * 4}`);
        </script>""",
    "/windows": f"""<main>{TEXT * 4}<p id=m></p></main><script>
        const made = [1, 2, 3].filter(number => window.open("/opened" + number));
        document.getElementById("m").textContent = made.length + " windows opened";</script>""",
}


@dataclass
class Visits:
    """The browsers and the requests that the site received through them."""

    browsers: Browsers
    requests: Counter[str] = field(default_factory=Counter)

    async def read(self, path: str, tier: Tier, wait: str | None = None) -> Snapshot:
        limits = WAITING if wait else VisitLimits()
        url = f"http://{HOST}{path}"
        request = Request(url, mode=Mode.RENDER, tier=tier, wait=wait, limits=limits, deadline_s=60)
        return await self.browsers.visit(request)


@pytest_asyncio.fixture(loop_scope="session")
async def visits() -> AsyncIterator[Visits]:
    requests: Counter[str] = Counter()

    async def answer(request: web.Request) -> web.Response:
        requests[request.path] += 1
        page = PAGES.get(request.path)
        if page is None:
            raise web.HTTPNotFound
        return web.Response(text=f"<!doctype html><title>x</title>{page}", content_type="text/html")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    try:
        async with Browsers(BrowserSettings(test_hosts=((HOST, "127.0.0.1", port),))) as browsers:
            yield Visits(browsers, requests)
    finally:
        async with asyncio.timeout(60):
            await runner.cleanup()


async def test_light_tier_skips_images_fonts_and_windows(visits: Visits) -> None:
    for path in ("/images", "/fonts", "/windows"):
        assert "a reader came for" in (await visits.read(path, Tier.LIGHT)).html
    assert set(visits.requests) == {"/images", "/fonts", "/windows"}


async def test_urls_of_skipped_images_stay_in_the_page(visits: Visits) -> None:
    html = (await visits.read("/images", Tier.LIGHT)).html
    assert '<img src="/one.png" alt="one">' in html


async def test_page_that_waits_for_an_image_in_its_own_text_is_read(visits: Visits) -> None:
    assert (await visits.read("/format-test", Tier.LIGHT)).html.count(WRITTEN) == 1


async def test_page_that_waits_for_a_skipped_font_is_read(visits: Visits) -> None:
    assert (await visits.read("/fonts", Tier.LIGHT)).html.count(WRITTEN) == 1


@pytest.mark.parametrize("tier", TIERS)
async def test_popups_are_blocked(visits: Visits, tier: Tier) -> None:
    assert "0 windows opened" in (await visits.read("/windows", tier)).html
    assert not [path for path in visits.requests if path.startswith("/opened")]


async def test_full_tier_loads_images_and_fonts(visits: Visits) -> None:
    # No page waits for images: this one marks when they are loaded.
    await visits.read("/pictures", Tier.FULL, wait="#loaded")
    assert {"/one.png", "/two.png"} <= set(visits.requests)
