"""A browser has one identity: pages, frames, workers and request headers agree, and it is true."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from browsers import Browsers, BrowserSettings, Mode, Request, Snapshot, Tier
from browsers.chromium.locate import find_chromium, read_version
from browsers.identity.fingerprint import BrowserIdentity
from tests.browsers.chromium.machines import program
from tests.browsers.identity.observed_identity import HOST, URL, portrait, served
from tests.browsers.visits import WAITING

pytestmark = pytest.mark.browser

PLACES = ("page", "frame", "worker", "shared", "service")
IN_THE_TAB = ("page", "frame", "worker")
EVERYWHERE = ("userAgent", "appVersion", "platform", "language", "timeZone", "offset", "locale", "cores", "mobile")
SETTINGS = BrowserSettings(timezone="America/New_York", ignore_certificate_errors=True)
BOTH_TIERS = pytest.mark.parametrize("tier", list(Tier))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def portraits() -> AsyncIterator[dict[Tier, dict[str, Any]]]:
    """Return the properties that each tier shows, read once."""
    async with served() as port:
        settings = dataclasses.replace(SETTINGS, test_hosts=((HOST, "127.0.0.1", port),))
        async with Browsers(settings) as browsers:
            yield {tier: await _told(browsers, tier) for tier in Tier}


async def _told(browsers: Browsers, tier: Tier, language: str = "en-US") -> dict[str, Any]:
    request = Request(URL, mode=Mode.RENDER, tier=tier, wait="#told", language=language, limits=WAITING, deadline_s=60)
    return portrait((await browsers.visit(request)).html)


def _hint_list(brands: list[dict[str, str]]) -> str:
    return ", ".join(f'"{brand["brand"]}";v="{brand["version"]}"' for brand in brands)


@BOTH_TIERS
async def test_pages_frames_and_workers_show_the_same_identity(
    portraits: dict[Tier, dict[str, Any]], tier: Tier
) -> None:
    observed = portraits[tier]
    for fact in EVERYWHERE:
        assert len({str(observed[place][fact]) for place in PLACES}) == 1, fact
    for fact in ("languages", "brands", "hints", "hintPlatform"):
        assert len({str(observed[place][fact]) for place in IN_THE_TAB}) == 1, fact


async def test_the_light_tier_has_the_objects_of_a_desktop(portraits: dict[Tier, dict[str, Any]]) -> None:
    light, full = (portraits[tier]["desktop"] for tier in (Tier.LIGHT, Tier.FULL))
    assert light == full and len(light["plugins"]) == 5 and light["speed"] and not light["late"] and not light["denied"]


async def _is_not_enough(_snapshot: Snapshot) -> bool:
    return False


async def test_a_page_that_was_judged_before_it_renders_has_them_too() -> None:
    async with served() as port:
        settings = dataclasses.replace(SETTINGS, test_hosts=((HOST, "127.0.0.1", port),))
        async with Browsers(settings) as browsers:
            for _ in range(2):
                request = Request(URL, mode=Mode.AUTO, wait="#told", limits=WAITING, deadline_s=60, site_profile="site")
                snapshot = await browsers.visit(request, _is_not_enough)
                assert snapshot.rendered and portrait(snapshot.html)["desktop"]["chrome"]


async def test_shared_and_service_workers_of_the_full_tier_agree_on_brands_and_languages(
    portraits: dict[Tier, dict[str, Any]],
) -> None:
    observed = portraits[Tier.FULL]
    for fact in ("brands", "languages"):
        assert len({str(observed[place][fact]) for place in PLACES}) == 1, fact


async def test_branded_chrome_as_light_tier_keeps_its_brand(tmp_path: Path) -> None:
    chromium = find_chromium(Tier.LIGHT, None)
    assert chromium is not None
    called = f'[ "$1" = --version ] && {{ echo Google Chrome {read_version(chromium)}; exit 0; }}'
    chrome = program(tmp_path / "chrome", f'{called}\nexec "{chromium.executable}" "$@"')
    async with served() as port:
        hosts = ((HOST, "127.0.0.1", port),)
        settings = dataclasses.replace(SETTINGS, light_executable=str(chrome), test_hosts=hosts)
        async with Browsers(settings) as browsers:
            observed = await _told(browsers, Tier.LIGHT)
    assert "Google Chrome" in {brand["brand"] for brand in observed["page"]["brands"]}
    assert '"Google Chrome"' in observed["document"]["sec-ch-ua"]


@BOTH_TIERS
async def test_headers_agree_with_scripts(portraits: dict[Tier, dict[str, Any]], tier: Tier) -> None:
    observed = portraits[tier]
    page = observed["page"]
    for headers in (observed["document"], page["headers"], observed["frame"]["headers"]):
        assert headers["user-agent"] == page["userAgent"]
        assert headers["accept-language"] == "en-US,en;q=0.9"
        assert headers["sec-ch-ua"] == _hint_list(page["brands"])
        assert headers["sec-ch-ua-platform"] == f'"{page["hintPlatform"]}"'
    full_list = _hint_list(page["hints"]["fullVersionList"])
    assert page["headers"]["sec-ch-ua-full-version-list"] == full_list
    for place in PLACES:
        assert observed[place]["headers"]["user-agent"] == page["userAgent"]
        assert observed[place]["headers"]["accept-language"].startswith("en-US,en")


@BOTH_TIERS
async def test_automation_is_not_visible(portraits: dict[Tier, dict[str, Any]], tier: Tier) -> None:
    observed = portraits[tier]
    assert not any(observed[place]["webdriver"] for place in PLACES)
    for place in ("document", *IN_THE_TAB):
        assert "Headless" not in str(observed[place])
    assert "Headless" not in observed["shared"]["userAgent"] + observed["service"]["userAgent"]


@BOTH_TIERS
async def test_time_zone_and_language_follow_the_settings(portraits: dict[Tier, dict[str, Any]], tier: Tier) -> None:
    page = portraits[tier]["page"]
    assert page["timeZone"] == "America/New_York"
    assert page["offset"] == 240
    assert page["languages"] == ["en-US", "en"]


@BOTH_TIERS
async def test_window_is_not_larger_than_its_screen(portraits: dict[Tier, dict[str, Any]], tier: Tier) -> None:
    window = portraits[tier]["window"]
    sizes = [window[name] for name in ("inner", "outer", "available", "screen")]
    for smaller, larger in itertools.pairwise(sizes):
        assert smaller[0] <= larger[0]
        assert smaller[1] <= larger[1]


async def test_identity_equals_that_of_an_unmodified_browser() -> None:
    found = find_chromium(Tier.FULL, None)
    if found is None:
        pytest.skip("no full Chromium on this machine")
    async with served() as port, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found.executable,
            args=[f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{port}", "--ignore-certificate-errors"],
        )
        try:
            page = await browser.new_page(ignore_https_errors=True)
            await page.goto(URL)
            await page.wait_for_selector("#told", state="attached", timeout=60_000)
            observed = portrait(await page.content())
        finally:
            await browser.close()
    claimed = BrowserIdentity.of(browser.version, Tier.FULL, BrowserSettings())
    metadata = claimed.override()["userAgentMetadata"]
    page_says = observed["page"]
    assert claimed.user_agent == page_says["userAgent"].replace("HeadlessChrome", "Chrome")
    assert claimed.override()["platform"] == page_says["platform"]
    assert metadata["brands"] == page_says["brands"]
    assert _hint_list(metadata["brands"]) == observed["document"]["sec-ch-ua"]
    hints = page_says["hints"]
    assert metadata["fullVersion"] == hints["uaFullVersion"]
    for name in (
        "architecture",
        "bitness",
        "formFactors",
        "fullVersionList",
        "model",
        "platform",
        "platformVersion",
        "mobile",
        "wow64",
    ):
        assert metadata[name] == hints[name], name
