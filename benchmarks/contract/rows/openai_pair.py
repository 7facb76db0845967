"""Rows of the document on `search` and `fetch` with one string each."""

from __future__ import annotations

import json

from benchmarks.contract.rows.row import Check, Row, seen
from benchmarks.contract.rows.world import World

_QUERY = "harbour lights"


async def _only_two(world: World) -> str:
    names = list(await world.tools(at="pair"))
    return seen(names == ["search", "fetch"], names)


async def _one_query(world: World) -> str:
    schema = (await world.tools(at="pair"))["search"]["inputSchema"]
    only = schema["properties"].keys() == {"query"} and schema["required"] == ["query"]
    return seen(only and schema["properties"]["query"]["type"] == "string", schema["properties"])


async def _results(world: World) -> str:
    data = (await world.call("search", at="pair", query=_QUERY)).data
    return seen(list(data) == ["results"] and data["results"], f"{len(data['results'])} results")


async def _fields(world: World) -> str:
    results = (await world.call("search", at="pair", query=_QUERY)).data["results"]
    exact = all(list(result) == ["id", "title", "url"] for result in results)
    texts = all(isinstance(value, str) and value for result in results for value in result.values())
    return seen(exact and texts, results[0])


async def _unique(world: World) -> str:
    ids = [one["id"] for one in (await world.call("search", at="pair", query=_QUERY)).data["results"]]
    return seen(len(set(ids)) == len(ids), f"{len(set(ids))} ids of {len(ids)} results")


async def _citable(world: World) -> str:
    urls = [one["url"] for one in (await world.call("search", at="pair", query=_QUERY)).data["results"]]
    return seen(all(url.startswith(("http://", "https://")) for url in urls), urls[0])


async def _search_item(world: World) -> str:
    answer = await world.call("search", at="pair", query=_QUERY)
    (item,) = answer.content
    compact = json.dumps(answer.data, ensure_ascii=False, separators=(",", ":"))
    only = item.keys() == {"type", "text"} and item["type"] == "text"
    return seen(only and compact == item["text"], item["text"][:90])


async def _nothing(world: World) -> str:
    world.engines.moods |= dict.fromkeys(("duckduckgo", "mojeek", "googlenews"), "none")
    answer = await world.call("search", at="pair", query=world.new_words("xyzzy"))
    return seen(answer.text == '{"results":[]}' and not answer.is_error, answer.text)


async def _one_id(world: World) -> str:
    schema = (await world.tools(at="pair"))["fetch"]["inputSchema"]
    only = schema["properties"].keys() == {"id"} and schema["required"] == ["id"]
    return seen(only and schema["properties"]["id"]["type"] == "string", schema["properties"])


async def _after_a_restart(world: World) -> str:
    results = (await world.call("search", at="pair", query=_QUERY)).data["results"]
    await world.start()
    read = [(await world.call("fetch", at="pair", id=one["id"])) for one in results]
    good = [answer for answer in read if not answer.is_error and answer.data["text"]]
    return seen(len(good) == len(results), f"{len(good)} of {len(results)} ids after a restart")


async def _any_url(world: World) -> str:
    url = world.site.url("/static/4")
    data = (await world.call("fetch", at="pair", id=url)).data
    return seen(data["url"] == url and data["text"], data["title"])


async def _page_fields(world: World) -> str:
    url = world.site.url("/static/4")
    data = (await world.call("fetch", at="pair", id=url)).data
    named = list(data) == ["id", "title", "text", "url", "metadata"]
    texts = all(isinstance(data[name], str) and data[name] for name in ("id", "title", "text", "url"))
    return seen(named and texts and data["id"] == url, list(data))


async def _full_text(world: World) -> str:
    text = (await world.call("fetch", at="pair", id=world.site.url("/long/200"))).data["text"]
    marks = sum(f"MARK-long-{number}" in text for number in range(200))
    return seen(marks == 200, f"{marks} of 200 marks in {len(text):,} characters")


async def _cut(world: World) -> str:
    data = (await world.call("fetch", at="pair", id=world.site.url("/long/2000"))).data
    told = data["metadata"]["truncated"]
    return seen(told == "true" and len(data["text"]) > 90_000, f"{len(data['text']):,} characters: {told}")


async def _metadata(world: World) -> str:
    metadata = (await world.call("fetch", at="pair", id=world.site.url("/static/4"))).data["metadata"]
    pairs = isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values())
    return seen(pairs and metadata["truncated"] == "false", metadata)


async def _fetch_item(world: World) -> str:
    answer = await world.call("fetch", at="pair", id=world.site.url("/static/4"))
    (item,) = answer.content
    compact = json.dumps(answer.data, ensure_ascii=False, separators=(",", ":"))
    only = item.keys() == {"type", "text"} and item["type"] == "text"
    return seen(only and compact == item["text"], item["text"][:90])


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("000", paragraph, requirement, check)


ROWS = (
    _row("search tool, fetch tool", "the server offers exactly these two", _only_two),
    _row("search: Arguments", "a single query string", _one_query),
    _row("search: Returns", "an object with the single key results, an array", _results),
    _row("search: Returns", "each result has id, title and url", _fields),
    _row("search: Returns", "id is unique", _unique),
    _row("search: Returns", "url can be cited", _citable),
    _row("search: Returns", "exactly one content item of type text, a JSON-encoded string", _search_item),
    _row("search: Returns", "nothing found is an empty array", _nothing),
    _row("fetch: Arguments", "a string that identifies the document", _one_id),
    _row("fetch: Arguments", "every id of a search, after a restart too", _after_a_restart),
    _row("fetch: Arguments", "any URL is fetched", _any_url),
    _row("fetch: Returns", "one object with id, title, text and url", _page_fields),
    _row("fetch: Returns", "text is the full text", _full_text),
    _row("fetch: Returns", "beyond 100,000 characters metadata says that it was cut", _cut),
    _row("fetch: Returns", "metadata is an object of keys and values", _metadata),
    _row("fetch: Returns", "exactly one content item of type text, a JSON-encoded string", _fetch_item),
)
