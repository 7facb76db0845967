"""Tool `cache_search`: search the text of cached pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.render import search as render
from scraper.settings import Settings
from scraper.tools.model import (
    FORMAT,
    Parameter,
    Parameters,
    Tool,
    ToolAnswer,
    ToolCall,
    json_answer,
    make_tool,
    new_region,
)
from scraper.values import IntegerValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services

MAX_HITS = 50
MAX_QUERY_CHARS = 2_000


def cache_search_tool(settings: Settings) -> Tool:
    """Return `cache_search`: full-text search in cached pages."""
    parameters = Parameters(
        Parameter(
            "query",
            StringValue(MAX_QUERY_CHARS),
            'All words must occur; "a phrase", prefix*, OR, NOT work.',
            required=True,
        ),
        Parameter("limit", IntegerValue(1, MAX_HITS), "Pages to return.", default=10),
        FORMAT,
    )
    return make_tool("cache_search", "Search pages read before", parameters, _search, open_world=False)


async def _search(app: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    query = arguments["query"]
    found = await app.page_cache.search(query, principal=call.principal, limit=arguments["limit"])
    if arguments["format"] == "json":
        return json_answer(render.cache_hits_as_json(found))
    text = render.cache_hits_as_markdown(query, found, region=new_region(), now=datetime.now(UTC))
    return ToolAnswer(text, is_error=not found.usable)
