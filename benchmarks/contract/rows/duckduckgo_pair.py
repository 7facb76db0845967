"""Rows of the document on `web_search` and `instant_answer`."""

from __future__ import annotations

import json
import re
from typing import Any

from benchmarks.contract.rows.row import Check, Row, seen
from benchmarks.contract.rows.world import World

_QUERY_SCHEMA = {"type": "string", "description": "検索キーワード"}
_COUNT_SCHEMA = {
    "type": "integer",
    "description": "返却する検索結果の最大数（デフォルト: 10）",
    "default": 10,
    "minimum": 1,
    "maximum": 30,
}
_DESCRIPTIONS = {
    "web_search": "Search the web using DuckDuckGo and return a list of results with titles, URLs, and snippets.",
    "instant_answer": "Get an instant answer from DuckDuckGo, including abstracts, definitions, and related topics.",
}
_ITEM = re.compile(r"### (\d+)\. (.+)\n\*\*URL:\*\* (https?://\S+)\n(.+)")
_RUST = {
    "Heading": "Rust (programming language)",
    "Abstract": "Rust is a multi-paradigm language.",
    "AbstractText": "Rust is a multi-paradigm language.",
    "AbstractSource": "Wikipedia",
    "AbstractURL": "https://en.wikipedia.org/wiki/Rust_(programming_language)",
    "RelatedTopics": [
        {
            "Text": "Cargo - The Rust package manager",
            "FirstURL": "https://duckduckgo.com/Cargo",
            "Result": '<a href="https://duckduckgo.com/Cargo">Cargo</a> - The Rust package manager',
        }
    ],
    "Type": "A",
}
_NOTHING: dict[str, Any] = {"Heading": "", "Abstract": "", "AbstractText": "", "RelatedTopics": [], "Type": ""}


async def _schema(world: World, tool: str) -> dict[str, Any]:
    schema: dict[str, Any] = (await world.tools())[tool]["inputSchema"]
    return schema


async def _web_query(world: World) -> str:
    schema = await _schema(world, "web_search")
    return seen(schema["properties"]["query"] == _QUERY_SCHEMA and schema["required"] == ["query"], schema)


async def _web_count(world: World) -> str:
    schema = await _schema(world, "web_search")
    return seen(schema["properties"]["max_results"] == _COUNT_SCHEMA, schema["properties"]["max_results"])


async def _web_bounds(world: World) -> str:
    wrong = [await world.call("web_search", query="tides", max_results=count) for count in (0, 31)]
    right = await world.call("web_search", query="tides", max_results=3)
    count = len(_ITEM.findall(right.text))
    return seen(all(one.is_error for one in wrong) and count == 3, f"0 and 31 refused, 3 gives {count}")


async def _web_default(world: World) -> str:
    count = len(_ITEM.findall((await world.call("web_search", query="tides")).text))
    return seen(count == 10, f"{count} results")


async def _web_engine(world: World) -> str:
    await world.call("web_search", query=world.new_words())
    asked = {asked.host for asked in world.engines.asked}
    return seen(asked == {"html.duckduckgo.com"}, asked)


async def _web_success(world: World) -> str:
    text = (await world.call("web_search", query="tides", max_results=3)).text
    items = _ITEM.findall(text)
    made = "\n\n---\n\n".join(
        f"### {number}. {title}\n**URL:** {url}\n{snippet}" for number, title, url, snippet in items
    )
    whole = f'## Web Search Results for "tides"\n\n{made}\n\n---\n\n_Source: DuckDuckGo (3 results)_'
    return seen(text == whole and len(items) == 3, text[:110])


async def _web_none(world: World) -> str:
    world.engines.moods["duckduckgo"] = "none"
    text = (await world.call("web_search", query="xyzzy12345noresult")).text
    whole = '## Web Search Results for "xyzzy12345noresult"\n\nNo results found.\n\n_Source: DuckDuckGo_'
    return seen(text == whole, text)


async def _web_error(world: World) -> str:
    world.engines.moods["duckduckgo"] = "limited"
    answer = await world.call("web_search", query=world.new_words())
    return seen(answer.is_error and answer.content[0]["type"] == "text", answer.text)


async def _text_content(world: World) -> str:
    answers = [await world.call("web_search", query="tides"), await world.call("instant_answer", query="tides")]
    plain = all(
        len(answer.content) == 1 and "structuredContent" not in answer.result and not answer.is_error
        for answer in answers
    )
    return seen(plain, "one Markdown text each, nothing beside it")


async def _instant_schema(world: World) -> str:
    schema = await _schema(world, "instant_answer")
    only = schema["properties"] == {"query": _QUERY_SCHEMA} and schema["required"] == ["query"]
    return seen(only, schema)


async def _instant_success(world: World) -> str:
    world.engines.instant = json.dumps(_RUST)
    text = (await world.call("instant_answer", query="Rust programming language")).text
    whole = (
        '## Instant Answer for "Rust programming language"\n\n### Abstract\n'
        "Rust is a multi-paradigm language.\n\n**Source:** Wikipedia\n"
        "**URL:** https://en.wikipedia.org/wiki/Rust_(programming_language)\n\n"
        "### Related Topics\n- **Cargo** - The Rust package manager\n\n"
        "_Source: DuckDuckGo Instant Answer API_"
    )
    return seen(text == whole, text)


async def _instant_none(world: World) -> str:
    world.engines.instant = json.dumps(_NOTHING)
    text = (await world.call("instant_answer", query="xyzzy12345noresult")).text
    whole = (
        '## Instant Answer for "xyzzy12345noresult"\n\nNo instant answer available for this query.\n\n'
        "_Source: DuckDuckGo Instant Answer API_"
    )
    return seen(text == whole, text)


async def _instant_error(world: World) -> str:
    world.engines.instant_status = 500
    world.engines.instant = "<h1>Internal server error</h1>"
    answer = await world.call("instant_answer", query=world.new_words("gone"))
    return seen(answer.is_error and answer.content[0]["type"] == "text", answer.text)


async def _narrowed(world: World) -> str:
    async with world.stdio(SEARCH_MCP_TOOLS="web_search,instant_answer") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    return seen(names == ["web_search", "instant_answer"], names)


async def _descriptions(world: World) -> str:
    tools = await world.tools()
    firsts = {name: tools[name]["description"].partition("\n")[0] for name in _DESCRIPTIONS}
    return seen(firsts == _DESCRIPTIONS, firsts)


async def _input_schemas(world: World) -> str:
    schemas = [await _schema(world, name) for name in _DESCRIPTIONS]
    return seen(all(schema["type"] == "object" for schema in schemas), "both of type object")


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("003", paragraph, requirement, check)


ROWS = (
    _row("web_search: parameters", "query: a string, required", _web_query),
    _row("web_search: parameters", "max_results: an integer, 1 to 30, by default 10", _web_count),
    _row("web_search: parameters", "max_results holds, and its bounds", _web_bounds),
    _row("web_search: parameters", "ten results when none is said", _web_default),
    _row("web_search", "asks html.duckduckgo.com alone", _web_engine),
    _row("web_search: output", "the Markdown of the document to the letter", _web_success),
    _row("web_search: output", "no results: the text of the document to the letter", _web_none),
    _row("web_search: errors", "isError with the message as text", _web_error),
    _row("web_search, instant_answer: return", "Markdown as content", _text_content),
    _row("instant_answer: parameters", "query: a string, required; nothing else", _instant_schema),
    _row("instant_answer: output", "the Markdown of the document to the letter", _instant_success),
    _row("instant_answer: output", "nothing known: the text of the document to the letter", _instant_none),
    _row("instant_answer: errors", "isError with the message as text", _instant_error),
    _row("tools/list", "can be exactly the two tools", _narrowed),
    _row("tools/list", "descriptions begin as in the document", _descriptions),
    _row("tools/list", "input schemas are objects", _input_schemas),
)
