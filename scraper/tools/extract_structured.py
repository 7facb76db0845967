"""`extract_structured`: one URL in, what its page says of itself for machines out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scraper.render import structured as render
from scraper.settings import Settings
from scraper.tools.arguments import Parameter, Parameters, StringArgument
from scraper.tools.common_parameters import FORMAT, body_budget, compact, new_region
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.urls import parse_target

if TYPE_CHECKING:
    from scraper.app import App


def tool(settings: Settings) -> Tool:
    """The tool."""
    parameters = Parameters(
        Parameter("url", StringArgument(), "Absolute http(s) URL.", required=True),
        FORMAT,
    )
    return Tool(
        name="extract_structured",
        title="Structured data of a web page",
        description=described("extract_structured"),
        input_schema=parameters.schema(),
        run=guarded("extract_structured", parameters, _run, check=lambda given: parse_target(given["url"])),
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    found = await app.structured.extract(
        given["url"],
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    budget = body_budget(app.settings)
    if given["format"] == "json":
        answer = render.as_json(found, budget=budget)
        return ToolAnswer(compact(answer), answer)
    return ToolAnswer(render.as_markdown(found, region=new_region(), budget=budget))
