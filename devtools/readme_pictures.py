"""Record the pictures of the README: a terminal session and the web page for people, on the test site.

python -m devtools.readme_pictures
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import shlex
import tempfile
from pathlib import Path

from playwright.async_api import async_playwright
from rich.console import Console
from rich.text import Text

from browsers.chromium.locate import find_chromium
from browsers.model import Tier
from tests.scraper.process import START_S, browsers_say, output_of, serving
from tests.site.engine_server import running_engines
from tests.site.running import running_site

ASSETS = Path(__file__).resolve().parents[1] / "docs/assets"
COMMANDS = (
    "search-mcp fetch site.example/guide/tides",
    "search-mcp search 'tidal power' --max-results 2",
    "search-mcp read-doc http://site.example/document/table.csv",
)
_COLUMNS = 96


async def record() -> None:
    """Write both pictures."""
    async with contextlib.AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="readme-", ignore_cleanup_errors=True))
        site = stack.enter_context(running_site())
        engines = await stack.enter_async_context(running_engines())
        hosts = {name: f"{address}:{port}" for name, address, port in (*site.test_hosts, *engines.test_hosts)}
        env = {
            "SEARCH_MCP_TEST_HOSTS": ",".join(f"{name}={address}" for name, address in hosts.items()),
            "SEARCH_MCP_TEST_KEY_PIN": engines.key_pin,
            "SEARCH_MCP_DATA": folder,
        }
        await _record_terminal(env)
        server = serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env)
        program = await stack.enter_async_context(server)
        await browsers_say(program.base, "ready", True, limit_s=START_S)
        await _photograph(program.base + "/", site.url("/guide/tides"))


async def _record_terminal(env: dict[str, str]) -> None:
    console = Console(record=True, width=_COLUMNS, file=tempfile.TemporaryFile("w"))  # noqa: SIM115 - closed with it
    for command in COMMANDS:
        console.print(Text(f"$ {command}", style="bold"))
        answer = await output_of("-m", "scraper.cli.main", *shlex.split(command)[1:], env=env)
        if answer.code != 0:
            raise RuntimeError(f"{command}: {answer.err}{answer.out}")
        console.print(Text(answer.out))
    # Without the fonts that the format loads from another site.
    picture = re.sub(r"@font-face {[^}]*}", "", console.export_svg(title="search-mcp"))
    (ASSETS / "terminal.svg").write_text(picture, encoding="utf-8")


async def _photograph(address: str, url: str) -> None:
    chromium = find_chromium(Tier.LIGHT, None)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium.executable if chromium else None)
        page = await browser.new_page(viewport={"width": 1_100, "height": 760})
        await page.goto(address)
        form = page.locator("form#sides")
        await form.locator("input[name=url]").fill(url)
        await form.locator("button").click()
        await page.locator("#rendered").get_by_text("spring tide").wait_for()
        await page.locator("#sight img").wait_for()
        await page.screenshot(path=ASSETS / "web-page.png")
        await browser.close()


if __name__ == "__main__":
    asyncio.run(record())
