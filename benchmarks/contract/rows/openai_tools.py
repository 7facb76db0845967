"""Requirements of the document on `search` and `fetch` with one string argument each."""

from __future__ import annotations

import json

from benchmarks.contract.rows.row import Check, Row, require
from benchmarks.contract.rows.testbed import Testbed

_QUERY = "harbour lights"


async def _only_two(testbed: Testbed) -> str:
    names = list(await testbed.tools(at="pair"))
    return require(names == ["search", "fetch"], names)


async def _one_query(testbed: Testbed) -> str:
    schema = (await testbed.tools(at="pair"))["search"]["inputSchema"]
    only = schema["properties"].keys() == {"query"} and schema["required"] == ["query"]
    return require(only and schema["properties"]["query"]["type"] == "string", schema["properties"])


async def _results(testbed: Testbed) -> str:
    data = (await testbed.call("search", at="pair", query=_QUERY)).data
    return require(list(data) == ["results"] and data["results"], f"{len(data['results'])} results")


async def _fields(testbed: Testbed) -> str:
    results = (await testbed.call("search", at="pair", query=_QUERY)).data["results"]
    exact = all(list(result) == ["id", "title", "url"] for result in results)
    texts = all(isinstance(value, str) and value for result in results for value in result.values())
    return require(exact and texts, results[0])


async def _unique(testbed: Testbed) -> str:
    ids = [result["id"] for result in (await testbed.call("search", at="pair", query=_QUERY)).data["results"]]
    return require(len(set(ids)) == len(ids), f"{len(set(ids))} ids of {len(ids)} results")


async def _citable(testbed: Testbed) -> str:
    urls = [result["url"] for result in (await testbed.call("search", at="pair", query=_QUERY)).data["results"]]
    return require(all(url.startswith(("http://", "https://")) for url in urls), urls[0])


async def _search_item(testbed: Testbed) -> str:
    answer = await testbed.call("search", at="pair", query=_QUERY)
    (item,) = answer.content
    compact = json.dumps(answer.data, ensure_ascii=False, separators=(",", ":"))
    only = item.keys() == {"type", "text"} and item["type"] == "text"
    return require(only and compact == item["text"], item["text"][:90])


async def _no_results(testbed: Testbed) -> str:
    testbed.engines.moods |= dict.fromkeys(("duckduckgo", "mojeek", "googlenews"), "none")
    answer = await testbed.call("search", at="pair", query=testbed.new_words("xyzzy"))
    return require(answer.text == '{"results":[]}' and not answer.is_error, answer.text)


async def _one_id(testbed: Testbed) -> str:
    schema = (await testbed.tools(at="pair"))["fetch"]["inputSchema"]
    only = schema["properties"].keys() == {"id"} and schema["required"] == ["id"]
    return require(only and schema["properties"]["id"]["type"] == "string", schema["properties"])


async def _after_a_restart(testbed: Testbed) -> str:
    results = (await testbed.call("search", at="pair", query=_QUERY)).data["results"]
    await testbed.start()
    read = [(await testbed.call("fetch", at="pair", id=result["id"])) for result in results]
    good = [answer for answer in read if not answer.is_error and answer.data["text"]]
    return require(len(good) == len(results), f"{len(good)} of {len(results)} ids after a restart")


async def _any_url(testbed: Testbed) -> str:
    url = testbed.site.url("/static/4")
    data = (await testbed.call("fetch", at="pair", id=url)).data
    return require(data["url"] == url and data["text"], data["title"])


async def _page_fields(testbed: Testbed) -> str:
    url = testbed.site.url("/static/4")
    data = (await testbed.call("fetch", at="pair", id=url)).data
    named = list(data) == ["id", "title", "text", "url", "metadata"]
    texts = all(isinstance(data[name], str) and data[name] for name in ("id", "title", "text", "url"))
    return require(named and texts and data["id"] == url, list(data))


async def _full_text(testbed: Testbed) -> str:
    text = (await testbed.call("fetch", at="pair", id=testbed.site.url("/long/200"))).data["text"]
    marks = sum(f"MARK-long-{number}" in text for number in range(200))
    return require(marks == 200, f"{marks} of 200 marks in {len(text):,} characters")


async def _truncated(testbed: Testbed) -> str:
    data = (await testbed.call("fetch", at="pair", id=testbed.site.url("/long/2000"))).data
    truncated = data["metadata"]["truncated"]
    return require(truncated == "true" and len(data["text"]) > 90_000, f"{len(data['text']):,} characters: {truncated}")


async def _metadata(testbed: Testbed) -> str:
    metadata = (await testbed.call("fetch", at="pair", id=testbed.site.url("/static/4"))).data["metadata"]
    pairs = isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values())
    return require(pairs and metadata["truncated"] == "false", metadata)


async def _fetch_item(testbed: Testbed) -> str:
    answer = await testbed.call("fetch", at="pair", id=testbed.site.url("/static/4"))
    (item,) = answer.content
    compact = json.dumps(answer.data, ensure_ascii=False, separators=(",", ":"))
    only = item.keys() == {"type", "text"} and item["type"] == "text"
    return require(only and compact == item["text"], item["text"][:90])


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
    _row("search: Returns", "no results: an empty array", _no_results),
    _row("fetch: Arguments", "a string that identifies the document", _one_id),
    _row("fetch: Arguments", "every id of a search, also after a restart", _after_a_restart),
    _row("fetch: Arguments", "any URL is fetched", _any_url),
    _row("fetch: Returns", "one object with id, title, text and url", _page_fields),
    _row("fetch: Returns", "text is the full text", _full_text),
    _row("fetch: Returns", "metadata reports truncation beyond 100,000 characters", _truncated),
    _row("fetch: Returns", "metadata is an object of keys and values", _metadata),
    _row("fetch: Returns", "exactly one content item of type text, a JSON-encoded string", _fetch_item),
)
