"""Every tool hands the caller's name to whatever it asks: cookies, kept pages and indexes go by it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from scraper.model import DocumentRequest, ReadRequest
from scraper.search.argument_validation import SearchRequest
from scraper.services import Services
from scraper.settings import Settings
from scraper.tools import cached_resources, registry, search_tools
from scraper.tools.model import Tool, ToolCall

URL = "https://example.org/a"
ASKED: dict[str, dict[str, Any]] = {
    "search": {"query": "tides"},
    "fetch": {"url": URL},
    "fetch_batch": {"urls": [URL]},
    "read_doc": {"source": URL},
    "research": {"question": "how high are tides"},
    "map": {"url": URL},
    "crawl": {"url": URL},
    "changes": {"urls": [URL]},
    "see": {"url": URL},
    "compare": {"question": "tides", "urls": [URL, URL + "b"]},
    "extract_structured": {"url": URL},
    "cache_search": {"query": "tides"},
    "web_search": {"query": "tides"},
    "instant_answer": {"query": "tides"},
    "search_index": {"index_name": "notes", "query": "tides"},
    "search_add_document": {"index_name": "notes", "doc_id": "1", "content": "tides"},
    "search_create_index": {"index_name": "notes"},
    "find_tools": {"query": "tides", "kind": "resources"},
}
PAIR: dict[str, dict[str, Any]] = {"search": {"query": "tides"}, "fetch": {"id": URL}}
PUBLIC = {"engines"}
"""Tools that say the same to everybody."""


class Service:
    """Stands for every service: notes for whom it is asked, and answers nothing."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def __getattr__(self, _name: str) -> Service:
        return self

    def __call__(self, *given: Any, **named: Any) -> Any:
        kinds = (DocumentRequest, ReadRequest, SearchRequest)
        requests = [value.principal for value in given if isinstance(value, kinds)]
        self._names += requests or [named.get("principal", "nobody")]
        raise RuntimeError("asked")


def app_of(names: list[str]) -> Services:
    app = Service(names)
    app.settings = Settings()  # type: ignore[attr-defined]
    return cast(Services, app)


def test_no_tool_is_left_out() -> None:
    assert ASKED.keys() | PUBLIC == {tool.name for tool in registry.tools()}
    assert PAIR.keys() == {tool.name for tool in search_tools.openai_tools()}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        *((tool, ASKED[tool.name]) for tool in registry.tools() if tool.name in ASKED),
        *((tool, PAIR[tool.name]) for tool in search_tools.openai_tools()),
    ],
    ids=lambda value: value.name if isinstance(value, Tool) else "",
)
async def test_a_tool_asks_in_its_callers_name(tool: Tool, arguments: dict[str, Any]) -> None:
    assert tool.fault(arguments) is None
    names: list[str] = []
    await asyncio.wait_for(tool.run(app_of(names), arguments, ToolCall(principal="ann", deadline_s=5)), 30)
    assert set(names) == {"ann"}


@pytest.mark.parametrize("uri", [f"page://{URL}", "index://notes/1"])
async def test_a_resource_is_looked_for_in_its_callers_name(uri: str) -> None:
    names: list[str] = []
    with pytest.raises(RuntimeError, match="asked"):
        await cached_resources.read(app_of(names), "ann", uri)
    assert names == ["ann"]


async def test_resources_are_listed_and_found_in_their_callers_name() -> None:
    names: list[str] = []
    for work in (
        cached_resources.list_resources(app_of(names), "ann", None, 10),
        cached_resources.search(app_of(names), "ann", "tides", 0, 5),
    ):
        with pytest.raises(RuntimeError, match="asked"):
            await work
    assert names == ["ann", "ann"]
