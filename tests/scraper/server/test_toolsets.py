"""The full set and ChatGPT's pair: what each serves, on every transport, and what its list costs."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from scraper.server.protocol.handshake import INSTRUCTIONS, OPENAI_INSTRUCTIONS
from scraper.settings import Settings
from scraper.tools import registry, search_tools
from scraper.tools.model import Tool
from tests.scraper.process import REPOSITORY, Program, output_of, serving
from tests.scraper.server.in_memory import talking
from tests.scraper.server.wire import ERAS, text_of
from tests.scraper.stored_texts import kept_app
from tests.site.engine_server import EngineSite, running_engines

FULL = [
    "search", "fetch", "fetch_batch", "read_doc", "research", "compare", "map", "crawl", "changes", "see",
    "extract_structured", "cache_search", "engines", "web_search", "instant_answer", "search_index",
    "search_add_document", "search_create_index", "find_tools",
]  # fmt: skip
TOKENS = 5_050
TOKENS_OF_ACTING = 350
PRODUCT = ("-m", "scraper.cli.main")
PATIENT = """
from scraper.cli.main import main
from scraper.search import engine_query, searcher

# An engine's ten seconds hold the start of a browser and a wall's sums: a loaded machine may need more.
searcher.ENGINE_DEADLINE_S = engine_query.BLOCK_PAGE_LIMIT_S = engine_query.PARSE_LIMIT_S = 50.0
main()
"""


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
    answer = {"jsonrpc": "2.0", "id": 2, "result": wire}
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) / 4 < TOKENS
    assert [tool["name"] for tool in wire["tools"]] == FULL
    hints = {tool["name"]: tool.get("_meta") for tool in wire["tools"] if "_meta" in tool}
    assert hints == {name: {"anthropic/maxResultSizeChars": 120_000} for name in ("fetch", "read_doc")}
    for tool in wire["tools"]:
        assert tool["title"] and len(tool["description"]) < 1_200
        assert set(tool["annotations"]) == {
            "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint",
        }  # fmt: skip


WRITING = {"search_add_document": (False, True, True), "search_create_index": (False, False, False)}
"""Read-only, destructive, idempotent; all others only look."""
AT_HOME = {"cache_search", "engines", "search_index", "search_add_document", "search_create_index", "find_tools"}
"""Tools that reach nothing beyond this machine."""


async def test_a_tool_has_annotations(tmp_path: Path) -> None:
    async with kept_app(tmp_path) as texts, talking(texts, "auto") as client:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    for name, hint in hints.items():
        assert hint is not None
        told = (hint.read_only_hint, hint.destructive_hint, hint.idempotent_hint)
        assert told == WRITING.get(name, (True, False, True)), name
        assert hint.open_world_hint is (name not in AT_HOME), name


PARTS = ("Best for: ", "Not recommended for: ", "Returns: ", "Common mistakes: ")


@pytest.mark.parametrize("tool", registry.tools(), ids=lambda tool: tool.name)
def test_a_description_has_its_parts_in_their_order(tool: Tool) -> None:
    lines = tool.description.splitlines()
    assert lines[0].endswith(".") and len(lines) == 5
    for line, part in zip(lines[1:], PARTS, strict=False):
        assert line.startswith(part) and len(line) > len(part)


@pytest.mark.parametrize(
    "tool", [*registry.tools(), *search_tools.openai_tools()], ids=lambda tool: f"{tool.name} {tool.title}"
)
def test_a_schema_is_one_that_every_client_takes(tool: Tool) -> None:
    schemas = list(_schemas(tool.input_schema))
    for schema in schemas:
        assert set(schema) <= KEYWORDS and isinstance(schema["type"], str)
        if schema["type"] in {"integer", "number"}:
            assert -(2**53) <= schema["minimum"] < schema["maximum"] <= 2**53
        if schema["type"] == "array":
            assert schema.get("minItems", 1) <= schema["maxItems"]
        if schema["type"] == "object":
            # The names in the metadata of a document, in fields and in recipes are the caller's; all others are known.
            own = schema.get("description") in OWN_NAMES
            assert own or set(schema.get("required", ())) <= set(schema["properties"])
    assert all("description" in value for value in tool.input_schema["properties"].values())


OWN_NAMES = {
    "Returned with each hit.",
    "Name: hint.",
    "Field: value as the page shows it.",
    "Id or object of an earlier answer.",
}

KEYWORDS = {
    "type", "properties", "required", "description", "default", "enum", "items",
    "minItems", "maxItems", "minimum", "maximum",
}  # fmt: skip
"""No unions, references, titles or patterns, and no `additionalProperties`: some clients refuse a server for one."""


def _schemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for inner in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])):
        yield from _schemas(inner)


def test_the_instructions_are_short_and_lead_to_every_kind_of_tool() -> None:
    assert len(INSTRUCTIONS) <= 1_200 and len(OPENAI_INSTRUCTIONS) <= 1_200
    told = set(INSTRUCTIONS.replace(";", " ").replace(",", " ").replace(":", " ").replace(")", " ").split())
    assert set(FULL) - told == {"engines", "web_search", "instant_answer", "search_create_index"}


def test_toolsets_select_tools_and_named_tools_replace_them() -> None:
    core = ["search", "fetch", "fetch_batch", "read_doc", "research"]
    assert [tool.name for tool in registry.tools(Settings(toolsets=("core",)))] == core
    both = registry.tools(Settings(toolsets=("core", "default")))
    assert [tool.name for tool in both] == FULL
    named = registry.tools(Settings(toolsets=("core",), tools=("engines", "find_tools")))
    assert [tool.name for tool in named] == ["engines", "find_tools"]


@pytest.mark.full_size
@pytest.mark.browser
async def test_what_the_pair_found_is_fetched_after_a_restart_and_so_is_any_url(
    engines: EngineSite, tmp_path: Path
) -> None:
    env = variables(engines, tmp_path)
    async with serving("-c", PATIENT, "serve", "--port", "0", env=env) as program:
        async with Client(pair_url(program), mode="legacy") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "fetch"]
            assert client.instructions == OPENAI_INSTRUCTIONS
            found = await client.call_tool("search", {"query": "tidal power"})
            results = json.loads(text_of(found))["results"]
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
            page = json.loads(text_of(answer))
            assert page["id"] == wanted and page["text"] and page["title"] and not answer.is_error
            assert answer.structured_content is None


def pair_url(program: Program) -> str:
    return program.base + "/openai/mcp"


async def test_an_unknown_toolset_is_reported() -> None:
    output = await output_of(*PRODUCT, "stdio", "--toolset", "claude")
    assert output.code == 2 and "'full', 'openai'" in output.err


async def test_acting_is_a_toolset_of_its_own(tmp_path: Path) -> None:
    assert "browse" not in [tool.name for tool in registry.tools()]
    assert [tool.name for tool in registry.tools(Settings(toolsets=("acting",)))] == ["browse"]
    tools = registry.tools(Settings(toolsets=("default", "acting")))
    assert sorted(tool.name for tool in tools) == sorted([*FULL, "browse"])
    (see,) = (tool for tool in tools if tool.name == "see")
    (without,) = (tool for tool in registry.tools() if tool.name == "see")
    (browse,) = (tool for tool in tools if tool.name == "browse")
    assert (browse.read_only, browse.destructive, browse.idempotent) == (False, True, False)
    listed = [
        {
            "name": browse.name,
            "title": browse.title,
            "description": browse.description,
            "inputSchema": browse.input_schema,
        }
    ]
    # `see` takes sessions only if there are any.
    extra = _length(see.input_schema) - _length(without.input_schema)
    assert 0 < extra < 200 and (_length(listed) + extra) / 4 < TOKENS_OF_ACTING


def _length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
