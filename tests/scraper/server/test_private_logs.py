"""What the product's log says of its work: hosts and callers, never what was asked or read."""

from __future__ import annotations

from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.scraper.process import START_S, Program, browsers_say, running, serving, until
from tests.scraper.server.pipe import read, write
from tests.scraper.server.wire import body_of, modern
from tests.site.running import Site

pytestmark = pytest.mark.browser

PRODUCT = ("-m", "scraper.cli.main")
TOKEN = "marigold-token"
SECRET = "marigold"
"""Stands in everything that a caller says here, and in nothing that the log may tell."""

Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


def calls(site: Site) -> list[tuple[str, dict[str, Any]]]:
    """Return calls whose logs could reveal private data."""
    page = site.url(f"/static/43?{SECRET}=1")
    document = {"doc_id": SECRET, "content": f"the {SECRET} of the harbour"}
    return [
        ("fetch", {"url": page}),
        ("fetch", {"url": site.url(f"/cookie/set?{SECRET}=1"), "render": "browser"}),
        ("fetch", {"url": f"http://ann:{SECRET}@site.example/"}),
        ("fetch", {"url": site.url(f"/status/500?{SECRET}=1")}),
        ("fetch", {"url": f"http://127.0.0.1/{SECRET}"}),
        ("fetch", {SECRET: SECRET}),
        ("fetch_batch", {"urls": [page, f"http://ann:{SECRET}@site.example/", SECRET]}),
        ("read_doc", {"source": page, "password": SECRET}),
        ("read_doc", {"source": f"/{SECRET}.pdf"}),
        ("extract_structured", {"url": page}),
        ("compare", {"question": SECRET, "urls": [page, site.url(f"/static/44?{SECRET}=1")]}),
        ("cache_search", {"query": SECRET}),
        ("search_create_index", {"index_name": SECRET}),
        ("search_add_document", {"index_name": SECRET, **document}),
        ("search_index", {"index_name": SECRET, "query": f'+{SECRET} "of the harbour"'}),
        ("find_tools", {"query": SECRET}),
    ]


async def everything_asked(ask: Ask, site: Site) -> str:
    """Make all the calls; a paragraph of a page that was read."""
    text = ""
    for tool, arguments in calls(site):
        result = await ask("tools/call", {"name": tool, "arguments": arguments})
        text = text or result["result"]["content"][0]["text"]
    await ask("resources/search", {"query": SECRET})
    await ask("resources/read", {"uri": f"page://http://site.example/static/43?{SECRET}=1"})
    await ask("tools/search", {"query": SECRET, "cursor": SECRET})
    paragraphs = [part for part in text.split("\n\n") if len(part) > 80 and "<<<" not in part]
    return paragraphs[0]


async def assert_says_nothing(program: Program, paragraph: str) -> None:
    await until(lambda: has_said_enough("".join(program.said)))
    output = "".join(program.said)
    assert SECRET not in output
    assert paragraph[:60] not in output


def has_said_enough(output: str) -> bool:
    """Whether there is a line of each call and visit; what was said last may still be on its way here."""
    calls = output.count("tool=fetch ") + output.count('"tool": "fetch"')
    return calls >= 6 and output.count("visit") >= 3


@pytest.mark.full_size
@pytest.mark.parametrize(("level", "style"), [("debug", "json"), ("info", "text")])
async def test_over_http(site: Site, tmp_path: Path, level: str, style: str) -> None:
    env = {
        "SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable,
        "SEARCH_MCP_DATA": str(tmp_path),
        "SEARCH_MCP_TOKEN": TOKEN,
        "SEARCH_MCP_LOG_LEVEL": level,
        "SEARCH_MCP_LOG_FORMAT": style,
    }
    async with serving(*PRODUCT, "serve", "--port", "0", env=env) as program, aiohttp.ClientSession() as http:
        await browsers_say(program.base, "ready", True, limit_s=START_S)

        async def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            headers, message = modern(method, params)
            name = params.get("name", params.get("uri"))
            sent = {**headers, "Authorization": f"Bearer {TOKEN}", "Cookie": f"session={SECRET}"}
            named = {"Mcp-Name": str(name)} if name else {}
            async with http.post(program.url, headers={**sent, **named}, json=message) as answer:
                return await body_of(answer)

        paragraph = await everything_asked(ask, site)
        async with http.get(f"{program.base}/{SECRET}?{SECRET}", headers={"Authorization": SECRET}) as answer:
            assert answer.status == 401
        await assert_says_nothing(program, paragraph)


async def test_over_standard_input_and_output(site: Site, tmp_path: Path) -> None:
    env = {"SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable, "SEARCH_MCP_DATA": str(tmp_path)}
    async with running(*PRODUCT, "stdio", env=env, stdin=PIPE, stdout=PIPE) as program:

        async def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            _, message = modern(method, params)
            await write(program, message)
            return await read(program)

        paragraph = await everything_asked(ask, site)
        assert program.process.stdin is not None
        program.process.stdin.write(f"no message, but {SECRET}\n".encode())
        assert (await read(program))["error"]["code"] == -32700
        program.process.stdin.close()
        assert await program.ended() == 0
        await assert_says_nothing(program, paragraph)
