"""Rows of the nine tools: `cache_search`, and what holds for all of them."""

from __future__ import annotations

from typing import Any

from benchmarks.contract.rows.row import Check, Row, seen
from benchmarks.contract.rows.world import World

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


async def _found(world: World, query: str, **arguments: Any) -> list[dict[str, Any]]:
    await world.call("fetch", url=world.site.url("/rich"))
    answer = await world.call("cache_search", query=query, format="json", **arguments)
    rows: list[dict[str, Any]] = answer.data
    return rows


async def _nine(world: World) -> str:
    names = list(await world.tools())
    return seen(set(_NINE) <= set(names), f"{len(names)} tools, the nine among them")


async def _five_parts(world: World) -> str:
    tools = await world.tools()
    bad = [
        name
        for name, tool in tools.items()
        if not all(f"\n{part}:" in tool["description"] for part in _PARTS) or len(tool["description"]) >= 1_200
    ]
    return seen(not bad, f"{len(tools)} descriptions of five parts below 1,200 characters; not: {bad}")


async def _formats(world: World) -> str:
    tools = await world.tools()
    formats = {name: tools[name]["inputSchema"]["properties"]["format"] for name in _NINE if name not in {"engines"}}
    good = all(one["enum"] == ["markdown", "json"] and one["default"] == "markdown" for one in formats.values())
    return seen(good, "eight tools: markdown by default, or json")


async def _markdown(world: World) -> str:
    await _found(world, "knot")
    text = (await world.call("cache_search", query="knot")).text
    return seen("/rich" in text and "[knot]" in text.lower(), text[-160:])


async def _json(world: World) -> str:
    rows = await _found(world, "knot")
    return seen(rows and {"url", "title", "snippet"} <= rows[0].keys(), rows[0])


async def _only_fetched(world: World) -> str:
    asked = len(world.engines.asked)
    rows = await _found(world, "zyzzyvaqq")
    return seen(rows == [] and len(world.engines.asked) == asked, "no hit, no engine asked")


async def _bare_terms(world: World) -> str:
    both, none = await _found(world, "ship knot"), await _found(world, "ship zyzzyvaqq")
    return seen(both and not none, f"{len(both)} with both words, {len(none)} with one that is nowhere")


async def _or(world: World) -> str:
    return seen(await _found(world, "zyzzyvaqq OR knot"), "found by one of two")


async def _not(world: World) -> str:
    left, all_gone = await _found(world, "nautical NOT zyzzyvaqq"), await _found(world, "nautical NOT ship")
    return seen(left and not all_gone, f"{len(left)} without a word that is nowhere, none without one of it")


async def _prefix(world: World) -> str:
    return seen(await _found(world, "nautic*"), "nautic* finds nautical")


async def _phrase(world: World) -> str:
    there, not_there = await _found(world, '"strong words"'), await _found(world, '"words plain"')
    return seen(there and not not_there, "in this order only")


async def _limit(world: World) -> str:
    for number in (61, 62, 63):
        await world.call("fetch", url=world.site.url(f"/static/{number}"))
    rows = await _found(world, "harbour", limit=2)
    return seen(len(rows) == 2, f"{len(rows)} of several hits")


async def _never_an_error(world: World) -> str:
    queries = ('"unclosed', "a AND", "*", "NEAR(", "col:x", "C++", "it's", "💥")
    answers = [await world.call("cache_search", query=query) for query in queries]
    return seen(not any(answer.is_error for answer in answers), f"{len(queries)} odd queries, no error")


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("001", paragraph, requirement, check)


ROWS = (
    _row("all tools", "the nine are offered", _nine),
    _row("all tools", "descriptions say what, best for, not for, returns, mistakes", _five_parts),
    _row("all tools: Args", "format is markdown (default) or json", _formats),
    _row("cache_search: Returns", "markdown: title, URL, snippet with [brackets]", _markdown),
    _row("cache_search: Returns", "json: a list of url, title, snippet", _json),
    _row("cache_search: Common mistakes", "only pages that were fetched are found", _only_fetched),
    _row("cache_search: Args", "bare terms must all be there", _bare_terms),
    _row("cache_search: Args", "OR", _or),
    _row("cache_search: Args", "NOT", _not),
    _row("cache_search: Args", "prefix*", _prefix),
    _row("cache_search: Args", '"exact phrase"', _phrase),
    _row("cache_search: Args", "limit", _limit),
    _row("cache_search: Args", "whatever is asked, it is no error", _never_an_error),
)
