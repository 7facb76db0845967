"""One server with a token, the site and the engines of the tests, and a browser that opens its page."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.scraper.process import START_S, Program, browsers_say, serving
from tests.site.engine_server import running_engines
from tests.site.running import Site

TOKEN = "a-token-of-the-tests"
PATIENCE_MS = 60_000.0
"""For what the page shows, in a browser and from a server that share their cores with others."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def product(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """Start a server that requires a token."""
    async with running_engines() as engines:
        hosts = {name: (address, port) for name, address, port in (*site.test_hosts, *engines.test_hosts)}
        env = {
            "SEARCH_MCP_TEST_HOSTS": ",".join(f"{name}={address}:{port}" for name, (address, port) in hosts.items()),
            "SEARCH_MCP_TEST_KEY_PIN": engines.key_pin,
            "SEARCH_MCP_DATA": str(tmp_path_factory.mktemp("people")),
            "SEARCH_MCP_TOKEN": TOKEN,
        }
        async with serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env) as program:
            await browsers_say(program.base, "ready", True, limit_s=START_S)
            yield program


@pytest_asyncio.fixture(loop_scope="session")
async def page(product: Program, plain_browser: Browser) -> AsyncIterator[Page]:
    """Open the playground with a valid token; an error in the page fails the test."""
    context = await plain_browser.new_context(http_credentials={"username": "me", "password": TOKEN})
    opened, wrong = await context.new_page(), list[str]()
    expect.set_options(timeout=PATIENCE_MS)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None)
    try:
        await opened.goto(product.base + "/")
        yield opened
        assert wrong == []
    finally:
        await context.close()


async def read(page: Page, url: str) -> None:
    """Read a page with the first form."""
    form = page.locator("form#sides")
    await form.locator("input[name=url]").fill(url)
    await form.locator("button").click()
    await expect(form.locator("button")).to_be_enabled(timeout=PATIENCE_MS)
