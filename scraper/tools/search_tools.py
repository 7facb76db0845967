"""Tools that search the web or the cache, and those that read several pages for one question."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scraper import errors
from scraper.engines.model import CATEGORIES, DEFAULT_ENGINES, ENGINE_NAMES, SOURCE_NAMES, SearchAnswer
from scraper.errors import ScraperError
from scraper.model import CachePolicy, ReadRequest
from scraper.render import research_report
from scraper.render import search as render
from scraper.render.json_truncation import compact_json
from scraper.render.page import MAX_LENGTH, iso_date, piece_of
from scraper.render.search import REASON_TEXTS
from scraper.render.untrusted_text import UNTRUSTED_NOTICE
from scraper.search import research
from scraper.search.argument_validation import MAX_DOMAINS, MAX_RESULTS, SearchRequest
from scraper.search.fusion import MAX_RESULT_AGE
from scraper.settings import Settings
from scraper.text.sanitize import clean_line
from scraper.tools import model
from scraper.values.types import BooleanValue, ChoiceValue, IntegerValue, StringListValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services

ENGINES_PARAMETER = model.Parameter(
    "engines",
    StringListValue(len(ENGINE_NAMES) + len(SOURCE_NAMES), has_names=True),
    f"Names from `engines`. Default: {', '.join(DEFAULT_ENGINES)}.",
)
_WEB_SEARCH_ENGINE = "duckduckgo"

MAX_CACHE_QUERY_CHARS = 2_000

_KEYWORDS = model.Parameter("query", StringValue(), "検索キーワード", required=True)


def search_tool(settings: Settings) -> model.Tool:
    """Return `search`, with the operator's defaults in its schema."""
    parameters = model.Parameters(
        model.Parameter("query", StringValue(), "Search words.", required=True),
        ENGINES_PARAMETER,
        model.Parameter("max_results", IntegerValue(1, MAX_RESULTS), "Use 5 to 20.", default=10),
        model.Parameter("use_cache", BooleanValue(), "Allow a cached answer.", default=True),
        model.max_age_parameter("Maximum age of a cached answer; 0: new search.", settings),
        model.Parameter("freshness", ChoiceValue(tuple(MAX_RESULT_AGE)), "Maximum age of pages."),
        model.Parameter("include_domains", StringListValue(MAX_DOMAINS, has_names=True), "Only these domains."),
        model.Parameter("exclude_domains", StringListValue(MAX_DOMAINS, has_names=True), "Not these domains."),
        model.Parameter("category", ChoiceValue(CATEGORIES), "Only this kind of page."),
        model.Parameter("include_text", StringValue(), "Required in title or snippet."),
        model.Parameter("exclude_text", StringValue(), "Forbidden there."),
        model.FORMAT,
    )
    return model.make_tool("search", "Search the web", parameters, _search)


def engines_tool(settings: Settings) -> model.Tool:
    """Return `engines`: the list of search engines."""
    return model.make_tool("engines", "List search engines", model.Parameters(), _engines, open_world=False)


def web_search_tool(settings: Settings) -> model.Tool:
    """Return `web_search`: search DuckDuckGo only."""
    parameters = model.Parameters(
        _KEYWORDS,
        model.Parameter("max_results", IntegerValue(1, 30), "返却する検索結果の最大数（デフォルト: 10）", default=10),
    )
    return model.make_tool("web_search", "Search DuckDuckGo", parameters, _web_search)


def instant_answer_tool(settings: Settings) -> model.Tool:
    """Return `instant_answer`: query the DuckDuckGo Instant Answer API."""
    return model.make_tool("instant_answer", "Ask for an instant answer", model.Parameters(_KEYWORDS), _instant_answer)


def cache_search_tool(settings: Settings) -> model.Tool:
    """Return `cache_search`: full-text search in cached pages."""
    parameters = model.Parameters(
        model.Parameter(
            "query",
            StringValue(MAX_CACHE_QUERY_CHARS),
            'All words must occur; "a phrase", prefix*, OR, NOT work.',
            required=True,
        ),
        model.Parameter("limit", IntegerValue(1, 50), "Pages.", default=10),
        model.FORMAT,
    )
    return model.make_tool("cache_search", "Search pages read before", parameters, _search_cache, open_world=False)


def is_blocked(answer: SearchAnswer) -> bool:
    """Return True if no engine answered, so that the empty list does not mean that nothing was found."""
    return not answer.results and set(answer.errors) >= set(answer.engines)


def _outcome(answer: SearchAnswer) -> dict[str, Any]:
    """Return fields of `ToolAnswer` for the answer of a search, with the errors of all engines if none answered."""
    is_error = is_blocked(answer)
    failures = tuple(map(_engine_failure, answer.errors.values())) if is_error else ()
    return {"is_error": is_error, "failures": failures, "is_empty": not answer.results}


def _engine_failure(reason: str) -> errors.ScraperError:
    if reason in ("captcha", "consent", "rate_limited", "refused"):
        return errors.BlockedBySiteError(reason, reason=reason)
    if reason == "no_network":
        return errors.OfflineError(reason)
    return errors.NetworkError(reason) if reason in ("timeout", "unreachable") else errors.ScraperError(reason)


async def _search(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    names = ("query", "engines", "max_results", "freshness", "category", "include_text", "exclude_text")
    request = SearchRequest(
        **{name: arguments[name] for name in names},
        include_domains=arguments["include_domains"] or (),
        exclude_domains=arguments["exclude_domains"] or (),
        cache=CachePolicy(max_age_s=model.max_age_s(arguments) if arguments["use_cache"] else 0),
        principal=call.principal,
        deadline_s=call.deadline_s,
    )
    answer = await services.searcher.search(request, progress=call.progress)
    if arguments["format"] == "json":
        return model.json_answer(render.as_json(answer), **_outcome(answer))
    text = render.as_markdown(answer, region=model.new_region(), now=datetime.now(UTC))
    return model.ToolAnswer(text, **_outcome(answer))


async def _engines(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    services.searcher.start_browser()
    return model.json_answer(list(services.searcher.engines))


async def _web_search(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    request = SearchRequest(
        arguments["query"],
        engines=(_WEB_SEARCH_ENGINE,),
        max_results=arguments["max_results"],
        principal=call.principal,
        deadline_s=call.deadline_s,
    )
    answer = await services.searcher.search(request, progress=call.progress)
    if is_blocked(answer):
        reason = answer.errors[_WEB_SEARCH_ENGINE]
        raise errors.BlockedBySiteError(
            f"DuckDuckGo {render.REASON_TEXTS.get(reason, 'failed')} ({reason}); this is not an empty result.",
            reason=reason,
            target=answer.query,
            next_step="Use `search` with other engines, or try again in some minutes.",
        )
    return model.ToolAnswer(render.web_search_as_markdown(answer), is_empty=not answer.results)


async def _instant_answer(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    query = arguments["query"]
    answer = await services.instant_answers.answer(query, principal=call.principal, deadline_s=call.deadline_s)
    return model.ToolAnswer(render.instant_answer_as_markdown(query, answer), is_empty=answer.empty)


async def _search_cache(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    query = arguments["query"]
    found = await services.page_cache.search(query, principal=call.principal, limit=arguments["limit"])
    if arguments["format"] == "json":
        return model.json_answer(render.cache_hits_as_json(found), is_empty=not found.hits)
    text = render.cache_hits_as_markdown(query, found, region=model.new_region(), now=datetime.now(UTC))
    return model.ToolAnswer(text, is_error=not found.usable, is_empty=not found.hits)


_TITLE_CHARS = 300


def openai_tools() -> tuple[model.Tool, model.Tool]:
    """Return `search` and `fetch`."""
    query = model.Parameter("query", StringValue(), "Search words.", required=True)
    page_id = model.Parameter("id", StringValue(), "An id from search, or any http(s) URL.", required=True)
    return (
        model.make_tool(
            "search", "Search the web", model.Parameters(query), _search_for_connector, description="openai_search"
        ),
        model.make_tool("fetch", "Read a search result", model.Parameters(page_id), _fetch, description="openai_fetch"),
    )


async def _search_for_connector(
    services: Services, arguments: dict[str, Any], call: model.ToolCall
) -> model.ToolAnswer:
    request = SearchRequest(arguments["query"], max_results=10, principal=call.principal, deadline_s=call.deadline_s)
    answer = await services.searcher.search(request, progress=call.progress)
    if is_blocked(answer):
        reasons = ", ".join(f"{name} {REASON_TEXTS.get(why, 'failed')}" for name, why in answer.errors.items())
        raise errors.BlockedBySiteError(
            f"No engine answered ({reasons}); this is not an empty result.",
            reason="blocked",
            target=answer.query,
            next_step="Try again in some minutes.",
        )
    results = [
        {"id": result.url, "title": clean_line(result.title, _TITLE_CHARS) or result.url, "url": result.url}
        for result in answer.results
        if result.url.startswith(("http://", "https://"))
    ]
    return model.ToolAnswer(compact_json({"results": results}))


async def _fetch(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    request = ReadRequest(arguments["id"], principal=call.principal, deadline_s=call.deadline_s)
    reading = await services.fetcher.fetch(request, progress=call.progress)
    document = reading.document
    piece = piece_of(document, 0, MAX_LENGTH)
    # All values are strings, as the contract requires.
    facts = {
        "retrieved_at": reading.retrieved_at.isoformat(timespec="seconds"),
        "method": reading.method,
        "truncated": "true" if piece.next_start is not None or reading.truncated else "false",
        "author": clean_line(document.author or "", _TITLE_CHARS),
        "published_date": iso_date(document.published),
        "site_name": clean_line(document.site_name or "", _TITLE_CHARS),
        "warnings": " ".join(clean_line(warning, _TITLE_CHARS) for warning in reading.warnings),
        "notice": UNTRUSTED_NOTICE,
    }
    page = {
        "id": arguments["id"],
        "title": clean_line(document.title or "", _TITLE_CHARS) or reading.url,
        "text": piece.shown,
        "url": reading.url,
        "metadata": {name: value for name, value in facts.items() if value},
    }
    return model.ToolAnswer(compact_json(page))


class _ComparedUrls(StringListValue):
    """URLs to compare. `search.research` checks their number and recommends another tool if it is wrong."""

    def schema(self) -> dict[str, Any]:
        return super().schema() | {"minItems": research.MIN_COMPARED_URLS}

    def parse(self, value: object) -> tuple[str, ...]:
        if value in ([], (), "[]"):
            return ()
        count = len(value) if isinstance(value, list | tuple) else 0
        return StringListValue(max(count, self.max_items)).parse(value)


def research_tool(settings: Settings) -> model.Tool:
    """Return `research` with the operator's defaults in its schema."""
    parameters = model.Parameters(
        model.Parameter("question", StringValue(), "What you want to know.", required=True),
        model.Parameter("depth", IntegerValue(1, research.MAX_DEPTH), "Pages to read.", default=3),
        replace(ENGINES_PARAMETER, about="As in `search`."),
        model.Parameter("fetch", BooleanValue(), "false: only list the sources.", default=True),
        model.Parameter("use_cache", BooleanValue(), "Allow cached searches and pages.", default=True),
        model.max_age_parameter("Their maximum age; 0: new reads.", settings),
        model.FORMAT,
        model.Parameter(
            "tokens", IntegerValue(model.MIN_TOKENS, model.MAX_TOKENS), "Of all passages. Default: 400 a page."
        ),
    )
    return model.make_tool("research", "Search and read the best pages", parameters, _research)


def compare_tool(settings: Settings) -> model.Tool:
    """Return `find_excerpts_of_pages`: excerpts of several pages for one question."""
    parameters = model.Parameters(
        model.Parameter("question", StringValue(2_000), "What to compare.", required=True),
        model.Parameter(
            "urls",
            _ComparedUrls(research.MAX_COMPARED_URLS),
            f"{research.MIN_COMPARED_URLS} to {research.MAX_COMPARED_URLS} http(s) URLs.",
            required=True,
        ),
        model.FORMAT,
    )
    return model.make_tool(
        "compare",
        "Compare web pages",
        parameters,
        _compare,
        check=lambda arguments: research.check_compared_urls(arguments["urls"]),
    )


async def _research(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    query = research.ResearchQuery(
        arguments["question"],
        depth=arguments["depth"],
        engines=arguments["engines"],
        fetch=arguments["fetch"],
        cache=CachePolicy(max_age_s=model.max_age_s(arguments) if arguments["use_cache"] else 0),
        tokens=arguments["tokens"],
    )
    report = await research.Researcher(services.searcher, services.fetcher, services.workers).research(
        query, budget=model.body_budget(services.settings, call), **call.options
    )
    if arguments["format"] == "json":
        return model.json_answer(research_report.as_json(report), **_outcome(report.search))
    now, region = datetime.now(UTC), model.new_region()
    if report.search.results:
        return model.ToolAnswer(research_report.as_markdown(report, region=region, now=now), **_outcome(report.search))
    # One line says all that there is.
    lines = render.as_markdown(report.search, region=region, now=now).splitlines()
    return model.ToolAnswer(f"{'. '.join(line.rstrip('.') for line in lines)}.", **_outcome(report.search))


async def _compare(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    question = arguments["question"]
    pages = await research.find_excerpts_of_pages(
        services.fetcher,
        services.workers,
        question,
        arguments["urls"],
        budget=model.body_budget(services.settings, call),
        **call.options,
    )
    failures = tuple(page.outcome for page in pages if isinstance(page.outcome, ScraperError))
    is_empty = len(failures) == len(pages)
    if arguments["format"] == "json":
        return model.json_answer(
            research_report.comparison_as_json(question, pages), failures=failures, is_empty=is_empty
        )
    text = research_report.comparison_as_markdown(question, pages, region=model.new_region(), now=datetime.now(UTC))
    return model.ToolAnswer(text, failures=failures, is_empty=is_empty)
