"""Rows of the nine tools: `research`, `compare`, `extract_structured`."""

from __future__ import annotations

from typing import Any

from benchmarks.contract.rows.row import Check, Row, seen
from benchmarks.contract.rows.world import World

_QUESTION = "what is known about heat pumps"


async def _brief(world: World, **arguments: Any) -> dict[str, Any]:
    arguments.setdefault("question", _QUESTION)
    data: dict[str, Any] = (await world.call("research", format="json", **arguments)).data
    return data


async def _both(world: World) -> str:
    data = await _brief(world)
    return seen(len(data["sources"]) > 3 and len(data["documents"]) == 3, f"{len(data['documents'])} read")


async def _research_markdown(world: World) -> str:
    text = (await world.call("research", question=_QUESTION)).text
    parts = text.startswith("# Research brief") and "## Sources" in text and "\n---\n" in text
    return seen(parts and "[1]" in text and "okens" in text, text[:120])


async def _research_json(world: World) -> str:
    data = await _brief(world)
    keys = {"question", "engines", "sources", "documents", "tokens_estimated", "errors"}
    named = {"rank", "title", "url", "snippet"} <= data["sources"][0].keys()
    return seen(keys <= data.keys() and named, list(data))


async def _depth(world: World) -> str:
    counts = [len((await _brief(world, depth=depth))["documents"]) for depth in (1, 5)]
    schema = (await world.tools())["research"]["inputSchema"]["properties"]["depth"]
    bounds = (schema["minimum"], schema["maximum"], schema["default"])
    return seen(counts == [1, 5] and bounds == (1, 8, 3), f"{counts}; {bounds}")


async def _sources_only(world: World) -> str:
    data = await _brief(world, fetch=False)
    return seen(data["sources"] and data["documents"] == [], f"{len(data['sources'])} sources, none read")


async def _engines(world: World) -> str:
    data = await _brief(world, question=world.new_words(), engines=["mojeek"], depth=1)
    return seen(data["engines"] == ["mojeek"], data["engines"])


async def _anew(world: World) -> str:
    question = world.new_words("wind turbines")
    first = await _brief(world, question=question, depth=1)
    kept = await _brief(world, question=question, depth=1)
    anew = await _brief(world, question=question, depth=1, max_age_hours=0)
    searches = [part["cached"] for part in (first, kept, anew)]
    pages = [part["documents"][0]["cached"] for part in (first, kept, anew)]
    return seen(searches == pages == [False, True, False], f"searches {searches}, pages {pages}")


async def _aged(world: World) -> str:
    question = world.new_words("wind turbines")
    await _brief(world, question=question, depth=1)
    old = await _brief(world, question=question, depth=1, max_age_hours=0.000001)
    young = await _brief(world, question=question, depth=1, max_age_hours=1)
    states = [(part["cached"], part["documents"][0]["cached"]) for part in (old, young)]
    return seen(states == [(False, False), (True, True)], f"search and page cached: {states}")


async def _no_cache(world: World) -> str:
    question = world.new_words("wind turbines")
    await _brief(world, question=question, fetch=False)
    return seen(not (await _brief(world, question=question, fetch=False, use_cache=False))["cached"], "anew")


async def _research_errors(world: World) -> str:
    world.engines.moods["mojeek"] = "wall"
    data = await _brief(world, question=world.new_words(), depth=1)
    return seen("mojeek" in data["errors"] and data["documents"], data["errors"])


async def _compared(world: World, *paths: str, **arguments: Any) -> Any:
    urls = [world.site.url(path) for path in paths]
    return await world.call("compare", question="What does note 7 say?", urls=urls, **arguments)


async def _compare_markdown(world: World) -> str:
    text = (await _compared(world, "/rich", "/static/41")).text
    parts = text.find("/rich") < text.find("/static/41") and text.count("\n## ") >= 2
    return seen(parts and "Ada Quay" in text and "2024-05-06" in text, text[:100])


async def _compare_json(world: World) -> str:
    data = (await _compared(world, "/rich", "/static/41", format="json")).data
    keys = {"question", "urls", "excerpts", "tokens_estimated"} <= data.keys()
    named = {"url", "title", "excerpt"} <= data["excerpts"][0].keys()
    return seen(keys and named and len(data["excerpts"]) == 2, list(data["excerpts"][0]))


async def _excerpts(world: World) -> str:
    urls = [world.site.url("/long/300"), world.site.url("/static/41")]
    data = (await world.call("compare", question="What does note 217 say?", urls=urls, format="json")).data
    text = data["excerpts"][0]["excerpt"]
    return seen("MARK-long-217" in text and len(text) < 40_000, f"the passage, in {len(text):,} characters")


async def _two_to_five(world: World) -> str:
    paths = [f"/static/{number}" for number in range(50, 56)]
    few, many = await _compared(world, paths[0]), await _compared(world, *paths)
    five = await _compared(world, *paths[:5])
    return seen(few.is_error and many.is_error and not five.is_error, f"1: {few.text[:60]} 6: {many.text[:60]}")


async def _compare_failure(world: World) -> str:
    data = (await _compared(world, "/static/41", "/status/404", format="json")).data
    states = ["error" in excerpt for excerpt in data["excerpts"]]
    return seen(states == [False, True], data["excerpts"][1]["error"])


async def _fields(world: World, path: str) -> dict[str, Any]:
    url = world.site.url(path)
    data: dict[str, Any] = (await world.call("extract_structured", url=url, format="json")).data
    return data


async def _structured_json(world: World) -> str:
    data = await _fields(world, "/shop/every")
    lists = all(isinstance(data[name], list) for name in ("json_ld", "microdata", "opengraph", "rdfa"))
    filled = all(data[name] for name in ("json_ld", "microdata", "opengraph", "rdfa"))
    return seen(lists and filled and data["url"], list(data))


async def _twitter(world: World) -> str:
    cards = (await _fields(world, "/shop/every"))["opengraph"]
    return seen("twitter:card" in str(cards), cards)


async def _product(world: World) -> str:
    product = (await _fields(world, "/shop/injected"))["product"]
    return seen("49.9" in str(product) and "EUR" in str(product), product)


async def _structured_markdown(world: World) -> str:
    text = (await world.call("extract_structured", url=world.site.url("/shop/every"))).text
    named = all(name in text.lower() for name in ("json_ld", "microdata", "opengraph", "rdfa"))
    return seen(named and "```json" in text, f"{text.count('```json')} blocks under their syntax")


async def _none(world: World) -> str:
    data = await _fields(world, "/shop/none")
    empty = [data[name] for name in ("json_ld", "microdata", "opengraph", "rdfa")]
    return seen(empty == [[], [], [], []], empty)


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("001", paragraph, requirement, check)


ROWS = (
    _row("research", "searches and reads the top pages in one call", _both),
    _row("research: Returns", "markdown: brief, sources, bodies, rules, tokens", _research_markdown),
    _row("research: Returns", "json: the six fields; rank, title, url, snippet", _research_json),
    _row("research: Args", "depth: 1 to 8, by default 3", _depth),
    _row("research: Args", "fetch=false: sources alone", _sources_only),
    _row("research: Args", "engines: another set", _engines),
    _row("research: Args", "max_age_hours=0: search and pages anew", _anew),
    _row("research: Args", "max_age_hours other than 0 holds for search and pages", _aged),
    _row("research: Args", "use_cache=false: asked anew", _no_cache),
    _row("research: Returns", "json: errors by engine", _research_errors),
    _row("compare: Returns", "markdown: a section a URL with title, site, date, excerpt", _compare_markdown),
    _row("compare: Returns", "json: question, urls, excerpts, tokens_estimated", _compare_json),
    _row("compare", "excerpts are chosen for the question", _excerpts),
    _row("compare: Args", "two to five URLs", _two_to_five),
    _row("compare", "a page that fails is told in its place", _compare_failure),
    _row("extract_structured: Returns", "json: url, json_ld, microdata, opengraph, rdfa", _structured_json),
    _row("extract_structured: Returns", "Twitter cards stand in opengraph", _twitter),
    _row("extract_structured: Best for", "price and currency of a product, also written by script", _product),
    _row("extract_structured: Returns", "markdown: JSON blocks under their syntax", _structured_markdown),
    _row("extract_structured: Not recommended for", "a page without data gives empty lists", _none),
)
