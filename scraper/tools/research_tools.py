"""Tools that read several pages for one question: `research` and `find_excerpts_of_pages`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.errors import ScraperError
from scraper.model import CachePolicy
from scraper.render import research_report as render
from scraper.render.json_answers import ComparisonAnswer, ResearchAnswer
from scraper.search.research import (
    MAX_COMPARED_URLS,
    MAX_DEPTH,
    MIN_COMPARED_URLS,
    Researcher,
    ResearchQuery,
    check_compared_urls,
    find_excerpts_of_pages,
)
from scraper.settings import Settings
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
    max_age_parameter,
    max_age_s,
    new_region,
)
from scraper.tools.search_tools import ENGINES_PARAMETER, engine_failures, is_blocked
from scraper.values.types import BooleanValue, IntegerValue, StringListValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services

_MAX_QUESTION_CHARS = 2_000


class _ComparedUrls(StringListValue):
    """URLs to compare. `search.research` checks their number and recommends another tool if it is wrong."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return super().schema() | {"minItems": MIN_COMPARED_URLS}

    def parse(self, value: object) -> tuple[str, ...]:
        """Return the URLs, even if they are too few or too many."""
        if value in ([], (), "[]"):
            return ()
        count = len(value) if isinstance(value, list | tuple) else 0
        return StringListValue(max(count, self.max_items)).parse(value)


def research_tool(settings: Settings) -> Tool:
    """Return `research` with the operator's defaults in its schema."""
    parameters = Parameters(
        Parameter("question", StringValue(), "What you want to know.", required=True),
        Parameter("depth", IntegerValue(1, MAX_DEPTH), "Pages to read.", default=3),
        replace(ENGINES_PARAMETER, about="As in `search`."),
        Parameter("fetch", BooleanValue(), "false: only list the sources.", default=True),
        Parameter("use_cache", BooleanValue(), "Allow cached searches and pages.", default=True),
        max_age_parameter("Their maximum age; 0 forces new reads.", settings),
        FORMAT,
    )
    return make_tool("research", "Search and read the best pages", parameters, _research, answer=ResearchAnswer)


def compare_tool(settings: Settings) -> Tool:
    """Return `find_excerpts_of_pages`: excerpts of several pages for one question."""
    parameters = Parameters(
        Parameter("question", StringValue(_MAX_QUESTION_CHARS), "What to compare.", required=True),
        Parameter(
            "urls",
            _ComparedUrls(MAX_COMPARED_URLS),
            f"{MIN_COMPARED_URLS} to {MAX_COMPARED_URLS} http(s) URLs.",
            required=True,
        ),
        FORMAT,
    )
    return make_tool(
        "compare",
        "Compare web pages",
        parameters,
        _compare,
        answer=ComparisonAnswer,
        check=lambda arguments: check_compared_urls(arguments["urls"]),
    )


async def _research(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    query = ResearchQuery(
        arguments["question"],
        depth=arguments["depth"],
        engines=arguments["engines"],
        fetch=arguments["fetch"],
        cache=CachePolicy(max_age_s=max_age_s(arguments) if arguments["use_cache"] else 0),
    )
    report = await Researcher(services.searcher, services.fetcher, services.workers).research(
        query,
        budget=body_budget(services.settings),
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    is_error, failures, is_empty = is_blocked(report.search), engine_failures(report.search), not report.search.results
    if arguments["format"] == "json":
        data = json_answer(render.as_json(report), is_error=is_error)
        return replace(data, failures=failures, is_empty=is_empty)
    text = render.as_markdown(report, region=new_region(), now=datetime.now(UTC))
    return ToolAnswer(text, is_error=is_error, failures=failures, is_empty=is_empty)


async def _compare(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    question = arguments["question"]
    pages = await find_excerpts_of_pages(
        services.fetcher,
        services.workers,
        question,
        arguments["urls"],
        budget=body_budget(services.settings),
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    failures = tuple(page.outcome for page in pages if isinstance(page.outcome, ScraperError))
    is_empty = len(failures) == len(pages)
    if arguments["format"] == "json":
        return replace(json_answer(render.comparison_as_json(question, pages)), failures=failures, is_empty=is_empty)
    text = render.comparison_as_markdown(question, pages, region=new_region(), now=datetime.now(UTC))
    return ToolAnswer(text, failures=failures, is_empty=is_empty)
