"""The inspector's command line: every tool over both transports, and strict validation of the tool list."""

from __future__ import annotations

import base64
import json
from typing import Any

import jsonschema
import pytest

from scraper.tools import registry
from scraper.tools.model import Tool
from tests.clients.environments import NODE
from tests.clients.product import TRANSPORTS, Product, run_client
from tests.clients.required import require_environment
from tests.site.running import Site

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.full_size]

ERAS = ("legacy", "modern")
CONNECT_MS = "60000"
"""Seconds. The default of 15 s is too short to start a server on a busy machine."""
ARGUMENTS: dict[str, dict[str, Any]] = {
    "search": {"query": "lemons", "engines": ["bing"]},
    "fetch": {"url": "{page}"},
    "fetch_batch": {"urls": ["{page}"]},
    "read_doc": {"source": "{document}"},
    "research": {"question": "lemons", "engines": ["bing"]},
    "see": {"url": "{page}"},
    "map": {"url": "{page}", "max_pages": 3},
    "crawl": {"url": "{page}", "max_pages": 2},
    "changes": {"urls": ["{page}"]},
    "compare": {"question": "lemons or limes?", "urls": ["{page}", "{other}"]},
    "extract_structured": {"url": "{page}"},
    "cache_search": {"query": "lemons"},
    "engines": {},
    "web_search": {"query": "lemons"},
    "instant_answer": {"query": "lemons"},
    "search_index": {"index_name": "none", "query": "lemons"},
    "search_add_document": {"index_name": "notes", "doc_id": "1", "content": "lemons"},
    "search_create_index": {"index_name": "inspected-{transport}"},
    "find_tools": {"query": "read a page"},
}
FAILS = frozenset({"search", "research", "web_search", "instant_answer", "search_index", "search_add_document"})
"""Tools that report an error here: there are no engines on loopback, and the index does not exist."""


async def inspected(served: Product, transport: str, *arguments: str) -> tuple[int, str, str]:
    """Return the output of the inspector for the product."""
    require_environment(NODE)
    if transport == "http":
        where = [served.url, "--transport", "http"]
        where += [part for name, value in served.headers.items() for part in ("--header", f"{name}: {value}")]
    else:
        env = [part for name, value in served.command["env"].items() for part in ("-e", f"{name}={value}")]
        where = [served.command["command"], *served.command["args"], "--transport", "stdio", *env]
    patient = ("--connect-timeout", CONNECT_MS)
    return await run_client((*NODE.command("mcp-inspector"), "--cli", *where, *patient, *arguments))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_list_of_tools_is_portable(served: Product, transport: str, era: str) -> None:
    listing = ("--protocol-era", era, "--method", "tools/list", "--strict")
    code, out, err = await inspected(served, transport, *listing)
    assert code == 0, out + err
    assert [tool["name"] for tool in json.loads(out)["tools"]] == [tool.name for tool in registry.tools()]


@pytest.mark.parametrize("tool", registry.tools(), ids=lambda tool: tool.name)
def test_every_tool_has_valid_test_arguments(tool: Tool) -> None:
    jsonschema.validate(ARGUMENTS[tool.name], tool.input_schema)


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_every_tool_is_called(served: Product, site: Site, transport: str, name: str) -> None:
    named = {
        "{page}": site.url("/static/7"),
        "{other}": site.url("/static/8"),
        "{document}": site.url("/static/7"),
        "{transport}": transport,
    }
    arguments = json.dumps(ARGUMENTS[name])
    for mark, meant in named.items():
        arguments = arguments.replace(mark, meant)
    era = ERAS[len(name) % 2]
    calling = ("--protocol-era", era, "--method", "tools/call", "--tool-name", name)
    code, out, err = await inspected(served, transport, *calling, "--tool-args-json", arguments)
    assert out, err
    answer = json.loads(out)
    text = answer["content"][0]["text"]
    assert text and "argument" not in text and "must be" not in text
    if name not in FAILS:
        assert code == 0, err
        assert not answer.get("isError")
    if name == "see":
        (picture,) = [block for block in answer["content"] if block["type"] == "image"]
        assert picture["mimeType"] == "image/webp" and base64.b64decode(picture["data"])[8:12] == b"WEBP"
