"""The list of tools: what every client reads before it calls anything."""

from __future__ import annotations

import json

import jsonschema
import pytest

from scraper.settings import Settings, SettingsError
from scraper.tools import registry
from scraper.tools.model import Tool

DESCRIPTION_CHARS = 1_200
ALL = registry.tools()
BY_NAME = {tool.name: tool for tool in ALL}


def listed(tools: tuple[Tool, ...]) -> str:
    return json.dumps(
        [[tool.name, tool.title, tool.description, tool.input_schema] for tool in tools],
        separators=(",", ":"),
        ensure_ascii=False,
    )


def test_the_order_is_fixed() -> None:
    order = ["search", "fetch", "fetch_batch", "engines", "web_search", "instant_answer"]
    assert [tool.name for tool in ALL if tool.name in order] == order


def test_fetch_has_the_parameters_of_the_contract_and_paging() -> None:
    schema = BY_NAME["fetch"].input_schema
    assert list(schema["properties"]) == [
        "url", "render", "force_refresh", "max_age_hours", "format", "start", "length", "include",
        "question", "tokens", "links", "wait_for", "select", "exclude", "profile",
    ]  # fmt: skip
    assert schema["required"] == ["url"]
    assert schema["properties"]["render"]["enum"] == ["auto", "http", "browser"]
    assert schema["properties"]["format"]["enum"] == ["markdown", "json", "text", "html"]
    defaults = {name: entry.get("default") for name, entry in schema["properties"].items()}
    assert defaults == {
        "url": None, "render": "auto", "force_refresh": False, "max_age_hours": None,
        "format": "markdown", "start": 0, "length": None, "include": None,
        "question": None, "tokens": None, "links": "inline", "wait_for": None, "select": None, "exclude": None,
        "profile": None,
    }  # fmt: skip


def test_search_has_the_parameters_of_the_contract() -> None:
    schema = BY_NAME["search"].input_schema
    assert list(schema["properties"]) == [
        "query", "engines", "max_results", "use_cache", "max_age_hours", "freshness", "include_domains",
        "exclude_domains", "category", "include_text", "exclude_text", "format",
    ]  # fmt: skip
    assert schema["required"] == ["query"]
    assert schema["properties"]["freshness"]["enum"] == ["day", "week", "month", "year"]
    categories = schema["properties"]["category"]["enum"]
    assert categories[:6] == ["news", "pdf", "github", "paper", "forum", "blog"]
    defaults = {name: entry["default"] for name, entry in schema["properties"].items() if "default" in entry}
    assert defaults == {"max_results": 10, "use_cache": True, "format": "markdown"}


def test_web_search_and_instant_answer_have_the_parameters_of_the_contract() -> None:
    schema = BY_NAME["web_search"].input_schema
    assert schema["required"] == ["query"]
    assert schema["properties"]["max_results"] == {
        "type": "integer", "minimum": 1, "maximum": 30, "default": 10,
        "description": "返却する検索結果の最大数（デフォルト: 10）",
    }  # fmt: skip
    assert BY_NAME["instant_answer"].input_schema["required"] == ["query"]
    assert set(BY_NAME["instant_answer"].input_schema["properties"]) == {"query"}


def test_fetch_batch_has_the_parameters_of_the_contract() -> None:
    schema = BY_NAME["fetch_batch"].input_schema
    assert list(schema["properties"]) == ["urls", "render", "format", "question", "tokens"]
    assert schema["required"] == ["urls"]
    assert schema["properties"]["urls"]["items"] == {"type": "string"}


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_a_description_has_its_parts_and_is_short(tool: Tool) -> None:
    assert len(tool.description) <= DESCRIPTION_CHARS
    for part in ("Best for:", "Not recommended for:", "Returns:", "Common mistakes:"):
        assert f"\n{part}" in tool.description
    assert not tool.description.startswith("Best")


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_a_schema_is_strict_and_every_argument_is_described_and_bounded(tool: Tool) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.input_schema)
    for name, entry in tool.input_schema["properties"].items():
        assert entry["description"], name
        assert isinstance(entry["type"], str), name
        if entry["type"] in {"integer", "number"}:
            assert "minimum" in entry and "maximum" in entry, name
        if entry["type"] == "array":
            assert entry["maxItems"], name


def test_no_schema_has_what_some_clients_refuse() -> None:
    text = listed(ALL)
    for word in ("anyOf", "oneOf", "allOf", "$ref", "$defs", '"title"', "null"):
        assert word not in text, word


def test_the_list_costs_a_caller_little() -> None:
    assert len(listed(ALL)) / 4 < 5_100
    core = {"search", "fetch", "fetch_batch", "read_doc", "research"}
    assert len(listed(tuple(tool for tool in ALL if tool.name in core))) / 4 < 2_200


def test_the_tools_for_sites_cost_a_caller_little() -> None:
    lengths = [
        len(json.dumps(entry, ensure_ascii=False, separators=(",", ":")))
        for tool in ALL
        if tool.name in {"map", "crawl", "changes"}
        for entry in [
            {"name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.input_schema}
        ]
    ]
    assert len(lengths) == 3 and sum(lengths) / 4 <= 600


def test_an_operators_settings_show_in_the_schema() -> None:
    tools = {tool.name: tool for tool in registry.tools(Settings(batch_limit=7, cache_ttl_h=12))}
    fetch, batch = tools["fetch"], tools["fetch_batch"]
    assert batch.input_schema["properties"]["urls"]["maxItems"] == 7
    assert "Default: 12." in fetch.input_schema["properties"]["max_age_hours"]["description"]


def test_an_operator_can_offer_fewer_tools_in_the_usual_order() -> None:
    assert [tool.name for tool in registry.tools(Settings(tools=("fetch",)))] == ["fetch"]
    assert registry.tools(Settings(tools=("fetch_batch", "fetch")))[0].name == "fetch"


def test_an_unknown_tool_gets_a_suggestion() -> None:
    with pytest.raises(SettingsError, match=r"names 'fetchbatch', .*did you mean \"fetch_batch\""):
        registry.tools(Settings(tools=("fetchbatch",)))
