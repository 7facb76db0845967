"""`engines`: the names that `search` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scraper.settings import Settings
from scraper.tools.arguments import Parameters
from scraper.tools.common_parameters import compact
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall

if TYPE_CHECKING:
    from scraper.app import App


def tool(settings: Settings) -> Tool:
    """The tool; it takes nothing."""
    parameters = Parameters()
    return Tool(
        name="engines",
        title="List search engines",
        description=described("engines"),
        input_schema=parameters.schema(),
        run=guarded("engines", parameters, _run),
        open_world=False,
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    app.searcher.make_ready()
    names = list(app.searcher.engines)
    return ToolAnswer(compact(names), names)
