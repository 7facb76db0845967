"""`search` and `fetch` in the form that ChatGPT's connectors ask for, over services of the test's own."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from scraper.engines.model import SearchAnswer, SearchResult
from scraper.errors import InvalidUrlError
from scraper.model import Document, Reading
from scraper.services import Services
from scraper.tools import search_tools
from scraper.tools.model import ToolAnswer, ToolCall

SEARCH, FETCH = search_tools.openai_tools()
URL = "https://example.org/a?b=1"
READING = Reading(
    Document(URL, title="A title", author="Ann", markdown="# Tides\n\nText.", text="Tides Text."),
    URL,
    URL,
    200,
    "http",
    False,
    datetime(2026, 3, 1, tzinfo=UTC),
)


class Found:
    """A searcher that found this."""

    def __init__(self, *results: SearchResult, **more: Any) -> None:
        self._answer = SearchAnswer("q", results, ("mojeek",), **more)

    async def search(self, _text: str, **_how: Any) -> SearchAnswer:
        return self._answer


class Reads:
    """A fetcher that reads this, or raises it."""

    def __init__(self, outcome: Reading | Exception) -> None:
        self._outcome = outcome

    async def fetch(self, _url: str, **_how: Any) -> Reading:
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


async def search(*results: SearchResult, **more: Any) -> ToolAnswer:
    app = cast(Services, SimpleNamespace(searcher=Found(*results, **more)))
    return await SEARCH.run(app, {"query": "tides"}, ToolCall())


async def fetch(outcome: Reading | Exception, given: str = URL) -> ToolAnswer:
    app = cast(Services, SimpleNamespace(fetcher=Reads(outcome)))
    return await FETCH.run(app, {"id": given}, ToolCall())


def test_there_are_exactly_two_and_each_takes_one_string() -> None:
    assert [(tool.name, list(tool.input_schema["properties"])) for tool in (SEARCH, FETCH)] == [
        ("search", ["query"]),
        ("fetch", ["id"]),
    ]
    for tool in (SEARCH, FETCH):
        (entry,) = tool.input_schema["properties"].values()
        assert entry["type"] == "string" and tool.input_schema["required"] == list(tool.input_schema["properties"])


async def test_results_are_one_compact_text_in_the_contracts_shape() -> None:
    answer = await search(
        SearchResult("Tides", URL, "A snippet", ("mojeek",), 1.0), SearchResult("", "http://b.example/", "", (), 0.5)
    )
    first = '{"id":"https://example.org/a?b=1","title":"Tides","url":"https://example.org/a?b=1"}'
    second = '{"id":"http://b.example/","title":"http://b.example/","url":"http://b.example/"}'
    assert answer == ToolAnswer(f'{{"results":[{first},{second}]}}')


async def test_nothing_found_is_an_empty_list_and_blocked_is_an_error() -> None:
    assert await search() == ToolAnswer('{"results":[]}')
    answer = await search(errors={"mojeek": "captcha"})
    assert answer.is_error and "not an empty result" in answer.text


async def test_addresses_that_are_not_of_the_web_are_left_out() -> None:
    assert (await search(SearchResult("T", "ftp://example.org/x", "", (), 1.0))).text == '{"results":[]}'


async def test_a_page_is_one_compact_text_in_the_contracts_shape() -> None:
    answer = await fetch(READING)
    page = json.loads(answer.text)
    assert list(page) == ["id", "title", "text", "url", "metadata"]
    assert (page["id"], page["title"], page["url"]) == (URL, "A title", URL)
    assert page["text"] == READING.document.markdown
    assert page["metadata"]["author"] == "Ann" and page["metadata"]["truncated"] == "false"
    assert all(isinstance(value, str) for value in page["metadata"].values())
    assert answer.structured is None and answer.text == json.dumps(page, ensure_ascii=False, separators=(",", ":"))


async def test_a_long_page_is_marked_as_truncated_and_has_a_title() -> None:
    long = replace(READING, document=Document(URL, markdown="A sentence of a page. " * 10_000))
    page = json.loads((await fetch(long)).text)
    assert 90_000 < len(page["text"]) <= 100_000
    assert page["metadata"]["truncated"] == "true" and page["title"] == URL


async def test_an_invalid_id_is_an_error() -> None:
    answer = await fetch(InvalidUrlError("doc-1 is not a URL."), "doc-1")
    assert answer.is_error and "doc-1 is not a URL." in answer.text
