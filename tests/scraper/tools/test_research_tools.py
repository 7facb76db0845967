"""The tools `research` and `compare` on real pages in a real browser; the search is the test's own."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from scraper.engines.model import SearchAnswer, SearchResult
from scraper.search.argument_validation import SearchRequest
from scraper.search.searcher import Searcher
from scraper.services import Services
from scraper.text.token_estimate import estimate
from scraper.tools.model import ToolAnswer
from tests.scraper.tools.calls import call_tool
from tests.site.running import Site

pytestmark = pytest.mark.browser


class Found:
    """A searcher that finds these addresses."""

    def __init__(self, *urls: str, **more: Any) -> None:
        self._urls = urls
        self._more = more

    async def search(self, request: SearchRequest, **how: Any) -> SearchAnswer:
        results = tuple(SearchResult(f"About {url}", url, "A snippet.", ("mojeek",), 0.1) for url in self._urls)
        return SearchAnswer(request.query, results, ("mojeek",), **self._more)


async def research(app: Services, found: Found, **arguments: Any) -> ToolAnswer:
    app.searcher = cast(Searcher, found)
    return await call_tool(app, "research", **{"question": "What does note 217 say?", **arguments})


class TestResearch:
    async def test_a_passage_deep_in_a_long_page_is_shown_and_linked_to(self, app: Services, site: Site) -> None:
        answer = await research(app, Found(site.url("/long/300"), site.url("/thin")))
        assert "MARK-long-217" in answer.text and "#:~:text=" in answer.text
        assert estimate(answer.text) < 9_000 and not answer.is_error

    async def test_json_has_the_form_of_the_contract_and_the_text_agrees(self, app: Services, site: Site) -> None:
        found = Found("http://nowhere.invalid/", site.url("/long/300"))
        answer = await research(app, found, format="json", depth=1)
        assert isinstance(answer.structured, dict) and json.loads(answer.text) == answer.structured
        failed, read = answer.structured["documents"]
        assert failed["rank"] == 1 and "no host named nowhere.invalid" in failed["error"]
        assert read["rank"] == 2 and "MARK-long-217" in read["content"]
        assert answer.structured["sources"][1]["read"] is True

    async def test_copies_are_no_second_source(self, app: Services, site: Site) -> None:
        answer = await research(app, Found(site.url("/static/95"), site.url("/static/96")))
        assert "2 pages, 1 independent" in answer.text and "The same text as [1]" in answer.text

    async def test_sources_alone_are_cheap(self, app: Services, site: Site) -> None:
        answer = await research(app, Found(site.url("/long/300")), fetch=False)
        assert "## Sources" in answer.text and "MARK" not in answer.text and estimate(answer.text) < 300

    async def test_when_every_engine_refused_the_answer_is_an_error(self, app: Services) -> None:
        answer = await research(app, Found(errors={"mojeek": "captcha"}, hint="Try brave."))
        assert answer.is_error and "(captcha)" in answer.text and answer.text.endswith("Hint: Try brave.")

    async def test_nothing_found_is_one_line(self, app: Services) -> None:
        answer = await research(app, Found(hint="Fewer words."))
        assert answer.text == 'No results for "What does note 217 say?" (engines: mojeek). Hint: Fewer words.'
        assert answer.is_empty and not answer.is_error

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({"question": " "}, "question must be given: it is blank."),
            ({"depth": 9}, "depth must be a whole number from 1 to 8, not 9."),
            ({"depth": 0}, "depth must be a whole number from 1 to 8, not 0."),
            ({"fetch": "maybe"}, 'fetch must be true or false, not "maybe".'),
            ({"max_age_hours": -1}, "max_age_hours must be a number from 0 to 87,600, not -1."),
        ],
    )
    async def test_a_wrong_argument_is_named(self, app: Services, arguments: dict[str, Any], sentence: str) -> None:
        answer = await research(app, Found(), **arguments)
        assert answer.is_error and answer.text == sentence


class TestCompare:
    async def test_two_pages_stand_side_by_side(self, app: Services, site: Site) -> None:
        answer = await call_tool(
            app, "compare", question="note 217", urls=[site.url("/long/300"), site.url("/long/301")]
        )
        assert answer.text.count("MARK-long-217") >= 1 and "## 2. " in answer.text
        assert estimate(answer.text) < 9_000

    async def test_a_page_that_fails_is_a_value(self, app: Services, site: Site) -> None:
        urls = [site.url("/long/300"), "http://nowhere.invalid/"]
        answer = await call_tool(app, "compare", question="note 217", urls=urls, format="json")
        assert isinstance(answer.structured, dict) and not answer.is_error
        read, failed = answer.structured["excerpts"]
        assert answer.structured["urls"] == urls
        assert "MARK-long-217" in read["excerpt"] and "no host named" in failed["error"]

    @pytest.mark.parametrize(
        ("count", "sentence"),
        [
            (0, "compare takes 2 to 5 different URLs, not 0. To read one page use `fetch`."),
            (1, "compare takes 2 to 5 different URLs, not 1. To read one page use `fetch`."),
            (6, "compare takes 2 to 5 URLs, not 6. To read more pages use `fetch_batch`."),
        ],
    )
    async def test_another_number_of_urls_is_answered_with_the_tool_for_it(
        self, app: Services, site: Site, count: int, sentence: str
    ) -> None:
        urls = [site.url(f"/static/{number}") for number in range(count)]
        answer = await call_tool(app, "compare", question="note 217", urls=urls)
        assert answer.is_error and answer.text == sentence
