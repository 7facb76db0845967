"""`cache_search`: words in, the pages read before that hold them out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.render import cache_search as render
from scraper.settings import Settings
from scraper.tools.arguments import IntegerArgument, Parameter, Parameters, StringArgument
from scraper.tools.common_parameters import FORMAT, compact, new_region
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall

if TYPE_CHECKING:
    from scraper.app import App

MAX_HITS = 50
MAX_QUERY_CHARS = 2_000


def tool(settings: Settings) -> Tool:
    """The tool."""
    parameters = Parameters(
        Parameter(
            "query",
            StringArgument(MAX_QUERY_CHARS),
            'Words that must all be there; "a phrase", prefix*, OR, NOT work.',
            required=True,
        ),
        Parameter("limit", IntegerArgument(1, MAX_HITS), "Pages to return.", default=10),
        FORMAT,
    )
    return Tool(
        name="cache_search",
        title="Search pages read before",
        description=described("cache_search"),
        input_schema=parameters.schema(),
        run=guarded("cache_search", parameters, _run),
        open_world=False,
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    found = await app.library.search(given["query"], principal=call.principal, limit=given["limit"])
    if given["format"] == "json":
        rows = render.as_json(found)
        return ToolAnswer(compact(rows), rows)
    text = render.as_markdown(given["query"], found, region=new_region(), now=datetime.now(UTC))
    return ToolAnswer(text, is_error=not found.usable)
