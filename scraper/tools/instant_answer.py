"""`instant_answer`: what an encyclopaedic index knows of a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scraper.render import instant_answer as render
from scraper.settings import Settings
from scraper.tools.arguments import Parameter, Parameters, StringArgument
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall

if TYPE_CHECKING:
    from scraper.app import App


def tool(settings: Settings) -> Tool:
    """The tool."""
    parameters = Parameters(Parameter("query", StringArgument(), "検索キーワード", required=True))
    return Tool(
        name="instant_answer",
        title="Ask for an instant answer",
        description=described("instant_answer"),
        input_schema=parameters.schema(),
        run=guarded("instant_answer", parameters, _run),
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    answer = await app.instant_answers.answer(
        given["query"], principal=call.principal, deadline_s=call.deadline_s
    )
    return ToolAnswer(render.as_markdown(given["query"], answer))
