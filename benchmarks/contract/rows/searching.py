"""Rows of the nine tools: `search`, `engines`."""

from __future__ import annotations

import re
from typing import Any

from benchmarks.contract.rows.row import Check, Row, seen
from benchmarks.contract.rows.world import World
from scraper.extract.text.token_estimate import estimate
from tests.site.engine_pages import EngineRow

_QUERY = "wave energy"
_USUAL = ["duckduckgo", "mojeek", "googlenews"]
_SEVEN = [*_USUAL, "startpage", "brave", "bing", "baidu"]
_HIT = re.compile(r"^\d+\. .+\n<https?://\S+>", re.MULTILINE)


async def _json(world: World, **arguments: Any) -> dict[str, Any]:
    arguments.setdefault("query", _QUERY)
    data: dict[str, Any] = (await world.call("search", format="json", **arguments)).data
    return data


def _hosts(data: dict[str, Any]) -> set[str]:
    return {row["url"].split("/")[2] for row in data["results"]}


async def _merged(world: World) -> str:
    data = await _json(world)
    shared = [row for row in data["results"] if len(row["engines"]) > 1]
    return seen(shared and len(data["engines"]) == 3, f"{len(shared)} results come from several engines")


async def _unique(world: World) -> str:
    urls = [row["url"] for row in (await _json(world))["results"]]
    return seen(len(set(urls)) == len(urls) > 5, f"{len(urls)} results, {len(set(urls))} addresses")


async def _ranked(world: World) -> str:
    scores = [row["score"] for row in (await _json(world))["results"]]
    return seen(scores == sorted(scores, reverse=True), scores[:4])


async def _markdown(world: World) -> str:
    answer = await world.call("search", query=_QUERY)
    hits = _HIT.findall(answer.text)
    return seen(len(hits) == 10 and "structuredContent" not in answer.result, hits[0])


async def _json_shape(world: World) -> str:
    data = await _json(world)
    row = data["results"][0]
    keys = {"title", "url", "snippet", "engines", "score"} <= row.keys()
    return seen(keys and {"results", "engines", "cached"} <= data.keys(), f"{list(data)}; {list(row)}")


async def _cheaper(world: World) -> str:
    """Compare with JSON. The document says about 40 % fewer tokens, of indented JSON; ours is compact."""
    markdown = estimate((await world.call("search", query=_QUERY)).text)
    whole = estimate((await world.call("search", query=_QUERY, format="json")).text)
    return seen(markdown <= 0.75 * whole, f"markdown {markdown:,}, json {whole:,} tokens")


async def _errors(world: World) -> str:
    world.engines.moods["mojeek"] = "wall"
    data = await _json(world, query=world.new_words())
    return seen(data["results"] and "mojeek" in data["errors"], data["errors"])


async def _hint(world: World) -> str:
    world.engines.moods |= dict.fromkeys(_USUAL, "none")
    data = await _json(world, query=world.new_words("zzxq"))
    return seen(data["results"] == [] and data["hint"], data["hint"])


async def _usual(world: World) -> str:
    asked = (await _json(world))["engines"]
    return seen(sorted(asked) == sorted(_USUAL), asked)


async def _chosen(world: World) -> str:
    data = await _json(world, query=world.new_words(), engines=["startpage"])
    return seen(data["engines"] == ["startpage"] and data["results"], f"{len(data['results'])} rows")


async def _unknown_engine(world: World) -> str:
    answer = await world.call("search", query=_QUERY, engines=["gogle"])
    return seen(answer.is_error and "duckduckgo" in answer.text, answer.text)


async def _max_results(world: World) -> str:
    counts = [len((await _json(world, max_results=count))["results"]) for count in (3, 50)]
    none = await world.call("search", query=_QUERY, max_results=0)
    return seen(counts[0] == 3 and counts[1] > 10 and none.is_error, f"{counts}; {none.text}")


async def _use_cache(world: World) -> str:
    query = world.new_words()
    first, second = await _json(world, query=query), await _json(world, query=query)
    asked = len(world.engines.asked)
    third = await _json(world, query=query, use_cache=False)
    states = [part["cached"] for part in (first, second, third)]
    return seen(states == [False, True, False] and len(world.engines.asked) > asked, f"cached: {states}")


async def _max_age(world: World) -> str:
    query = world.new_words()
    await _json(world, query=query)
    anew = await _json(world, query=query, max_age_hours=0)
    kept = await _json(world, query=query)
    states = [anew["cached"], kept["cached"]]
    return seen(states == [False, True], f"with 0, then without: cached {states}")


async def _default_age(world: World) -> str:
    about = (await world.tools())["search"]["inputSchema"]["properties"]["max_age_hours"]["description"]
    return seen(f"{7 * 24}" in about, about)


async def _freshness(world: World) -> str:
    await _json(world, query=world.new_words(), freshness="week", engines=["duckduckgo"])
    sent = dict(world.engines.of("duckduckgo")[-1].fields)
    enum = (await world.tools())["search"]["inputSchema"]["properties"]["freshness"]["enum"]
    return seen(enum == ["day", "week", "month", "year"] and sent.get("df") == "w", f"{enum}; sent {sent}")


async def _include_domains(world: World) -> str:
    """Google News lists pages under addresses of its own; whose they are stands in `source`."""
    data = await _json(world, query=world.new_words(), include_domains=["harbour.example"])
    owners = {
        row["source"] if row["url"].startswith("https://news.google.com/") else row["url"].split("/")[2]
        for row in data["results"]
    }
    return seen("harbour.example" in owners <= {"harbour.example", "Harbour Review"}, owners)


async def _exclude_domains(world: World) -> str:
    hosts = _hosts(await _json(world, query=world.new_words(), exclude_domains=["harbour.example"]))
    return seen(hosts and "harbour.example" not in hosts, hosts)


async def _category(world: World) -> str:
    rows = [
        EngineRow("Tidal models", "https://github.com/tides/models"),
        EngineRow("Tidal models explained", "https://harbour.example/tidal"),
    ]
    world.engines.rows |= dict.fromkeys(_USUAL, rows)
    hosts = _hosts(await _json(world, query="tidal models github", category="github"))
    enum = (await world.tools())["search"]["inputSchema"]["properties"]["category"]["enum"]
    six = set(enum) == {"news", "pdf", "github", "paper", "forum", "blog"}
    return seen(six and hosts == {"github.com"}, f"{enum}; github gives {hosts}")


async def _more_categories(world: World) -> str:
    hosts = ("arxiv.org", "reddit.com", "harbour.example")
    rows = [EngineRow("Tidal models", f"https://{host}/tides/1") for host in hosts]
    found = {}
    for category in ("paper", "forum"):
        world.engines.rows |= dict.fromkeys(_USUAL, rows)
        data = await _json(world, query=f"tidal models {category}", category=category)
        found[category] = _hosts(data)
    return seen(found == {"paper": {"arxiv.org"}, "forum": {"reddit.com"}}, found)


async def _include_text(world: World) -> str:
    data = await _json(world, query=world.new_words(), include_text="HISTORY OF")
    texts = [f"{row['title']} {row['snippet']}".lower() for row in data["results"]]
    return seen(texts and all("history of" in text for text in texts), texts[0])


async def _exclude_text(world: World) -> str:
    data = await _json(world, query=world.new_words(), exclude_text="HISTORY OF")
    texts = [f"{row['title']} {row['snippet']}".lower() for row in data["results"]]
    return seen(texts and not any("history of" in text for text in texts), f"{len(texts)} results without it")


async def _url_as_query(world: World) -> str:
    answer = await world.call("search", query="https://example.org/")
    return seen(answer.is_error and "fetch" in answer.text, answer.text)


async def _engines_list(world: World) -> str:
    answer = await world.call("engines")
    names = answer.result.get("structuredContent") or answer.data
    return seen(sorted(names) == sorted(_SEVEN), names)


async def _engines_args(world: World) -> str:
    schema = (await world.tools())["engines"]["inputSchema"]
    return seen(schema["properties"] == {}, schema)


async def _engines_usual(world: World) -> str:
    text = (await world.tools())["engines"]["description"]
    usual, _, on_request = text.partition("on request")
    split = all(name in usual for name in _USUAL) and all(name in on_request for name in _SEVEN[3:])
    return seen(split, text.partition("Usual")[2].partition("\n")[0])


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("001", paragraph, requirement, check)


ROWS = (
    _row("search", "several engines are asked and merged", _merged),
    _row("search", "the list is deduplicated", _unique),
    _row("search", "the list is ranked", _ranked),
    _row("search: Returns", "markdown by default: a numbered list of title, <url>, snippet", _markdown),
    _row("search: Returns", "json: results with their five fields; engines; cached", _json_shape),
    _row("search: Returns", "markdown takes clearly fewer tokens than json", _cheaper),
    _row("search: Returns", "json: an errors map when an engine failed", _errors),
    _row("search: Returns", "json: a hint when little came back", _hint),
    _row("search: Args", "engines: none given is duckduckgo, mojeek, googlenews", _usual),
    _row("search: Args", "engines: a subset of engines(), startpage on request", _chosen),
    _row("search: Args", "engines: an unknown name is told the known ones", _unknown_engine),
    _row("search: Args", "max_results: count after merging; nothing below 1", _max_results),
    _row("search: Args", "use_cache: the last answer again; false asks anew", _use_cache),
    _row("search: Args", "max_age_hours: 0 asks anew and still keeps the answer", _max_age),
    _row("search: Args", "max_age_hours: by default seven days", _default_age),
    _row("search: Args", "freshness: day, week, month, year", _freshness),
    _row("search: Args", "include_domains", _include_domains),
    _row("search: Args", "exclude_domains", _exclude_domains),
    _row("search: Args", "category: news, pdf, github, paper, forum, blog; github is github.com", _category),
    _row("search: Args", "category: paper is arXiv and such, forum Reddit and such", _more_categories),
    _row("search: Args", "include_text: in title or snippet, case does not matter", _include_text),
    _row("search: Args", "exclude_text: not in title or snippet", _exclude_text),
    _row("search: Common mistakes", "a URL as query is sent to fetch", _url_as_query),
    _row("engines: Returns", "the names that engines= takes, all seven", _engines_list),
    _row("engines", "takes no arguments", _engines_args),
    _row("engines: Defaults", "which are usual and which on request is told", _engines_usual),
)
