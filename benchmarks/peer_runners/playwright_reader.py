"""Plain Playwright, as its documentation teaches it: a fresh context, `networkidle`, the content of the page."""
# mypy: ignore-errors

from contextlib import asynccontextmanager

from playwright.async_api import TimeoutError as NeverIdle
from playwright.async_api import async_playwright

from benchmarks.reading_loop import Reader, answer

IDLE_CAP_MS = 10_000


class PlaywrightReader(Reader):
    def __init__(self, browser):
        self._browser = browser

    async def read(self, url, how):
        context = await self._browser.new_context()
        try:
            page = await context.new_page()
            try:
                await page.goto(url, wait_until="networkidle", timeout=IDLE_CAP_MS)
            except NeverIdle:
                if how == "idle-or-fail":
                    raise
            return await page.content()
        finally:
            await context.close()


@asynccontextmanager
async def opened():
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch()
        try:
            yield PlaywrightReader(browser)
        finally:
            await browser.close()


if __name__ == "__main__":
    answer(opened)
