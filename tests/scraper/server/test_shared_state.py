"""Two servers as they are started, with a real Redis that is stopped and started under them."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from scraper.cli.findings import Level
from scraper.cli.shared_state import check
from scraper.settings import Settings
from tests.scraper.process import LIMIT_S, Program, browsers_say, output_of, serving
from tests.scraper.server.test_product import PRODUCT, variables
from tests.scraper.server.wire import modern_call
from tests.scraper.store.shared.redis_server import RedisServer, redis_server
from tests.site.running import Site

pytestmark = [pytest.mark.browser, pytest.mark.replicas]


async def test_two_servers_share_limits_and_pages_and_do_without(site: Site, tmp_path: Path) -> None:
    path = "/slow-answer/1000"
    async with contextlib.AsyncExitStack() as stack:
        redis = await stack.enter_async_context(redis_server(tmp_path, password="hush-hush"))
        servers = [await _server(stack, site, tmp_path / name, redis) for name in ("one", "two")]
        http = await stack.enter_async_context(aiohttp.ClientSession())

        before = site.hits(path)
        texts = await asyncio.gather(*(_fetch(http, server, site.url(path)) for server in servers))
        assert site.hits(path) == before + 1
        assert all("Warning" not in text and site.url(path) in text for text in texts)

        told = [await _fetch(http, server, site.url(f"/?{n}")) for n in range(6) for server in servers]
        assert sum("it takes 6 calls a minute" in text for text in told) == len(told) + 2 - 6

        await redis.stop()
        told = [await _fetch(http, server, site.url("/?alone")) for server in servers]
        assert sum(site.url("/?alone") in text for text in told) == 2, "three calls a minute for each"
        for server in servers:
            assert (await _ready(http, server, "note"))["note"] == "shared state away"
            assert (await _json(http, server, "/health"))["shared"]["away"] is True
            assert "search_mcp_shared_state_away 1.0" in await _text(http, server, "/metrics")

        await redis.start()
        for server in servers:
            assert (await _ready(http, server, "note", there=False))["ready"] is True
        for server in servers:
            assert "hush-hush" not in "".join(server.said)


async def test_the_doctor_says_that_the_shared_state_is_away_and_shows_no_password(tmp_path: Path) -> None:
    async with redis_server(tmp_path, password="hush-hush") as redis:
        assert [one.level for one in await check(Settings(shared_url=redis.url))] == [Level.GOOD]
        url = redis.url.replace("hush-hush", "wrong-word")
        env = {"SEARCH_MCP_SHARED_URL": url, "SEARCH_MCP_DATA": str(tmp_path), "SEARCH_MCP_PORT": "0"}
        told = await output_of(*PRODUCT, "doctor", env=env)
        assert "[!!] Shared state away." in told.out
        assert "refuses the user or the password of SEARCH_MCP_SHARED_URL" in told.out
        assert "hush-hush" not in told.out + told.err and "wrong-word" not in told.out + told.err
        assert told.code == 0, told.out


async def _server(stack: contextlib.AsyncExitStack, site: Site, folder: Path, redis: RedisServer) -> Program:
    env = variables(site, folder) | {
        "SEARCH_MCP_SHARED_URL": redis.url,
        "SEARCH_MCP_CALLS_PER_MINUTE": "6",
    }
    server = await stack.enter_async_context(serving(*PRODUCT, "serve", "--port", "0", env=env))
    await browsers_say(server.base, "ready", True, limit_s=LIMIT_S)
    return server


async def _fetch(http: aiohttp.ClientSession, server: Program, url: str) -> str:
    headers, message = modern_call("fetch", {"url": url, "render": "http"})
    async with http.post(server.url, headers=headers, json=message) as answer:
        text = await answer.text()
        assert answer.status == 200, text
        return text


async def _ready(http: aiohttp.ClientSession, server: Program, key: str, *, there: bool = True) -> Any:
    """What `/ready` says, once this key stands there, or no longer."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            said = await _json(http, server, "/ready")
            if (key in said) is there:
                return said
            await asyncio.sleep(0.1)


async def _json(http: aiohttp.ClientSession, server: Program, path: str) -> Any:
    async with http.get(server.base + path) as answer:
        assert answer.status == 200
        return await answer.json()


async def _text(http: aiohttp.ClientSession, server: Program, path: str) -> str:
    async with http.get(server.base + path) as answer:
        return await answer.text()
