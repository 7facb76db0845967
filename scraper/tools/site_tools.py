"""Tools for whole sites and for changes of pages: `map`, `crawl` and `changes`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from scraper.call_context import Deadline
from scraper.errors import InvalidArgumentError, ScraperError
from scraper.render import sites as render
from scraper.retrieval.model import PageExcerpts
from scraper.search.research import add_excerpts
from scraper.settings import Settings
from scraper.site.model import CrawlRequest
from scraper.site.url_patterns import rank_pages
from scraper.tools import model
from scraper.urls import parse_target
from scraper.values.types import CustomValue, IntegerValue, StringListValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services

_MAX_QUESTION_CHARS = 2_000
_LINES_TOKENS = 2_000
"""Tokens of the pages or passages in an answer of `crawl`. `search_index` finds further ones."""


def map_tool(settings: Settings) -> model.Tool:
    """Return `map`: list the pages of a site."""
    parameters = model.Parameters(
        model.Parameter("url", StringValue(), "Site or folder.", required=True),
        model.Parameter("question", StringValue(_MAX_QUESTION_CHARS), "What to find."),
        model.Parameter("limit", IntegerValue(1, 500), "Pages to list.", default=50, old_name="max_pages"),
        model.Parameter("start", IntegerValue(0, 100_000), "First page to list.", default=0),
        model.FORMAT,
    )
    return model.make_tool(
        "map", "Map a site", parameters, _map, check=lambda arguments: parse_target(arguments["url"])
    )


def crawl_tool(settings: Settings) -> model.Tool:
    """Return `crawl`: read the pages of a site, some in each call."""
    patterns = StringListValue(20)
    parameters = model.Parameters(
        model.Parameter("url", StringValue(), "Site or folder."),
        model.Parameter("crawl", StringValue(64), "ID to continue."),
        model.Parameter("question", StringValue(_MAX_QUESTION_CHARS), "What to find."),
        model.Parameter("max_pages", IntegerValue(1, 1_000), "Pages to read.", default=30),
        model.Parameter("include_paths", patterns, "Only paths like /docs/*.", old_name="include"),
        model.Parameter("exclude_paths", patterns, "Not these paths.", old_name="exclude"),
        model.FORMAT,
    )
    return model.make_tool("crawl", "Read a site", parameters, _crawl, check=_check_crawl)


def _check_crawl(arguments: Mapping[str, Any]) -> None:
    if (arguments["url"] is None) == (arguments["crawl"] is None):
        raise InvalidArgumentError(
            "Give either url or crawl.", target="url", next_step="`url` begins a crawl, `crawl` continues one."
        )
    if arguments["url"] is not None:
        parse_target(arguments["url"])
    elif fixed := [name for name in ("question", "include_paths", "exclude_paths") if arguments[name]]:
        raise InvalidArgumentError(
            f"{fixed[0]} cannot change while a crawl continues.", target=fixed[0], next_step="Begin another crawl."
        )


async def _crawl(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    deadline = Deadline.within(call.deadline_s)
    count = arguments["max_pages"]
    if arguments["crawl"] is not None:
        report = await services.crawls.resume(arguments["crawl"], pages=count, **call.options)
    else:
        patterns = {name: tuple(arguments[f"{name}_paths"] or ()) for name in ("include", "exclude")}
        request = CrawlRequest(arguments["url"], arguments["question"], **patterns)
        report = await services.crawls.start(request, crawl_id=call.resume_key, pages=count, **call.options)
    budget = min(_LINES_TOKENS, model.body_budget(services.settings, call))
    pages: Sequence[PageExcerpts] = ()
    if report.question:
        outcomes = [(reading.url, reading) for reading in report.readings]
        pages = await add_excerpts(
            services.workers, outcomes, report.question, budget, deadline, least_share=0.0, skips_duplicates=True
        )
    if arguments["format"] == "json":
        return model.json_answer(render.crawl_as_json(report, pages, budget=budget))
    text = render.crawl_as_markdown(report, pages, region=model.new_region(), budget=budget)
    return model.ToolAnswer(text, is_empty=not report.kept)


def changes_tool(settings: Settings) -> model.Tool:
    """Return `changes`: compare pages with their earlier versions."""
    parameters = model.Parameters(
        model.Parameter("urls", StringListValue(20), "http(s) URLs.", required=True),
        model.Parameter(
            "since", CustomValue("a date like 2026-05-31", _parse_since, ""), "Compare with that day, like 2026-05-31."
        ),
        model.FORMAT,
    )
    return model.make_tool("changes", "Page changes", parameters, _changes)


def _parse_since(text: str) -> datetime:
    """Parse a date or time in ISO format. A date alone means the end of the day; the default time zone is UTC."""
    moment = datetime.fromisoformat(text.strip())
    if len(text.strip()) == len("2026-05-31"):
        moment += timedelta(days=1)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


async def _changes(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    urls = arguments["urls"]
    outcomes = await services.change_tracker.compare(urls, since=arguments["since"], **call.options)
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, ScraperError))
    budget = model.body_budget(services.settings, call)
    is_failed = len(failures) == len(outcomes)
    if arguments["format"] == "json":
        return model.json_answer(render.as_json(urls, outcomes, budget=budget), is_error=is_failed, failures=failures)
    text = render.as_markdown(urls, outcomes, region=model.new_region(), budget=budget)
    return model.ToolAnswer(text, is_error=is_failed, failures=failures)


async def _map(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    site = await services.site_maps.get(arguments["url"], **call.options)
    # A list of 100,000 pages takes some seconds.
    ranked = await asyncio.to_thread(rank_pages, site.pages, arguments["question"])
    if arguments["question"]:
        ranked = [(page, score) for page, score in ranked if score]
    start, max_pages, budget = arguments["start"], arguments["limit"], model.body_budget(services.settings, call)
    if arguments["format"] == "json":
        return model.json_answer(render.map_as_json(site, ranked, start=start, max_pages=max_pages, budget=budget))
    text = render.map_as_markdown(
        site, ranked, start=start, max_pages=max_pages, region=model.new_region(), budget=budget
    )
    return model.ToolAnswer(text, is_empty=not ranked)
