"""Requirements of the document on `web_search` and `instant_answer`."""

from __future__ import annotations

import json
import re
from typing import Any

from benchmarks.contract.rows.row import Check, Row, require
from benchmarks.contract.rows.testbed import Testbed

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


async def _schema(testbed: Testbed, tool: str) -> dict[str, Any]:
    schema: dict[str, Any] = (await testbed.tools())[tool]["inputSchema"]
    return schema


async def _web_query(testbed: Testbed) -> str:
    schema = await _schema(testbed, "web_search")
    return require(schema["properties"]["query"] == _QUERY_SCHEMA and schema["required"] == ["query"], schema)


async def _web_count(testbed: Testbed) -> str:
    schema = await _schema(testbed, "web_search")
    return require(schema["properties"]["max_results"] == _COUNT_SCHEMA, schema["properties"]["max_results"])


async def _web_bounds(testbed: Testbed) -> str:
    wrong = [await testbed.call("web_search", query="tides", max_results=count) for count in (0, 31)]
    right = await testbed.call("web_search", query="tides", max_results=3)
    count = len(_ITEM.findall(right.text))
    return require(all(one.is_error for one in wrong) and count == 3, f"0 and 31 rejected, 3 gives {count}")


async def _web_default(testbed: Testbed) -> str:
    count = len(_ITEM.findall((await testbed.call("web_search", query="tides")).text))
    return require(count == 10, f"{count} results")


async def _web_engine(testbed: Testbed) -> str:
    await testbed.call("web_search", query=testbed.new_words())
    hosts = {request.host for request in testbed.engines.asked}
    return require(hosts == {"html.duckduckgo.com"}, hosts)


async def _web_success(testbed: Testbed) -> str:
    text = (await testbed.call("web_search", query="tides", max_results=3)).text
    items = _ITEM.findall(text)
    listed = "\n\n---\n\n".join(
        f"### {number}. {title}\n**URL:** {url}\n{snippet}" for number, title, url, snippet in items
    )
    expected = f'## Web Search Results for "tides"\n\n{listed}\n\n---\n\n_Source: DuckDuckGo (3 results)_'
    return require(text == expected and len(items) == 3, text[:110])


async def _web_none(testbed: Testbed) -> str:
    testbed.engines.moods["duckduckgo"] = "none"
    text = (await testbed.call("web_search", query="xyzzy12345noresult")).text
    expected = '## Web Search Results for "xyzzy12345noresult"\n\nNo results found.\n\n_Source: DuckDuckGo_'
    return require(text == expected, text)


async def _web_error(testbed: Testbed) -> str:
    testbed.engines.moods["duckduckgo"] = "limited"
    answer = await testbed.call("web_search", query=testbed.new_words())
    return require(answer.is_error and answer.content[0]["type"] == "text", answer.text)


async def _text_content(testbed: Testbed) -> str:
    answers = [await testbed.call("web_search", query="tides"), await testbed.call("instant_answer", query="tides")]
    plain = all(
        len(answer.content) == 1 and "structuredContent" not in answer.result and not answer.is_error
        for answer in answers
    )
    return require(plain, "one Markdown text each, nothing else")


async def _instant_schema(testbed: Testbed) -> str:
    schema = await _schema(testbed, "instant_answer")
    only = schema["properties"] == {"query": _QUERY_SCHEMA} and schema["required"] == ["query"]
    return require(only, schema)


async def _instant_success(testbed: Testbed) -> str:
    testbed.engines.instant = json.dumps(_RUST)
    text = (await testbed.call("instant_answer", query="Rust programming language")).text
    expected = (
        '## Instant Answer for "Rust programming language"\n\n### Abstract\n'
        "Rust is a multi-paradigm language.\n\n**Source:** Wikipedia\n"
        "**URL:** https://en.wikipedia.org/wiki/Rust_(programming_language)\n\n"
        "### Related Topics\n- **Cargo** - The Rust package manager\n\n"
        "_Source: DuckDuckGo Instant Answer API_"
    )
    return require(text == expected, text)


async def _instant_none(testbed: Testbed) -> str:
    testbed.engines.instant = json.dumps(_NOTHING)
    text = (await testbed.call("instant_answer", query="xyzzy12345noresult")).text
    expected = (
        '## Instant Answer for "xyzzy12345noresult"\n\nNo instant answer available for this query.\n\n'
        "_Source: DuckDuckGo Instant Answer API_"
    )
    return require(text == expected, text)


async def _instant_error(testbed: Testbed) -> str:
    testbed.engines.instant_status = 500
    testbed.engines.instant = "<h1>Internal server error</h1>"
    answer = await testbed.call("instant_answer", query=testbed.new_words("gone"))
    return require(answer.is_error and answer.content[0]["type"] == "text", answer.text)


async def _only_two_tools(testbed: Testbed) -> str:
    async with testbed.stdio(SEARCH_MCP_TOOLS="web_search,instant_answer") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    return require(names == ["web_search", "instant_answer"], names)


async def _descriptions(testbed: Testbed) -> str:
    tools = await testbed.tools()
    firsts = {name: tools[name]["description"].partition("\n")[0] for name in _DESCRIPTIONS}
    return require(firsts == _DESCRIPTIONS, firsts)


async def _input_schemas(testbed: Testbed) -> str:
    schemas = [await _schema(testbed, name) for name in _DESCRIPTIONS]
    return require(all(schema["type"] == "object" for schema in schemas), "both of type object")


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("003", paragraph, requirement, check)


ROWS = (
    _row("web_search: parameters", "query: a string, required", _web_query),
    _row("web_search: parameters", "max_results: an integer, 1 to 30, default 10", _web_count),
    _row("web_search: parameters", "max_results and its bounds are enforced", _web_bounds),
    _row("web_search: parameters", "ten results without max_results", _web_default),
    _row("web_search", "requests only html.duckduckgo.com", _web_engine),
    _row("web_search: output", "exactly the Markdown of the document", _web_success),
    _row("web_search: output", "no results: exactly the text of the document", _web_none),
    _row("web_search: errors", "isError with the message as text", _web_error),
    _row("web_search, instant_answer: return", "Markdown as content", _text_content),
    _row("instant_answer: parameters", "query: a string, required; nothing else", _instant_schema),
    _row("instant_answer: output", "exactly the Markdown of the document", _instant_success),
    _row("instant_answer: output", "no answer: exactly the text of the document", _instant_none),
    _row("instant_answer: errors", "isError with the message as text", _instant_error),
    _row("tools/list", "can list only the two tools", _only_two_tools),
    _row("tools/list", "descriptions begin as in the document", _descriptions),
    _row("tools/list", "input schemas are objects", _input_schemas),
)
