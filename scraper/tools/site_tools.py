"""Tools that read whole sites: `map`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scraper.render import site_map as render
from scraper.render.json_answers import SiteMapAnswer
from scraper.settings import Settings
from scraper.site.ranking import rank_pages
from scraper.site.url_identity import find_language
from scraper.tools.model import (
    FORMAT,
    Parameter,
    Parameters,
    Tool,
    ToolAnswer,
    ToolCall,
    body_budget,
    json_answer,
    make_tool,
    new_region,
)
from scraper.urls import parse_target
from scraper.values.types import IntegerValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services

MAX_PAGES = 500
MAX_START = 100_000
MAX_QUESTION_CHARS = 2_000


def map_tool(settings: Settings) -> Tool:
    """Return `map`: the pages of a site."""
    parameters = Parameters(
        Parameter("url", StringValue(), "The site, or a folder of it.", required=True),
        Parameter("question", StringValue(MAX_QUESTION_CHARS), "What you look for."),
        Parameter("max_pages", IntegerValue(1, MAX_PAGES), "Pages to list.", default=50),
        Parameter("start", IntegerValue(0, MAX_START), "First page to list.", default=0),
        FORMAT,
    )
    return make_tool(
        "map",
        "List the pages of a site",
        parameters,
        _map,
        answer=SiteMapAnswer,
        check=lambda arguments: parse_target(arguments["url"]),
    )


async def _map(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    site = await services.site_maps.get(
        arguments["url"], principal=call.principal, deadline_s=call.deadline_s, progress=call.progress
    )
    # A list of 100,000 pages takes some seconds.
    ranked = await asyncio.to_thread(rank_pages, site.pages, arguments["question"], find_language(site.url))
    start, max_pages, budget = arguments["start"], arguments["max_pages"], body_budget(services.settings)
    if arguments["format"] == "json":
        return json_answer(dict(render.as_json(site, ranked, start=start, max_pages=max_pages, budget=budget)))
    text = render.as_markdown(site, ranked, start=start, max_pages=max_pages, region=new_region(), budget=budget)
    return ToolAnswer(text, is_empty=not site.pages)
