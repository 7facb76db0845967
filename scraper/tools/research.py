"""`research`: a question in, its sources and what they say of it out, in one call."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.render import research as render
from scraper.search.research import MAX_DEPTH, Researcher, ResearchQuery
from scraper.settings import Settings
from scraper.tools.arguments import BooleanArgument, IntegerArgument, Parameter, Parameters, StringArgument
from scraper.tools.common_parameters import FORMAT, body_budget, compact, max_age, max_age_s, new_region
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.tools.search import ENGINES_PARAMETER, blocked

if TYPE_CHECKING:
    from scraper.app import App


def tool(settings: Settings) -> Tool:
    """The tool, with this operator's defaults in its schema."""
    parameters = Parameters(
        Parameter("question", StringArgument(), "What you want to know.", required=True),
        Parameter("depth", IntegerArgument(1, MAX_DEPTH), "How many of the best pages to read.", default=3),
        replace(ENGINES_PARAMETER, about="As in `search`."),
        Parameter("fetch", BooleanArgument(), "false: only list the sources.", default=True),
        Parameter("use_cache", BooleanArgument(), "Take kept searches and pages.", default=True),
        max_age("Kept ones only if younger; 0: all anew.", settings),
        FORMAT,
    )
    return Tool(
        name="research",
        title="Search and read the best pages",
        description=described("research"),
        input_schema=parameters.schema(),
        run=guarded("research", parameters, _run),
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    inquiry = ResearchQuery(
        given["question"],
        depth=given["depth"],
        engines=given["engines"],
        fetch=given["fetch"],
        use_cache=given["use_cache"],
        max_age_s=max_age_s(given),
    )
    brief = await Researcher(app.searcher, app.fetcher, app.workers).research(
        inquiry,
        budget=body_budget(app.settings),
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    is_error = blocked(brief.search)
    if given["format"] == "json":
        data = render.as_json(brief)
        return ToolAnswer(compact(data), data, is_error=is_error)
    return ToolAnswer(
        render.as_markdown(brief, region=new_region(), now=datetime.now(UTC)), is_error=is_error
    )
