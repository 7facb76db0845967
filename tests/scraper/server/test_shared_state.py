"""Two servers as they are started, with a real Redis that is stopped and started under them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from scraper import coordination
from scraper.cli.doctor_checks import CheckLevel
from scraper.cli.doctor_checks import check_shared_state as check
from scraper.coordination import valkey_client, valkey_state
from scraper.settings import Settings
from tests.scraper.coordination.redis_server import RedisServer, redis_server
from tests.scraper.process import LIMIT_S, START_S, Program, browsers_say, output_of
from tests.scraper.server.replicas import replicas
from tests.scraper.server.test_product import variables
from tests.scraper.server.wire import modern_call
from tests.site.running import Site

PER_MINUTE = 6
PATIENT = """
from scraper.cli.main import main
from scraper import coordination
from scraper.coordination import valkey_client

# A machine that stands still for a second is no service that is away.
valkey_client.COMMAND_S = valkey_client.CONNECT_S = coordination.CONNECT_WAIT_S = 30.0
main()
"""
TOKENS = {name: f"the-token-of-{name}" for name in ("ann", "ben", "cid", "eve")}
"""Each caller's calls are counted by themselves."""

pytestmark = pytest.mark.browser


@pytest.mark.thorough
async def test_two_servers_share_limits_and_pages_and_do_without(site: Site, tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        redis = await stack.enter_async_context(redis_server(tmp_path, password="hush-hush"))
        servers = await _servers(stack, site, tmp_path, redis)
        http = await stack.enter_async_context(aiohttp.ClientSession())
        for server in servers:
            await _until_two_are_counted(http, server)

        assert await _visits_for_both(http, servers, site) == 1

        granted, seconds = await _granted(http, servers, "ann", site.url("/?together"))
        assert PER_MINUTE <= granted <= PER_MINUTE + seconds * PER_MINUTE / 60

        await redis.stop()
        for server in servers:
            granted, seconds = await _granted(http, [server], "ben", site.url("/?alone"))
            assert PER_MINUTE / 2 <= granted <= PER_MINUTE / 2 + seconds * PER_MINUTE / 2 / 60, "half for each"
            assert (await _ready(http, server, "note"))["note"] == "shared state away"
            assert (await _json(http, server, "/health"))["shared"]["away"] is True
            assert "search_mcp_shared_state_away 1.0" in await _text(http, server, "/metrics")

        await redis.start()
        for server in servers:
            assert (await _ready(http, server, "note", there=False))["ready"] is True
        granted, seconds = await _granted(http, servers, "cid", site.url("/?back"))
        assert PER_MINUTE <= granted <= PER_MINUTE + seconds * PER_MINUTE / 60
        for server in servers:
            assert "hush-hush" not in "".join(server.said)


async def _until_two_are_counted(http: aiohttp.ClientSession, server: Program) -> None:
    """Return once a server knows that it is one of two: its share goes by that."""
    async with asyncio.timeout(LIMIT_S):
        while (await _json(http, server, "/health"))["shared"]["servers"] != 2:  # noqa: ASYNC110 - a process
            await asyncio.sleep(0.1)


async def _visits_for_both(http: aiohttp.ClientSession, servers: list[Program], site: Site) -> int:
    """How often the site is asked for a page that both servers want at once."""
    path = "/slow-answer/1000?both"
    texts = await asyncio.gather(*(_fetch(http, server, site.url(path), "eve") for server in servers))
    assert all("Warning" not in text and site.url(path) in text for text in texts)
    return site.hits(path)


async def _granted(http: aiohttp.ClientSession, servers: list[Program], caller: str, url: str) -> tuple[int, float]:
    """How many of more calls than a caller may make are answered, and within how many seconds."""
    begun = time.monotonic()
    output = [await _fetch(http, server, url, caller) for _ in range(PER_MINUTE) for server in servers]
    answered = sum(url in text for text in output)
    assert answered + sum(f"it takes {PER_MINUTE} calls a minute" in text for text in output) == len(output)
    return answered, time.monotonic() - begun


@pytest.mark.full_size
async def test_doctor_reports_unavailable_shared_state_without_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((coordination, "CONNECT_WAIT_S"), (valkey_client, "COMMAND_S"), (valkey_client, "CONNECT_S")):
        monkeypatch.setattr(module, name, LIMIT_S)
    monkeypatch.setattr(valkey_state, "SLOW_S", LIMIT_S)
    async with redis_server(tmp_path, password="hush-hush") as redis:
        assert [one.level for one in await check(Settings(shared_url=redis.url))] == [CheckLevel.GOOD]
        url = redis.url.replace("hush-hush", "wrong-word")
        env = {"SEARCH_MCP_SHARED_URL": url, "SEARCH_MCP_DATA": str(tmp_path), "SEARCH_MCP_PORT": "0"}
        output = await output_of("-c", PATIENT, "doctor", env=env)
        assert "[!!] The shared state is unavailable." in output.out
        assert "refuses the user or the password of SEARCH_MCP_SHARED_URL" in output.out
        assert "hush-hush" not in output.out + output.err and "wrong-word" not in output.out + output.err
        assert output.code == 0, output.out


async def _servers(stack: contextlib.AsyncExitStack, site: Site, folder: Path, redis: RedisServer) -> list[Program]:
    """Two servers with a browser each."""
    tokens = folder / "tokens"
    tokens.write_text("".join(f"{name}:{token}\n" for name, token in TOKENS.items()))

    def env_of(number: int) -> dict[str, str]:
        return variables(site, folder / str(number)) | {
            "SEARCH_MCP_SHARED_URL": redis.url,
            "SEARCH_MCP_CALLS_PER_MINUTE": str(PER_MINUTE),
            "SEARCH_MCP_TOKENS_FILE": str(tokens),
        }

    started = await stack.enter_async_context(replicas("-c", PATIENT, "serve", env_of=env_of))
    servers = [started.program(number) for number in range(2)]
    for server in servers:
        await browsers_say(server.base, "ready", True, limit_s=START_S)
    return servers


async def _fetch(http: aiohttp.ClientSession, server: Program, url: str, caller: str) -> str:
    headers, message = modern_call("fetch", {"url": url, "render": "http"})
    headers |= {"Authorization": f"Bearer {TOKENS[caller]}"}
    async with http.post(server.url, headers=headers, json=message) as answer:
        text = await answer.text()
        assert answer.status == 200, text
        return text


async def _ready(http: aiohttp.ClientSession, server: Program, key: str, *, there: bool = True) -> Any:
    """Return the answer of `/ready` once this key is present or absent."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            output = await _json(http, server, "/ready")
            if (key in output) is there:
                return output
            await asyncio.sleep(0.1)


async def _json(http: aiohttp.ClientSession, server: Program, path: str) -> Any:
    async with http.get(server.base + path) as answer:
        assert answer.status == 200
        return await answer.json()


async def _text(http: aiohttp.ClientSession, server: Program, path: str) -> str:
    headers = {"Authorization": f"Bearer {TOKENS['ann']}"}
    async with http.get(server.base + path, headers=headers) as answer:
        return await answer.text()
