"""`fetch`: one URL in, the main content of its page out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.render import fetch as render
from scraper.settings import Settings
from scraper.tools.arguments import BooleanArgument, IntegerArgument, Parameter, Parameters, StringArgument
from scraper.tools.common_parameters import (
    FORMAT,
    RENDER,
    RESULT_CHARS,
    body_budget,
    compact,
    max_age,
    max_age_s,
    new_region,
)
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.urls import parse_target

if TYPE_CHECKING:
    from scraper.app import App

MAX_START = 100_000_000


def tool(settings: Settings) -> Tool:
    """The tool, with this operator's defaults in its schema."""
    parameters = Parameters(
        Parameter("url", StringArgument(), "Absolute http(s) URL.", required=True),
        RENDER,
        Parameter("force_refresh", BooleanArgument(), "Read it anew.", default=False),
        max_age("Take a kept page only if younger; 0 reads anew.", settings),
        FORMAT,
        Parameter("start", IntegerArgument(0, MAX_START), "Character to begin at.", default=0),
        Parameter(
            "length",
            IntegerArgument(1, render.MAX_LENGTH),
            "Characters to return, cut where a paragraph ends. Not given: what fits.",
        ),
    )
    return Tool(
        name="fetch",
        title="Read a web page",
        description=described("fetch"),
        input_schema=parameters.schema(),
        run=guarded("fetch", parameters, _run, check=lambda given: parse_target(given["url"])),
        result_chars=RESULT_CHARS,
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    reading = await app.fetcher.fetch(
        given["url"],
        render=given["render"],
        force_refresh=given["force_refresh"],
        continuing=given["start"] > 0,
        max_age_s=max_age_s(given),
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    start, length, budget = given["start"], given["length"], body_budget(app.settings)
    if given["format"] == "json":
        page = render.as_json(reading, start=start, length=length, budget=budget)
        return ToolAnswer(compact(page), page)
    text = render.as_markdown(
        reading, region=new_region(), start=start, length=length, now=datetime.now(UTC), budget=budget
    )
    return ToolAnswer(text)
