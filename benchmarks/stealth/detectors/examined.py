"""Who is examined: our two tiers through the door, and Playwright as people use it."""

from __future__ import annotations

import asyncio
import importlib
import logging
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright

from benchmarks.common.corpora import cache_folder
from benchmarks.stealth.detectors.site import HOST
from browsers import Browsers, BrowserSettings, Mode, Request, Tier, VisitLimits

Look = Callable[[str], Awaitable[str]]
"""URL -> the HTML of the page, read as this one reads it."""

PLUGIN = "playwright-stealth==2.0.3"
_REPORT_LIMIT_S = 30.0
_INSTALL_LIMIT_S = 120


def own_browsers(port: int) -> Browsers:
    """Our door, with the detectors' host mapped, and their certificate, which nobody signed, let through."""
    # Each mapped name is warned of, rightly so; here it is meant.
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    mapped = ((HOST, "127.0.0.1", port),)
    return Browsers(BrowserSettings(test_hosts=mapped, ignore_certificate_errors=True, render_slots=1))


def own_tier(browsers: Browsers, tier: Tier) -> Look:
    """Render a page exactly as for a caller."""

    async def look(url: str) -> str:
        request = Request(
            url,
            mode=Mode.RENDER,
            tier=tier,
            wait="#report",
            deadline_s=2 * _REPORT_LIMIT_S,
            # Detectors take 5 s on a quiet machine: they wait for each other, for workers and for graphics.
            limits=VisitLimits(settle_s=_REPORT_LIMIT_S),
        )
        return (await browsers.visit(request)).html

    return look


@asynccontextmanager
async def playwright_page(executable: str, port: int, plugin: Any = None) -> AsyncIterator[Look]:
    """Open a page in a new context with Playwright's defaults; `plugin` adds stealth."""
    starting: AbstractAsyncContextManager[Any] = async_playwright()
    async with plugin.use_async(starting) if plugin is not None else starting as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable,
            args=[f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{port}", "--ignore-certificate-errors"],
        )

        async def look(url: str) -> str:
            page = await browser.new_page(ignore_https_errors=True)
            try:
                await page.goto(url)
                limit_ms = _REPORT_LIMIT_S * 1000
                await page.wait_for_selector("#report", state="attached", timeout=limit_ms)
                return str(await page.content())
            finally:
                await page.close()

        try:
            yield look
        finally:
            async with asyncio.timeout(_REPORT_LIMIT_S):
                await browser.close()


def stealth_plugin() -> Any:
    """playwright-stealth, installed once outside the repo; None, with a word why, where it cannot be had."""
    folder = cache_folder() / "playwright-stealth"
    if not (folder / "playwright_stealth").exists() and not _install(folder):
        return None
    sys.path.append(str(folder))
    return importlib.import_module("playwright_stealth").Stealth()


def _install(folder: Path) -> bool:
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    tool = [uv, "pip", "install"] if uv else [sys.executable, "-m", "pip", "install"]
    command = [*tool, "--quiet", "--no-deps", "--target", str(folder), PLUGIN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_LIMIT_S, check=False)
    if done.returncode:
        print(f"{PLUGIN} cannot be installed, so it is left out: {done.stderr.strip()[-300:]}")
    return done.returncode == 0
