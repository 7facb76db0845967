"""Requirements for `search`, `engines`."""

from __future__ import annotations

import re
from typing import Any

from benchmarks.contract.rows.row import Check, Row, require
from benchmarks.contract.rows.testbed import Testbed
from scraper.text.token_estimate import estimate
from tests.site.engine_pages import EngineRow

_QUERY = "wave energy"
_DEFAULT_ENGINES = ["duckduckgo", "mojeek", "googlenews"]
_SEVEN = [*_DEFAULT_ENGINES, "startpage", "brave", "bing", "baidu"]
_HIT = re.compile(r"^\d+\. .+\n<https?://\S+>", re.MULTILINE)


async def _json(testbed: Testbed, **arguments: Any) -> dict[str, Any]:
    arguments.setdefault("query", _QUERY)
    data: dict[str, Any] = (await testbed.call("search", format="json", **arguments)).data
    return data


def _hosts(data: dict[str, Any]) -> set[str]:
    return {row["url"].split("/")[2] for row in data["results"]}


async def _merged(testbed: Testbed) -> str:
    data = await _json(testbed)
    shared = [row for row in data["results"] if len(row["engines"]) > 1]
    return require(shared and len(data["engines"]) == 3, f"{len(shared)} results come from several engines")


async def _unique(testbed: Testbed) -> str:
    urls = [row["url"] for row in (await _json(testbed))["results"]]
    return require(len(set(urls)) == len(urls) > 5, f"{len(urls)} results, {len(set(urls))} URLs")


async def _ranked(testbed: Testbed) -> str:
    scores = [row["score"] for row in (await _json(testbed))["results"]]
    return require(scores == sorted(scores, reverse=True), scores[:4])


async def _markdown(testbed: Testbed) -> str:
    answer = await testbed.call("search", query=_QUERY)
    hits = _HIT.findall(answer.text)
    return require(len(hits) == 10 and "structuredContent" not in answer.result, hits[0])


async def _json_shape(testbed: Testbed) -> str:
    data = await _json(testbed)
    row = data["results"][0]
    keys = {"title", "url", "snippet", "engines", "score"} <= row.keys()
    return require(keys and {"results", "engines", "cached"} <= data.keys(), f"{list(data)}; {list(row)}")


async def _cheaper(testbed: Testbed) -> str:
    """Compare with JSON. The document promises about 40 % fewer tokens than indented JSON; ours is compact."""
    markdown = estimate((await testbed.call("search", query=_QUERY)).text)
    whole = estimate((await testbed.call("search", query=_QUERY, format="json")).text)
    return require(markdown <= 0.75 * whole, f"markdown {markdown:,}, json {whole:,} tokens")


async def _errors(testbed: Testbed) -> str:
    testbed.engines.moods["mojeek"] = "wall"
    data = await _json(testbed, query=testbed.new_words())
    return require(data["results"] and "mojeek" in data["errors"], data["errors"])


async def _hint(testbed: Testbed) -> str:
    testbed.engines.moods |= dict.fromkeys(_DEFAULT_ENGINES, "none")
    data = await _json(testbed, query=testbed.new_words("zzxq"))
    return require(data["results"] == [] and data["hint"], data["hint"])


async def _default_engines(testbed: Testbed) -> str:
    engines = (await _json(testbed))["engines"]
    return require(sorted(engines) == sorted(_DEFAULT_ENGINES), engines)


async def _chosen(testbed: Testbed) -> str:
    data = await _json(testbed, query=testbed.new_words(), engines=["startpage"])
    return require(data["engines"] == ["startpage"] and data["results"], f"{len(data['results'])} rows")


async def _unknown_engine(testbed: Testbed) -> str:
    answer = await testbed.call("search", query=_QUERY, engines=["gogle"])
    return require(answer.is_error and "duckduckgo" in answer.text, answer.text)


async def _max_results(testbed: Testbed) -> str:
    counts = [len((await _json(testbed, max_results=count))["results"]) for count in (3, 50)]
    none = await testbed.call("search", query=_QUERY, max_results=0)
    return require(counts[0] == 3 and counts[1] > 10 and none.is_error, f"{counts}; {none.text}")


async def _use_cache(testbed: Testbed) -> str:
    query = testbed.new_words()
    first, second = await _json(testbed, query=query), await _json(testbed, query=query)
    asked = len(testbed.engines.asked)
    third = await _json(testbed, query=query, use_cache=False)
    states = [part["cached"] for part in (first, second, third)]
    return require(states == [False, True, False] and len(testbed.engines.asked) > asked, f"cached: {states}")


async def _max_age(testbed: Testbed) -> str:
    query = testbed.new_words()
    await _json(testbed, query=query)
    fresh = await _json(testbed, query=query, max_age_hours=0)
    cached = await _json(testbed, query=query)
    states = [fresh["cached"], cached["cached"]]
    return require(states == [False, True], f"with 0, then without: cached {states}")


async def _default_age(testbed: Testbed) -> str:
    description = (await testbed.tools())["search"]["inputSchema"]["properties"]["max_age_hours"]["description"]
    return require(f"{7 * 24}" in description, description)


async def _freshness(testbed: Testbed) -> str:
    await _json(testbed, query=testbed.new_words(), freshness="week", engines=["duckduckgo"])
    sent = dict(testbed.engines.of("duckduckgo")[-1].fields)
    enum = (await testbed.tools())["search"]["inputSchema"]["properties"]["freshness"]["enum"]
    return require(enum == ["day", "week", "month", "year"] and sent.get("df") == "w", f"{enum}; sent {sent}")


async def _include_domains(testbed: Testbed) -> str:
    """Check the site of each result. Google News lists pages under its own URLs; `source` names their site."""
    data = await _json(testbed, query=testbed.new_words(), include_domains=["harbour.example"])
    owners = {
        row["source"] if row["url"].startswith("https://news.google.com/") else row["url"].split("/")[2]
        for row in data["results"]
    }
    return require("harbour.example" in owners <= {"harbour.example", "Harbour Review"}, owners)


async def _exclude_domains(testbed: Testbed) -> str:
    hosts = _hosts(await _json(testbed, query=testbed.new_words(), exclude_domains=["harbour.example"]))
    return require(hosts and "harbour.example" not in hosts, hosts)


async def _category(testbed: Testbed) -> str:
    rows = [
        EngineRow("Tidal models", "https://github.com/tides/models"),
        EngineRow("Tidal models explained", "https://harbour.example/tidal"),
    ]
    testbed.engines.rows |= dict.fromkeys(_DEFAULT_ENGINES, rows)
    hosts = _hosts(await _json(testbed, query="tidal models github", category="github"))
    enum = (await testbed.tools())["search"]["inputSchema"]["properties"]["category"]["enum"]
    six = set(enum) >= {"news", "pdf", "github", "paper", "forum", "blog"}
    return require(six and hosts == {"github.com"}, f"{enum}; github gives {hosts}")


async def _more_categories(testbed: Testbed) -> str:
    hosts = ("arxiv.org", "reddit.com", "harbour.example")
    rows = [EngineRow("Tidal models", f"https://{host}/tides/1") for host in hosts]
    found = {}
    for category in ("paper", "forum"):
        testbed.engines.rows |= dict.fromkeys(_DEFAULT_ENGINES, rows)
        data = await _json(testbed, query=f"tidal models {category}", category=category)
        found[category] = _hosts(data)
    return require(found == {"paper": {"arxiv.org"}, "forum": {"reddit.com"}}, found)


async def _include_text(testbed: Testbed) -> str:
    data = await _json(testbed, query=testbed.new_words(), include_text="HISTORY OF")
    texts = [f"{row['title']} {row['snippet']}".lower() for row in data["results"]]
    return require(texts and all("history of" in text for text in texts), texts[0])


async def _exclude_text(testbed: Testbed) -> str:
    data = await _json(testbed, query=testbed.new_words(), exclude_text="HISTORY OF")
    texts = [f"{row['title']} {row['snippet']}".lower() for row in data["results"]]
    return require(texts and not any("history of" in text for text in texts), f"{len(texts)} results without it")


async def _url_as_query(testbed: Testbed) -> str:
    answer = await testbed.call("search", query="https://example.org/")
    return require(answer.is_error and "fetch" in answer.text, answer.text)


async def _engines_list(testbed: Testbed) -> str:
    answer = await testbed.call("engines")
    return require(answer.data[:7] == list(_SEVEN), answer.data)


async def _engines_args(testbed: Testbed) -> str:
    schema = (await testbed.tools())["engines"]["inputSchema"]
    return require(schema["properties"] == {}, schema)


async def _engines_description(testbed: Testbed) -> str:
    text = (await testbed.tools())["engines"]["description"]
    usual, _, on_request = text.partition("on request")
    split = all(name in usual for name in _DEFAULT_ENGINES) and all(name in on_request for name in _SEVEN[3:])
    return require(split, text.partition("Usual")[2].partition("\n")[0])


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("001", paragraph, requirement, check)


ROWS = (
    _row("search", "results of several engines are merged", _merged),
    _row("search", "the list is deduplicated", _unique),
    _row("search", "the list is ranked", _ranked),
    _row("search: Returns", "markdown by default: a numbered list of title, <url>, snippet", _markdown),
    _row("search: Returns", "json: results with their five fields; engines; cached", _json_shape),
    _row("search: Returns", "markdown takes at most 75 % of the tokens of json", _cheaper),
    _row("search: Returns", "json: an errors map when an engine failed", _errors),
    _row("search: Returns", "json: a hint when there are few results", _hint),
    _row("search: Args", "engines: default is duckduckgo, mojeek, googlenews", _default_engines),
    _row("search: Args", "engines: a subset of engines(), startpage on request", _chosen),
    _row("search: Args", "engines: the error for an unknown name lists the known ones", _unknown_engine),
    _row("search: Args", "max_results: count after merging; nothing below 1", _max_results),
    _row("search: Args", "use_cache: the cached results; false searches again", _use_cache),
    _row("search: Args", "max_age_hours: 0 searches again and caches the results", _max_age),
    _row("search: Args", "max_age_hours: default seven days", _default_age),
    _row("search: Args", "freshness: day, week, month, year", _freshness),
    _row("search: Args", "include_domains", _include_domains),
    _row("search: Args", "exclude_domains", _exclude_domains),
    _row("search: Args", "category: news, pdf, github, paper, forum, blog; github is github.com", _category),
    _row("search: Args", "category: paper is arXiv and similar, forum Reddit and similar", _more_categories),
    _row("search: Args", "include_text: in title or snippet, case-insensitive", _include_text),
    _row("search: Args", "exclude_text: not in title or snippet", _exclude_text),
    _row("search: Common mistakes", "a URL as query is an error that names fetch", _url_as_query),
    _row("engines: Returns", "all seven names that engines= accepts", _engines_list),
    _row("engines", "takes no arguments", _engines_args),
    _row("engines: Defaults", "names the default engines and those on request", _engines_description),
)
