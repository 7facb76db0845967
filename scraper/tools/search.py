"""`search`: words in, one list of pages out, with a word about each engine that refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper.engines.common.host_categories import CATEGORIES
from scraper.engines.names import DEFAULTS, NAMES
from scraper.model import SearchAnswer
from scraper.render import search as render
from scraper.search.filters import FRESHNESS
from scraper.search.query_parsing import MAX_DOMAINS, MAX_RESULTS
from scraper.settings import Settings
from scraper.tools.arguments import (
    BooleanArgument,
    ChoiceArgument,
    IntegerArgument,
    Parameter,
    Parameters,
    StringArgument,
    StringListArgument,
)
from scraper.tools.common_parameters import FORMAT, compact, max_age, max_age_s, new_region
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall

if TYPE_CHECKING:
    from scraper.app import App

ENGINES_PARAMETER = Parameter(
    "engines",
    StringListArgument(len(NAMES)),
    f"Names of `engines`. Not given: {', '.join(DEFAULTS)}.",
)


def tool(settings: Settings) -> Tool:
    """The tool, with this operator's defaults in its schema."""
    parameters = Parameters(
        Parameter("query", StringArgument(), "What to look for, in words.", required=True),
        ENGINES_PARAMETER,
        Parameter("max_results", IntegerArgument(1, MAX_RESULTS), "5 to 20 is useful.", default=10),
        Parameter("use_cache", BooleanArgument(), "Take a kept answer.", default=True),
        max_age("Take a kept answer only if younger; 0 asks anew.", settings),
        Parameter("freshness", ChoiceArgument(tuple(FRESHNESS)), "Only this recent."),
        Parameter("include_domains", StringListArgument(MAX_DOMAINS), "Only these domains."),
        Parameter("exclude_domains", StringListArgument(MAX_DOMAINS), "Not these domains."),
        Parameter("category", ChoiceArgument(CATEGORIES), "Only this kind of page."),
        Parameter("include_text", StringArgument(), "Must stand in title or snippet."),
        Parameter("exclude_text", StringArgument(), "Must not stand there."),
        FORMAT,
    )
    return Tool(
        name="search",
        title="Search the web",
        description=described("search"),
        input_schema=parameters.schema(),
        run=guarded("search", parameters, _run),
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    answer = await app.searcher.search(
        given["query"],
        engines=given["engines"],
        max_results=given["max_results"],
        freshness=given["freshness"],
        include_domains=given["include_domains"] or (),
        exclude_domains=given["exclude_domains"] or (),
        category=given["category"],
        include_text=given["include_text"],
        exclude_text=given["exclude_text"],
        use_cache=given["use_cache"],
        max_age_s=max_age_s(given),
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    if given["format"] == "json":
        data = render.as_json(answer)
        return ToolAnswer(compact(data), data, is_error=blocked(answer))
    text = render.as_markdown(answer, region=new_region(), now=datetime.now(UTC))
    return ToolAnswer(text, is_error=blocked(answer))


def blocked(answer: SearchAnswer) -> bool:
    """Whether no engine answered: an empty list that must not be taken for "nothing found"."""
    return not answer.results and set(answer.errors) >= set(answer.engines)
