"""The examples run as documented, with a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from tests.clients.product import Product, product, run_client
from tests.site.running import Site

pytestmark = pytest.mark.browser

EXAMPLES = Path(__file__).parents[2] / "examples"
MARK = "MARK-static-0"
"""A word of the page that is read."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    """Start a server with a token."""
    async with product(site, tmp_path_factory.mktemp("examples")) as running:
        yield running


@pytest.fixture(autouse=True)
def variables(served: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the variables that the page names, and put the command on the path."""
    for name, value in served.command["env"].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MCP_URL", served.url)
    monkeypatch.setenv("SEARCH_MCP_TOKEN", served.headers["Authorization"].removeprefix("Bearer "))


async def output(*command: str) -> str:
    """Return what an example prints; it must end well."""
    code, out, err = await run_client(command)
    assert code == 0, out + err[-3000:]
    return out


async def test_a_client_over_stdio(site: Site) -> None:
    out = await output(sys.executable, str(EXAMPLES / "stdio_client.py"), site.url("/static/7"))
    assert "Tools: search, fetch," in out and MARK in out


@pytest.mark.thorough
async def test_a_client_over_http(site: Site) -> None:
    pages = (site.url("/static/7"), "http://nowhere.example/")
    first, second = (await output(sys.executable, str(EXAMPLES / "http_client.py"), *pages)).splitlines()
    assert first.startswith(f"{pages[0]} Log of the harbour, volume 7: '# Log")
    assert second.startswith(pages[1]) and "nowhere.example" in second.removeprefix(pages[1])


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_one_request_with_curl(site: Site) -> None:
    out = await output("sh", str(EXAMPLES / "curl.sh"), site.url("/static/7"))
    assert MARK in json.loads(out)["result"]["content"][0]["text"]


@pytest.mark.thorough
async def test_a_loop_of_a_model_and_tools(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    url = site.url("/static/7")

    async def complete(request: web.Request) -> web.Response:
        """Fetch with arguments that are no JSON, then with good ones, then answer with what was read."""
        asked.append(await request.json())
        last = asked[-1]["messages"][-1]
        turns = ("{", json.dumps({"url": url}))
        if len(asked) <= len(turns):
            function = {"name": "fetch", "arguments": turns[len(asked) - 1]}
            calls = [{"id": f"call-{len(asked)}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        else:
            marks = re.findall(r"MARK-[a-z]+-\d+", last["content"])
            message = {"role": "assistant", "content": f"The first mark is {marks[0]}."}
        return web.json_response({"choices": [{"message": message}]})

    application = web.Application()
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        monkeypatch.setenv("MODEL_URL", f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
        out = await output(sys.executable, str(EXAMPLES / "agent_loop.py"), "Which mark comes first?")
    finally:
        await runner.cleanup()
    assert out == f"The first mark is {MARK}.\n"
    assert {tool["function"]["name"] for tool in asked[0]["tools"]} == {"search", "fetch", "read_doc"}
    assert "not a JSON object" in asked[1]["messages"][-1]["content"]


def test_the_page_lists_every_example() -> None:
    page = (EXAMPLES / "README.md").read_text("utf-8")
    files = {file.name for file in EXAMPLES.iterdir() if file.suffix in (".py", ".sh")}
    assert set(re.findall(r"\[[\w.]+\]\(([\w.]+)\)", page)) == files
