"""The page for people conforms to WCAG 2.2 AA in both color schemes, on narrow and wide windows."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from scraper.tools import registry
from tests.clients.axe import SCHEMES, WIDTHS, violations
from tests.clients.environments import AXE
from tests.clients.required import require_environment
from tests.scraper.server.playground.conftest import read
from tests.site.running import Site

pytestmark = [pytest.mark.browser, pytest.mark.full_size]


async def test_every_part_of_the_page_is_accessible(page: Page, site: Site) -> None:
    require_environment(AXE)
    await expect(page.locator("form[data-tool]")).to_have_count(len(registry.tools()))
    assert await violations(page) == []
    await page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    await page.locator("#search [name=query]").fill("tides")
    await page.locator("#search form button").click()
    await expect(page.locator("#results li").first).to_be_visible()
    await page.locator("form[data-tool=engines] button").click()
    await expect(page.get_by_label("Answer of engines", exact=True)).to_be_visible()
    await read(page, site.url("/rich"))
    await expect(page.locator("#rendered table")).to_be_visible()
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            assert await violations(page) == [], (scheme, width)
            assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_an_inaccessible_page_is_noticed(page: Page) -> None:
    require_environment(AXE)
    await page.locator("#sides button").evaluate("button => button.textContent = ''")
    (found,) = await violations(page)
    assert found.startswith("button-name")
