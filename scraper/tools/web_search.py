"""`web_search`: one engine's rows, for clients that know the tool by this name and form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scraper import errors
from scraper.render import web_search as render
from scraper.render.search import REASONS
from scraper.settings import Settings
from scraper.tools.arguments import IntegerArgument, Parameter, Parameters, StringArgument
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.tools.search import blocked

if TYPE_CHECKING:
    from scraper.app import App

ENGINE = "duckduckgo"
MOST = 30


def tool(settings: Settings) -> Tool:
    """The tool."""
    parameters = Parameters(
        Parameter("query", StringArgument(), "検索キーワード", required=True),
        Parameter(
            "max_results", IntegerArgument(1, MOST), "返却する検索結果の最大数（デフォルト: 10）", default=10
        ),
    )
    return Tool(
        name="web_search",
        title="Search DuckDuckGo",
        description=described("web_search"),
        input_schema=parameters.schema(),
        run=guarded("web_search", parameters, _run),
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    answer = await app.searcher.search(
        given["query"],
        engines=(ENGINE,),
        max_results=given["max_results"],
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    if blocked(answer):
        reason = answer.errors[ENGINE]
        raise errors.BlockedBySiteError(
            f"DuckDuckGo {REASONS.get(reason, 'failed')} ({reason}); this is not an empty result.",
            reason=reason,
            target=answer.query,
            next_step="Use `search` with other engines, or try again in some minutes.",
        )
    return ToolAnswer(render.as_markdown(answer))
