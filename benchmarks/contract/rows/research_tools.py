"""Requirements for `research`, `compare`, `extract_structured`."""

from __future__ import annotations

from typing import Any

from benchmarks.contract.rows.row import Check, Row, require
from benchmarks.contract.rows.testbed import Testbed

_QUESTION = "what is known about heat pumps"


async def _research(testbed: Testbed, **arguments: Any) -> dict[str, Any]:
    arguments.setdefault("question", _QUESTION)
    data: dict[str, Any] = (await testbed.call("research", format="json", **arguments)).data
    return data


async def _searches_and_reads(testbed: Testbed) -> str:
    data = await _research(testbed)
    return require(len(data["sources"]) > 3 and len(data["documents"]) == 3, f"{len(data['documents'])} read")


async def _research_markdown(testbed: Testbed) -> str:
    text = (await testbed.call("research", question=_QUESTION)).text
    parts = text.startswith("# Research brief") and "## Sources" in text and "\n---\n" in text
    return require(parts and "[1]" in text and "okens" in text, text[:120])


async def _research_json(testbed: Testbed) -> str:
    data = await _research(testbed)
    keys = {"question", "engines", "sources", "documents", "tokens_estimated", "errors"}
    named = {"rank", "title", "url", "snippet"} <= data["sources"][0].keys()
    return require(keys <= data.keys() and named, list(data))


async def _depth(testbed: Testbed) -> str:
    counts = [len((await _research(testbed, depth=depth))["documents"]) for depth in (1, 5)]
    schema = (await testbed.tools())["research"]["inputSchema"]["properties"]["depth"]
    bounds = (schema["minimum"], schema["maximum"], schema["default"])
    return require(counts == [1, 5] and bounds == (1, 8, 3), f"{counts}; {bounds}")


async def _sources_only(testbed: Testbed) -> str:
    data = await _research(testbed, fetch=False)
    return require(data["sources"] and data["documents"] == [], f"{len(data['sources'])} sources, none read")


async def _engines(testbed: Testbed) -> str:
    data = await _research(testbed, question=testbed.new_words(), engines=["mojeek"], depth=1)
    return require(data["engines"] == ["mojeek"], data["engines"])


async def _max_age_zero(testbed: Testbed) -> str:
    question = testbed.new_words("wind turbines")
    first = await _research(testbed, question=question, depth=1)
    cached = await _research(testbed, question=question, depth=1)
    fresh = await _research(testbed, question=question, depth=1, max_age_hours=0)
    searches = [part["cached"] for part in (first, cached, fresh)]
    pages = [part["documents"][0]["cached"] for part in (first, cached, fresh)]
    return require(searches == pages == [False, True, False], f"searches {searches}, pages {pages}")


async def _max_age(testbed: Testbed) -> str:
    question = testbed.new_words("wind turbines")
    await _research(testbed, question=question, depth=1)
    old = await _research(testbed, question=question, depth=1, max_age_hours=0.000001)
    young = await _research(testbed, question=question, depth=1, max_age_hours=1)
    states = [(part["cached"], part["documents"][0]["cached"]) for part in (old, young)]
    return require(states == [(False, False), (True, True)], f"search and page cached: {states}")


async def _no_cache(testbed: Testbed) -> str:
    question = testbed.new_words("wind turbines")
    await _research(testbed, question=question, fetch=False)
    return require(
        not (await _research(testbed, question=question, fetch=False, use_cache=False))["cached"], "not cached"
    )


async def _research_errors(testbed: Testbed) -> str:
    testbed.engines.moods["mojeek"] = "wall"
    data = await _research(testbed, question=testbed.new_words(), depth=1)
    return require("mojeek" in data["errors"] and data["documents"], data["errors"])


async def _compared(testbed: Testbed, *paths: str, **arguments: Any) -> Any:
    urls = [testbed.site.url(path) for path in paths]
    return await testbed.call("compare", question="What does note 7 say?", urls=urls, **arguments)


async def _compare_markdown(testbed: Testbed) -> str:
    text = (await _compared(testbed, "/rich", "/static/41")).text
    parts = text.find("/rich") < text.find("/static/41") and text.count("\n## ") >= 2
    return require(parts and "Ada Quay" in text and "2024-05-06" in text, text[:100])


async def _compare_json(testbed: Testbed) -> str:
    data = (await _compared(testbed, "/rich", "/static/41", format="json")).data
    keys = {"question", "urls", "excerpts", "tokens_estimated"} <= data.keys()
    named = {"url", "title", "excerpt"} <= data["excerpts"][0].keys()
    return require(keys and named and len(data["excerpts"]) == 2, list(data["excerpts"][0]))


async def _excerpts(testbed: Testbed) -> str:
    urls = [testbed.site.url("/long/300"), testbed.site.url("/static/41")]
    data = (await testbed.call("compare", question="What does note 217 say?", urls=urls, format="json")).data
    text = data["excerpts"][0]["excerpt"]
    return require("MARK-long-217" in text and len(text) < 40_000, f"the passage, in {len(text):,} characters")


async def _two_to_five(testbed: Testbed) -> str:
    paths = [f"/static/{number}" for number in range(50, 56)]
    few, many = await _compared(testbed, paths[0]), await _compared(testbed, *paths)
    five = await _compared(testbed, *paths[:5])
    return require(few.is_error and many.is_error and not five.is_error, f"1: {few.text[:60]} 6: {many.text[:60]}")


async def _compare_failure(testbed: Testbed) -> str:
    data = (await _compared(testbed, "/static/41", "/status/404", format="json")).data
    states = ["error" in excerpt for excerpt in data["excerpts"]]
    return require(states == [False, True], data["excerpts"][1]["error"])


async def _fields(testbed: Testbed, path: str) -> dict[str, Any]:
    url = testbed.site.url(path)
    data: dict[str, Any] = (await testbed.call("extract_structured", url=url, format="json")).data
    return data


async def _structured_json(testbed: Testbed) -> str:
    data = await _fields(testbed, "/shop/every")
    lists = all(isinstance(data[name], list) for name in ("json_ld", "microdata", "opengraph", "rdfa"))
    filled = all(data[name] for name in ("json_ld", "microdata", "opengraph", "rdfa"))
    return require(lists and filled and data["url"], list(data))


async def _twitter(testbed: Testbed) -> str:
    cards = (await _fields(testbed, "/shop/every"))["opengraph"]
    return require("twitter:card" in str(cards), cards)


async def _product_data(testbed: Testbed) -> str:
    product = (await _fields(testbed, "/shop/injected"))["product"]
    return require("49.9" in str(product) and "EUR" in str(product), product)


async def _structured_markdown(testbed: Testbed) -> str:
    text = (await testbed.call("extract_structured", url=testbed.site.url("/shop/every"))).text
    named = all(name in text.lower() for name in ("json_ld", "microdata", "opengraph", "rdfa"))
    return require(named and "```json" in text, f"{text.count('```json')} blocks under their syntax")


async def _no_data(testbed: Testbed) -> str:
    data = await _fields(testbed, "/shop/none")
    empty = [data[name] for name in ("json_ld", "microdata", "opengraph", "rdfa")]
    return require(empty == [[], [], [], []], empty)


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("001", paragraph, requirement, check)


ROWS = (
    _row("research", "searches and reads the top pages in one call", _searches_and_reads),
    _row("research: Returns", "markdown: brief, sources, bodies, rules, tokens", _research_markdown),
    _row("research: Returns", "json: the six fields; rank, title, url, snippet", _research_json),
    _row("research: Args", "depth: 1 to 8, default 3", _depth),
    _row("research: Args", "fetch=false: sources only", _sources_only),
    _row("research: Args", "engines: another set", _engines),
    _row("research: Args", "max_age_hours=0: searches and reads again", _max_age_zero),
    _row("research: Args", "other values of max_age_hours apply to search and pages", _max_age),
    _row("research: Args", "use_cache=false: searches again", _no_cache),
    _row("research: Returns", "json: errors by engine", _research_errors),
    _row("compare: Returns", "markdown: one section per URL with title, site, date, excerpt", _compare_markdown),
    _row("compare: Returns", "json: question, urls, excerpts, tokens_estimated", _compare_json),
    _row("compare", "excerpts are chosen for the question", _excerpts),
    _row("compare: Args", "two to five URLs", _two_to_five),
    _row("compare", "a failed page is reported in its place", _compare_failure),
    _row("extract_structured: Returns", "json: url, json_ld, microdata, opengraph, rdfa", _structured_json),
    _row("extract_structured: Returns", "Twitter cards are in opengraph", _twitter),
    _row("extract_structured: Best for", "price and currency of a product, also from scripts", _product_data),
    _row("extract_structured: Returns", "markdown: JSON blocks under their syntax", _structured_markdown),
    _row("extract_structured: Not recommended for", "a page without data gives empty lists", _no_data),
)
