"""The search tools through their public interface, with real browsers and the engines on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from browsers.model import Tier
from scraper.engines.model import ENGINE_NAMES, SOURCE_NAMES
from scraper.services import Services
from scraper.settings import Settings
from scraper.tools import registry
from scraper.tools.model import ToolAnswer, ToolCall
from tests.site.engine_server import EngineSite

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("engines_have_time")]

TOOLS = {tool.name: tool for tool in registry.tools()}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(engine_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    folder: Path = tmp_path_factory.mktemp("data")
    async with Services.open(replace(engine_settings, data_dir=folder)) as running:
        yield running


async def run(app: Services, tool: str, principal: str = "local", **arguments: Any) -> ToolAnswer:
    return await TOOLS[tool].run(app, arguments, ToolCall(principal=principal))


async def test_search_returns_markdown_and_json(app: Services, engine_site: EngineSite) -> None:
    told = await run(app, "search", query="tidal power")
    assert not told.is_error
    assert told.text.startswith('10 results for "tidal power" (engines: duckduckgo, mojeek, googlenews)\n')
    assert "\n1. " in told.text and "\n10. " in told.text
    data = await run(app, "search", query="tidal power", format="json")
    assert json.loads(data.text) == data.structured
    assert isinstance(data.structured, dict)
    assert data.structured["cached"] is True
    assert list(data.structured["results"][0])[:5] == ["title", "url", "snippet", "engines", "score"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "query must be given."),
        ({"query": "  "}, "query must be given: it is blank."),
        (
            {"query": "https://example.com/a"},
            'query is a URL: "https://example.com/a". Read it with `fetch`, or ask in words.',
        ),
        ({"query": "a", "max_results": 0}, "max_results must be a whole number from 1 to 50, not 0."),
        ({"query": "a", "max_results": 51}, "max_results must be a whole number from 1 to 50, not 51."),
        (
            {"query": "a", "engines": ["mojek"]},
            '"mojek" is not a search engine (did you mean "mojeek"?). '
            "Known: duckduckgo, mojeek, googlenews, startpage, brave, bing, baidu, arxiv",
        ),
        ({"query": "a", "freshness": "hour"}, 'freshness must be one of day, week, month, year, not "hour".'),
        (
            {"query": "a", "include_domains": ["nodomain"]},
            'include_domains contains "nodomain", which is not a domain. Write domains as "python.org".',
        ),
        ({"query": "a", "num_results": 3}, 'Unknown argument "num_results" (did you mean "max_results"?).'),
    ],
)
async def test_a_wrong_argument_is_named_without_a_request(
    app: Services, engine_site: EngineSite, arguments: dict[str, Any], sentence: str
) -> None:
    answer = await run(app, "search", **arguments)
    assert answer.is_error
    assert answer.text.startswith(sentence)
    assert engine_site.asked == []


async def test_a_search_refused_by_all_engines_is_an_error_with_reasons(app: Services, engine_site: EngineSite) -> None:
    engine_site.moods["brave"] = "limited"
    answer = await run(app, "search", query="words", engines=["brave"], format="json", principal="walled")
    assert answer.is_error
    assert isinstance(answer.structured, dict)
    assert answer.structured["results"] == [] and answer.structured["errors"] == {"brave": "rate_limited"}
    assert "Try engines=" in answer.structured["hint"]


async def test_listing_the_engines_starts_the_browser(engine_settings: Settings, tmp_path: Path) -> None:
    async with Services.open(replace(engine_settings, data_dir=tmp_path)) as app:
        await run(app, "engines")
        async with asyncio.timeout(120):
            while not app.browsers.pool.is_ready(Tier.FULL):  # noqa: ASYNC110 - no event reports a start
                await asyncio.sleep(0.05)


async def test_engines_are_a_list_of_names(app: Services) -> None:
    answer = await run(app, "engines")
    assert answer.structured == [*ENGINE_NAMES, *SOURCE_NAMES]


async def test_web_search_returns_rows_of_one_engine(app: Services, engine_site: EngineSite) -> None:
    answer = await run(app, "web_search", query="wave power", max_results=2)
    assert not answer.is_error
    assert answer.text.startswith('## Web Search Results for "wave power"\n\n### 1. A short guide to wave power\n')
    assert answer.text.endswith("\n\n---\n\n_Source: DuckDuckGo (2 results)_")
    assert {asked.engine for asked in engine_site.asked} == {"duckduckgo"}


async def test_instant_answers_are_fetched_by_the_browser(app: Services, engine_site: EngineSite) -> None:
    answer = await run(app, "instant_answer", query="The ferry")
    assert not answer.is_error
    assert "### Abstract\nThe ferry is what the harbour is known for.\n" in answer.text


async def test_a_refused_instant_answer_is_an_error(app: Services, engine_site: EngineSite) -> None:
    engine_site.instant, engine_site.instant_status = "", 202
    answer = await run(app, "instant_answer", query="The ferry")
    assert answer.is_error and "rate_limited" in answer.text
    blank = await run(app, "instant_answer", query=" ")
    assert blank.is_error and blank.text == "query must be given: it is blank."
