"""Read with plain Playwright as in its documentation: a new context, `networkidle`, the page's content.

`--hosts=RULES` maps host names like Chromium's --host-resolver-rules. `how` is `text_content` or `inner_text` for
these properties of the body; otherwise the page content is returned. A page that is not idle within 10 s is
captured anyway.
"""
# mypy: ignore-errors

import sys
from contextlib import asynccontextmanager, suppress

from playwright.async_api import TimeoutError as NeverIdle
from playwright.async_api import async_playwright

from benchmarks.peers.reading_loop import Reader, answer

IDLE_CAP_MS = 10_000
SCRIPTS = {"text_content": "document.body.textContent", "inner_text": "document.body.innerText"}


class PlaywrightReader(Reader):
    def __init__(self, browser):
        self._browser = browser

    async def read(self, url, how):
        context = await self._browser.new_context()
        try:
            page = await context.new_page()
            with suppress(NeverIdle):
                await page.goto(url, wait_until="networkidle", timeout=IDLE_CAP_MS)
            return await (page.evaluate(SCRIPTS[how]) if how in SCRIPTS else page.content())
        finally:
            await context.close()


@asynccontextmanager
async def opened():
    rules = [argument.removeprefix("--hosts=") for argument in sys.argv if argument.startswith("--hosts=")]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(args=[f"--host-resolver-rules={rule}" for rule in rules])
        try:
            yield PlaywrightReader(browser)
        finally:
            await browser.close()


if __name__ == "__main__":
    answer(opened)
