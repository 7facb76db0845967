"""A model sees the whole answer of every tool in every kind of client; programs get schemas and data on request."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp.types import CallToolResult

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import hold_services
from scraper.server.protocol import mcp_server as protocol
from scraper.services import Services
from scraper.settings import Settings
from scraper.tools import registry
from scraper.tools.model import Tool, schema_of
from tests.scraper.server.client_views import shown_by_clients
from tests.scraper.server.wire import SLOW_TEST_ERAS
from tests.site.engine_server import EngineSite, running_engines
from tests.site.running import Site

TOOLS = registry.tools()


def test_a_schema_comes_from_the_table_of_answers() -> None:
    link = {"type": "object", "properties": {"url": {"type": "string"}, "text": {"type": "string"}}}
    assert schema_of("[Link]") == {"type": "array", "items": {**link, "required": ["url", "text"]}}
    assert schema_of("number | null") == {"type": ["number", "null"]}
    assert schema_of("[any]") == {"type": "array", "items": {}}
    assert schema_of("{string}") == {"type": "object", "additionalProperties": {"type": "string"}}
    heading = schema_of("DocumentHeading")
    assert heading["properties"]["page"] == {"type": "integer"}
    assert heading["required"] == ["level", "text", "start"]


@pytest.mark.parametrize("wraps_lists", [True, False])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_is_valid_and_an_object_for_older_clients(tool: Tool, wraps_lists: bool) -> None:
    schema = tool.output_schema(wraps_lists=wraps_lists)
    if tool.name == "see":
        assert schema is None
        return
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema.get("type") == "object" or not wraps_lists
    for wrong in (7, {"results": 7}, {"result": 7}, {}):
        assert not jsonschema.Draft202012Validator(schema).is_valid(wrong)


@pytest.fixture(scope="module")
async def engines() -> AsyncIterator[EngineSite]:
    async with running_engines() as opened:
        yield opened


@pytest.fixture(scope="module")
async def services(
    site: Site, engines: EngineSite, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Services]:
    known = {name for name, _, _ in engines.test_hosts}
    hosts = (*engines.test_hosts, *(host for host in site.test_hosts if host[0] not in known))
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("data"), test_hosts=hosts, test_key_pin=engines.key_pin, tool_timeout_s=120
    )
    async with Services.open(settings) as opened:
        yield opened


@contextlib.asynccontextmanager
async def connected(services: Services, era: str, *, output_schemas: bool) -> AsyncIterator[Client]:
    @contextlib.asynccontextmanager
    async def opening() -> AsyncIterator[Any]:
        yield services

    async with hold_services(opening) as holder:
        calls = CallDispatcher(TOOLS, holder, deadline_s=120)
        server = protocol.build(TOOLS, calls, version="1.2.3", on_handshake=holder.open, output_schemas=output_schemas)
        async with Client(server, mode=era) as client:
            yield client


def calls_of(site: Site, index: str) -> list[tuple[str, dict[str, Any]]]:
    """Return calls that reach every tool, each format and the failures that are answers; `index` is a new name."""
    page, broken = site.url("/rich"), site.url("/status/404")
    both: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "tidal power"}),
        ("fetch", {"url": page, "include": "headings,links,images"}),
        ("fetch", {"url": page, "length": 100}),
        ("fetch_batch", {"urls": [page, broken]}),
        ("read_doc", {"source": site.url("/document/log.pdf"), "outline": True}),
        ("research", {"question": "tidal power", "depth": 2}),
        ("map", {"url": page, "max_pages": 3}),
        ("crawl", {"url": page, "max_pages": 2}),
        ("changes", {"urls": [page]}),
        ("compare", {"question": "ships", "urls": [page, broken]}),
        ("extract_structured", {"url": site.url("/rich")}),
        ("extract_structured", {"url": site.url("/shop/late-list"), "records": True}),
        ("cache_search", {"query": "the"}),
    ]
    single: list[tuple[str, dict[str, Any]]] = [
        ("engines", {}),
        ("see", {"url": page}),
        ("see", {"url": page, "what": "pdf"}),
        ("web_search", {"query": "tidal power"}),
        ("instant_answer", {"query": "tide"}),
        ("search_create_index", {"index_name": index}),
        ("search_create_index", {"index_name": index}),
        ("search_add_document", {"doc_id": "a", "content": "some words", "index_name": index}),
        ("search_add_document", {"doc_id": "a", "content": " "}),
        ("search_index", {"query": "words", "index_name": index}),
        ("search_index", {"query": ""}),
        ("search_index", {"query": "x", "index_name": "none"}),
        ("find_tools", {"query": "read a page"}),
    ]
    formats = [(name, {**arguments, "format": form}) for name, arguments in both for form in ("markdown", "json")]
    return [*formats, *single]


def shown(answer: CallToolResult) -> dict[str, list[str]]:
    return shown_by_clients(answer.model_dump(by_alias=True, mode="json", exclude_none=True))


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("era", SLOW_TEST_ERAS)
async def test_every_kind_of_client_shows_a_model_the_same_whole_answer(
    services: Services, site: Site, era: str
) -> None:
    async with connected(services, era, output_schemas=False) as client:
        assert all(tool.output_schema is None for tool in (await client.list_tools()).tools)
        called = set()
        for name, arguments in calls_of(site, f"shown-{era}"):
            views = shown(await client.call_tool(name, arguments))
            text, *media = views["content only"]
            assert views["structured only"] == views["both"] == [text, *media], (name, arguments)
            file = "resource_link application/pdf" if arguments.get("what") == "pdf" else "image image/webp"
            assert media == ([file] if name == "see" else []), (name, arguments)
            if arguments.get("format") == "json":
                assert json.loads(text)
            elif arguments.get("format") == "markdown":
                assert "\n" in text and "\\n" not in text, (name, arguments)
            called.add(name)
        assert called == {tool.name for tool in TOOLS}


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("era", SLOW_TEST_ERAS)
async def test_with_the_setting_structured_content_is_the_object_of_the_text(
    services: Services, site: Site, era: str
) -> None:
    async with connected(services, era, output_schemas=True) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        assert [name for name, schema in schemas.items() if schema is None] == ["see"]
        for name, arguments in calls_of(site, f"schemas-{era}"):
            # The client of the SDK validates the structured content too.
            answer = await client.call_tool(name, arguments)
            views, data = shown(answer), answer.structured_content
            text, *media = views["content only"]
            if media:
                assert views["structured only"] == views["both"] == [text, *media], (name, arguments)
                continue
            jsonschema.validate(data, schemas[name], jsonschema.Draft202012Validator)
            is_json = arguments.get("format") == "json" or text.startswith(("{", "["))
            whole = json.loads(text) if is_json else text
            wraps = not is_json or (era == "legacy" and isinstance(whole, list))
            assert data == ({"result": whole} if wraps else whole), (name, arguments)
            assert not answer.is_error or list(data) == ["error"], (name, answer.content)
