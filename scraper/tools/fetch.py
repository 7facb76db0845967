"""Tools that read web pages by URL: `fetch`, `fetch_batch` and `extract_structured`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.model import CachePolicy, ReadRequest, Reuse
from scraper.render import batch as render_batch
from scraper.render import fetch as render_page
from scraper.render import structured as render_structured
from scraper.settings import Settings
from scraper.tools.model import (
    FORMAT,
    RENDER,
    RESULT_CHARS,
    Parameter,
    Parameters,
    Tool,
    ToolAnswer,
    ToolCall,
    body_budget,
    json_answer,
    make_tool,
    max_age_parameter,
    max_age_s,
    new_region,
    string_parameter,
)
from scraper.urls import parse_target
from scraper.values import BooleanValue, IntegerValue, StringListValue

if TYPE_CHECKING:
    from scraper.services import Services

MAX_START = 100_000_000

_URL = string_parameter("url", "Absolute http(s) URL.", required=True)


def fetch_tool(settings: Settings) -> Tool:
    """Return `fetch` with the operator's defaults in its schema."""
    parameters = Parameters(
        _URL,
        RENDER,
        Parameter("force_refresh", BooleanValue(), "Ignore the cache.", default=False),
        max_age_parameter("Maximum age of a cached page; 0 forces a new read.", settings),
        FORMAT,
        Parameter("start", IntegerValue(0, MAX_START), "First character to return.", default=0),
        Parameter("length", IntegerValue(1, render_page.MAX_LENGTH), "Characters to return. Default: as many as fit."),
    )
    return make_tool("fetch", "Read a web page", parameters, _fetch, check=_check_url, result_chars=RESULT_CHARS)


def fetch_batch_tool(settings: Settings) -> Tool:
    """Return `fetch_batch` with the operator's limit in its schema."""
    parameters = Parameters(
        Parameter("urls", StringListValue(settings.batch_limit), "Absolute http(s) URLs.", required=True),
        replace(RENDER, about="As in `fetch`."),
        FORMAT,
    )
    return make_tool("fetch_batch", "Read several web pages", parameters, _fetch_batch)


def extract_structured_tool(settings: Settings) -> Tool:
    """Return `extract_structured`: the machine-readable data of a page."""
    return make_tool(
        "extract_structured",
        "Structured data of a web page",
        Parameters(_URL, FORMAT),
        _extract_structured,
        check=_check_url,
    )


def _check_url(arguments: Any) -> None:
    parse_target(arguments["url"])


async def _fetch(app: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    start, length, budget = arguments["start"], arguments["length"], body_budget(app.settings)
    request = ReadRequest(
        arguments["url"],
        render=arguments["render"],
        cache=CachePolicy(
            max_age_s=0 if arguments["force_refresh"] else max_age_s(arguments),
            reuse=Reuse.IN_MEMORY if start > 0 else Reuse.STORED,
        ),
        principal=call.principal,
        deadline_s=call.deadline_s,
    )
    reading = await app.fetcher.fetch(request, progress=call.progress)
    if arguments["format"] == "json":
        return json_answer(render_page.as_json(reading, start=start, length=length, budget=budget))
    text = render_page.as_markdown(
        reading, region=new_region(), start=start, length=length, now=datetime.now(UTC), budget=budget
    )
    return ToolAnswer(text)


async def _fetch_batch(app: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    urls, render, budget = arguments["urls"], arguments["render"], body_budget(app.settings)
    outcomes = await app.fetcher.fetch_batch(
        urls, render=render, principal=call.principal, deadline_s=call.deadline_s, progress=call.progress
    )
    items = [render_batch.BatchItem(url, outcome) for url, outcome in zip(urls, outcomes, strict=True)]
    if arguments["format"] == "json":
        return json_answer(render_batch.as_json(items, budget=budget))
    text = render_batch.as_markdown(items, region=new_region(), render=render, now=datetime.now(UTC), budget=budget)
    return ToolAnswer(text)


async def _extract_structured(app: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    data = await app.structured.extract(
        arguments["url"], principal=call.principal, deadline_s=call.deadline_s, progress=call.progress
    )
    budget = body_budget(app.settings)
    if arguments["format"] == "json":
        return json_answer(render_structured.as_json(data, budget=budget))
    return ToolAnswer(render_structured.as_markdown(data, region=new_region(), budget=budget))
