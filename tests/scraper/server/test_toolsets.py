"""The full set and ChatGPT's pair: what each serves, on every transport, and what its list costs."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from scraper.server.instructions import INSTRUCTIONS, PAIR_INSTRUCTIONS
from scraper.settings import Settings
from scraper.tools import registry
from tests.scraper.kept_texts import kept_app
from tests.scraper.process import REPOSITORY, Program, output_of, serving
from tests.scraper.server.in_memory import talking
from tests.scraper.server.wire import ERAS
from tests.site.engine_server import EngineSite, running_engines

FULL = [
    "search", "fetch", "fetch_batch", "read_doc", "research", "compare", "extract_structured",
    "cache_search", "engines", "web_search", "instant_answer", "search_index", "search_add_document",
    "search_create_index", "find_tools",
]  # fmt: skip
TOKENS = 4_500
PRODUCT = ("-m", "scraper.cli.main")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def engines() -> AsyncIterator[EngineSite]:
    async with running_engines() as site:
        yield site


def variables(engines: EngineSite, folder: Path) -> dict[str, str]:
    hosts = ",".join(f"{name}={address}:{port}" for name, address, port in engines.test_hosts)
    return {
        "SEARCH_MCP_TEST_HOSTS": hosts,
        "SEARCH_MCP_TEST_KEY_PIN": engines.key_pin,
        "SEARCH_MCP_DATA": str(folder),
        "SEARCH_MCP_LOG_LEVEL": "info",
    }


@pytest.mark.parametrize("era", ERAS)
async def test_the_full_list_costs_a_caller_less_than_its_budget(tmp_path: Path, era: str) -> None:
    async with kept_app(tmp_path) as texts, talking(texts, era) as client:
        listed = await client.list_tools()
    wire: dict[str, Any] = listed.model_dump(by_alias=True, exclude_none=True)
    assert len(json.dumps(wire, ensure_ascii=False, separators=(",", ":"))) / 4 < TOKENS
    assert [tool["name"] for tool in wire["tools"]] == FULL
    hints = {tool["name"]: tool.get("_meta") for tool in wire["tools"] if "_meta" in tool}
    assert hints == {name: {"anthropic/maxResultSizeChars": 120_000} for name in ("fetch", "read_doc")}
    for tool in wire["tools"]:
        assert tool["title"] and len(tool["description"]) < 1_200
        assert set(tool["annotations"]) == {
            "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint",
        }  # fmt: skip


def test_the_instructions_are_short_and_lead_to_every_kind_of_tool() -> None:
    assert len(INSTRUCTIONS) <= 1_200 and len(PAIR_INSTRUCTIONS) <= 1_200
    told = set(INSTRUCTIONS.replace(";", " ").replace(",", " ").replace(":", " ").replace(")", " ").split())
    assert set(FULL) - told == {"engines", "web_search", "instant_answer", "search_create_index"}


def test_the_pair_is_there_whatever_the_settings_narrow() -> None:
    narrow = Settings(tools=("engines",))
    assert [tool.name for tool in registry.tools(narrow)] == ["engines"]
    assert [tool.name for tool in registry.openai_tools(narrow)] == ["search", "fetch"]


@pytest.mark.browser
async def test_what_the_pair_found_is_fetched_after_a_restart_and_so_is_any_url(
    engines: EngineSite, tmp_path: Path
) -> None:
    env = variables(engines, tmp_path)
    async with serving(*PRODUCT, "serve", "--port", "0", env=env) as program:
        async with Client(pair_url(program), mode="legacy") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "fetch"]
            assert client.instructions == PAIR_INSTRUCTIONS
            (item,) = (await client.call_tool("search", {"query": "tidal power"})).content
            results = json.loads(item.text)["results"]
            assert results and all(result["url"].startswith("http") for result in results)
            with pytest.raises(MCPError, match="Method not found"):
                await client.list_resources()
        async with Client(program.url) as client:
            assert len((await client.list_tools()).tools) == len(FULL)
    command = StdioServerParameters(
        command=sys.executable, args=[*PRODUCT, "stdio", "--toolset", "openai"], cwd=REPOSITORY, env=env
    )
    async with Client(command, mode="auto") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "fetch"]
        for wanted in (results[0]["id"], results[-1]["id"]):
            answer = await client.call_tool("fetch", {"id": wanted})
            (item,) = answer.content
            page = json.loads(item.text)
            assert page["id"] == wanted and page["text"] and page["title"] and not answer.is_error
            assert answer.structured_content is None


def pair_url(program: Program) -> str:
    return program.base + "/openai/mcp"


async def test_an_unknown_toolset_is_told() -> None:
    output = await output_of(*PRODUCT, "stdio", "--toolset", "claude")
    assert output.code == 2 and "'full', 'openai'" in output.err
