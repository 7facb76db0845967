"""`fetch_batch`: several URLs in, the main content of each page out, failures among them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.render import batch as render
from scraper.settings import Settings
from scraper.tools.arguments import Parameter, Parameters, StringListArgument
from scraper.tools.common_parameters import FORMAT, RENDER, body_budget, compact, new_region
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall

if TYPE_CHECKING:
    from scraper.app import App


def tool(settings: Settings) -> Tool:
    """The tool, with this operator's bounds in its schema."""
    parameters = Parameters(
        Parameter("urls", StringListArgument(settings.batch_limit), "Absolute http(s) URLs.", required=True),
        replace(RENDER, about="As in `fetch`."),
        FORMAT,
    )
    return Tool(
        name="fetch_batch",
        title="Read several web pages",
        description=described("fetch_batch"),
        input_schema=parameters.schema(),
        run=guarded("fetch_batch", parameters, _run),
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    urls = given["urls"]
    outcomes = await app.fetcher.fetch_batch(
        urls,
        render=given["render"],
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    items = [render.BatchItem(url, outcome) for url, outcome in zip(urls, outcomes, strict=True)]
    budget = body_budget(app.settings)
    if given["format"] == "json":
        pages = render.as_json(items, budget=budget)
        return ToolAnswer(compact(pages), pages)
    text = render.as_markdown(
        items, region=new_region(), render=given["render"], now=datetime.now(UTC), budget=budget
    )
    return ToolAnswer(text)
