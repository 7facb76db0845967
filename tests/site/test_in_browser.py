"""The pages that report on a browser find existing data, so that "nothing found" has a meaning."""

from __future__ import annotations

import asyncio
import contextlib
import re

import pytest
from playwright.async_api import Browser, Error, Frame, Page

from tests.site.prose import marks_found
from tests.site.running import Site

pytestmark = pytest.mark.browser

PATIENCE_MS = 60_000
"""Milliseconds. Far longer than any step takes, however busy the machine is."""

KINDS = {
    "cookie-header",
    "cookie-script",
    "local-storage",
    "session-storage",
    "window-name",
    "indexed-db",
    "cache-storage",
    "service-worker",
    "http-cache",
}
NEED_TLS = {"service-worker", "cache-storage"}


async def _text(frame: Frame) -> str:
    """Return the text of a frame, or nothing while it navigates."""
    with contextlib.suppress(Error):
        return await frame.inner_text("body")
    return ""


async def remembered(page: Page, url: str) -> dict[str, str]:
    """Return the report of a memory page: kind -> FOUND, CLEAN or ABSENT."""
    await page.goto(url, timeout=PATIENCE_MS)
    await page.get_by_text("REPORT-DONE").wait_for(timeout=PATIENCE_MS)
    text = await page.inner_text("main")
    return {kind: word for word, kind in re.findall(r"(FOUND|CLEAN|ABSENT)-(\S+)", text)}


async def test_memory_pages_find_all_data_of_an_earlier_visit(plain_browser: Browser, site: Site) -> None:
    # Service workers require TLS; the HTTP cache stores nothing received with an untrusted certificate.
    for host, kinds in (("secure.example", KINDS - {"http-cache"}), ("site.example", KINDS - NEED_TLS)):
        page = await plain_browser.new_page(ignore_https_errors=True)
        url = site.url("/memory/kept", host)
        first = await remembered(page, url)
        assert {kind for kind in kinds if first[kind] != "CLEAN"} == set()
        await page.goto(site.url("/plain", host))
        second = await remembered(page, url)
        assert {kind for kind in kinds if second[kind] != "FOUND"} == set()
        await page.close()


async def test_memory_pages_find_nothing_in_a_new_context(plain_browser: Browser, site: Site) -> None:
    for _ in range(2):
        page = await plain_browser.new_page(ignore_https_errors=True)
        report = await remembered(page, site.url("/memory/new", "secure.example"))
        assert "FOUND" not in report.values()
        await page.close()


@pytest.mark.thorough
async def test_cross_site_frames_and_script_pages_show_all_their_marks(plain_browser: Browser, site: Site) -> None:
    for path in ("/frames", "/frames-nested", "/spa/1", "/socket", "/events", "/challenge", "/slots"):
        wanted = site.manifest()[path]
        page = await plain_browser.new_page()
        await page.goto(site.url(path))
        last = f"MARK-{wanted['name']}-{int(wanted['marks']) - 1}"
        texts: list[str] = []
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while last not in " ".join(texts):
                await page.wait_for_timeout(50)
                texts = [await _text(frame) for frame in page.frames]
        assert marks_found(str(wanted["name"]), " ".join(texts)) == wanted["marks"], path
        await page.close()
