"""Browsers under test: our two tiers, and Playwright with its defaults or with playwright-stealth."""

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

ReadPage = Callable[[str], Awaitable[str]]
"""Return the HTML of the page at a URL."""

PLUGIN = "playwright-stealth==2.0.3"
_REPORT_LIMIT_S = 30.0
_INSTALL_LIMIT_S = 120


def own_browsers(port: int) -> Browsers:
    """Return `Browsers` with the host of the detectors mapped and its self-signed certificate accepted."""
    # Hide the warning for the mapped name: here the mapping is intended.
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    hosts = ((HOST, "127.0.0.1", port),)
    return Browsers(BrowserSettings(test_hosts=hosts, ignore_certificate_errors=True, render_slots=1))


def own_tier(browsers: Browsers, tier: Tier) -> ReadPage:
    """Return a function that renders a page as for a caller."""

    async def read(url: str) -> str:
        request = Request(
            url,
            mode=Mode.RENDER,
            tier=tier,
            wait="#report",
            deadline_s=2 * _REPORT_LIMIT_S,
            # Detectors take 5 s on an idle machine: they wait for each other, for workers and for graphics.
            limits=VisitLimits(readiness_s=_REPORT_LIMIT_S),
        )
        return (await browsers.visit(request)).html

    return read


@asynccontextmanager
async def playwright_page(executable: str, port: int, plugin: Any = None) -> AsyncIterator[ReadPage]:
    """Open a page in a new context with Playwright's defaults; `plugin` adds stealth."""
    starting: AbstractAsyncContextManager[Any] = async_playwright()
    async with plugin.use_async(starting) if plugin is not None else starting as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable,
            args=[f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{port}", "--ignore-certificate-errors"],
        )

        async def read(url: str) -> str:
            page = await browser.new_page(ignore_https_errors=True)
            try:
                await page.goto(url)
                limit_ms = _REPORT_LIMIT_S * 1000
                await page.wait_for_selector("#report", state="attached", timeout=limit_ms)
                return str(await page.content())
            finally:
                await page.close()

        try:
            yield read
        finally:
            async with asyncio.timeout(_REPORT_LIMIT_S):
                await browser.close()


def stealth_plugin() -> Any:
    """Install playwright-stealth outside the repo; print the error and return None if that fails."""
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
