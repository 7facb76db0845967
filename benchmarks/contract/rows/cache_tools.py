"""Requirements for `cache_search`, and for all nine tools."""

from __future__ import annotations

from typing import Any

from benchmarks.contract.rows.row import Check, Row, require
from benchmarks.contract.rows.testbed import Testbed

_NINE = (
    "search",
    "fetch",
    "fetch_batch",
    "read_doc",
    "research",
    "cache_search",
    "engines",
    "compare",
    "extract_structured",
)
_PARTS = ("Best for", "Not recommended for", "Returns", "Common mistakes")


async def _found(testbed: Testbed, query: str, **arguments: Any) -> list[dict[str, Any]]:
    await testbed.call("fetch", url=testbed.site.url("/rich"))
    answer = await testbed.call("cache_search", query=query, format="json", **arguments)
    rows: list[dict[str, Any]] = answer.data
    return rows


async def _nine(testbed: Testbed) -> str:
    names = list(await testbed.tools())
    return require(set(_NINE) <= set(names), f"{len(names)} tools, the nine among them")


async def _five_parts(testbed: Testbed) -> str:
    tools = await testbed.tools()
    bad = [
        name
        for name, tool in tools.items()
        if not all(f"\n{part}:" in tool["description"] for part in _PARTS) or len(tool["description"]) >= 1_200
    ]
    return require(not bad, f"{len(tools)} descriptions of five parts below 1,200 characters; not: {bad}")


async def _formats(testbed: Testbed) -> str:
    tools = await testbed.tools()
    formats = {name: tools[name]["inputSchema"]["properties"]["format"] for name in _NINE if name not in {"engines"}}
    good = all(one["enum"][:2] == ["markdown", "json"] and one["default"] == "markdown" for one in formats.values())
    return require(good, "eight tools: markdown by default, or json; fetch also text and html")


async def _markdown(testbed: Testbed) -> str:
    await _found(testbed, "knot")
    text = (await testbed.call("cache_search", query="knot")).text
    return require("/rich" in text and "[knot]" in text.lower(), text[-160:])


async def _json(testbed: Testbed) -> str:
    rows = await _found(testbed, "knot")
    return require(rows and {"url", "title", "snippet"} <= rows[0].keys(), rows[0])


async def _only_fetched(testbed: Testbed) -> str:
    asked = len(testbed.engines.asked)
    rows = await _found(testbed, "zyzzyvaqq")
    return require(rows == [] and len(testbed.engines.asked) == asked, "no result, no request to an engine")


async def _bare_terms(testbed: Testbed) -> str:
    both, none = await _found(testbed, "ship knot"), await _found(testbed, "ship zyzzyvaqq")
    return require(both and not none, f"{len(both)} with both words, {len(none)} with one that no page has")


async def _or(testbed: Testbed) -> str:
    return require(await _found(testbed, "zyzzyvaqq OR knot"), "found by one of two")


async def _not(testbed: Testbed) -> str:
    left, all_gone = await _found(testbed, "nautical NOT zyzzyvaqq"), await _found(testbed, "nautical NOT ship")
    return require(left and not all_gone, f"{len(left)} without a word that no page has, none without a word of it")


async def _prefix(testbed: Testbed) -> str:
    return require(await _found(testbed, "nautic*"), "nautic* finds nautical")


async def _phrase(testbed: Testbed) -> str:
    there, not_there = await _found(testbed, '"strong words"'), await _found(testbed, '"words plain"')
    return require(there and not not_there, "in this order only")


async def _limit(testbed: Testbed) -> str:
    for number in (61, 62, 63):
        await testbed.call("fetch", url=testbed.site.url(f"/static/{number}"))
    rows = await _found(testbed, "harbour", limit=2)
    return require(len(rows) == 2, f"{len(rows)} of several results")


async def _never_an_error(testbed: Testbed) -> str:
    queries = ('"unclosed', "a AND", "*", "NEAR(", "col:x", "C++", "it's", "💥")
    answers = [await testbed.call("cache_search", query=query) for query in queries]
    return require(not any(answer.is_error for answer in answers), f"{len(queries)} unusual queries, no error")


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("001", paragraph, requirement, check)


ROWS = (
    _row("all tools", "the nine tools are listed", _nine),
    _row("all tools", "descriptions state purpose, best for, not for, returns, mistakes", _five_parts),
    _row("all tools: Args", "format is markdown (default) or json", _formats),
    _row("cache_search: Returns", "markdown: title, URL, snippet with [brackets]", _markdown),
    _row("cache_search: Returns", "json: a list of url, title, snippet", _json),
    _row("cache_search: Common mistakes", "only pages that were fetched are found", _only_fetched),
    _row("cache_search: Args", "all bare terms are required", _bare_terms),
    _row("cache_search: Args", "OR", _or),
    _row("cache_search: Args", "NOT", _not),
    _row("cache_search: Args", "prefix*", _prefix),
    _row("cache_search: Args", '"exact phrase"', _phrase),
    _row("cache_search: Args", "limit", _limit),
    _row("cache_search: Args", "no query is an error", _never_an_error),
)
