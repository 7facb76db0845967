"""Mojeek: independent index of its own crawler; weak for long questions."""

from __future__ import annotations

from datetime import datetime, timedelta

from browsers.model import Request, Snapshot
from scraper.engines.common import request_builder, response_parser
from scraper.engines.common.layout_parser import ResultLayout, css
from scraper.engines.common.request_builder import FRESHNESS_DAYS, page_request, parse_locale
from scraper.engines.model import Engine, EngineResponse, SearchQuery

_NAME = "mojeek"
_URL = "https://www.mojeek.com/search"
_ROWS = 10

_NEXT = css(".pagination a[rel='next'], .pagination li:last-child a")

_PARSE_RULES = response_parser.ParseRules(
    layouts=(
        ResultLayout(rows=css("ul.results-standard > li"), title=css("h2 a, a.title"), snippet=css("p.s")),
        ResultLayout(
            rows=css("section.news-search-result article"),
            title=css("h2 a, h3 a"),
            snippet=css("p.s"),
            date=css("span.date, time"),
            source=css("span.source, .source"),
        ),
    ),
    none=css(".no-results, p.no-results"),
    next=lambda page: request_builder.next_page_link(page, _NEXT, _NAME),
)


def build_request(query: SearchQuery, now: datetime) -> Request:
    """Build a web or news search. Send `s` and `fmt` only if needed: they trigger the rate limit."""
    locale = parse_locale(query.language)
    days = FRESHNESS_DAYS.get(query.freshness or "")
    return page_request(
        _NAME,
        _URL,
        {
            "q": _query_text(query),
            "s": str(_ROWS * (query.page - 1) + 1) if query.page > 1 else "",
            "since": (now - timedelta(days=days)).strftime("%Y%m%d") if days else "",
            "fmt": "news" if query.category == "news" else "",
            "safe": "1" if query.safe_search == "strict" else "",
            "lb": locale.language,
            "arc": locale.country.lower(),
        },
        query.language,
    )


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse a page of web or news results."""
    return response_parser.parse_response(snapshot, now, _PARSE_RULES)


def _query_text(query: SearchQuery) -> str:
    """Return the query text with the one operator that Mojeek supports: `site:` of one host."""
    domains = request_builder.category_domains(query.category, query.include_domains)
    return request_builder.join_query(
        query.text,
        "blog" if query.category == "blog" and "blog" not in query.text.lower() else "",
        request_builder.site_operator(domains) if len(domains) == 1 else "",
    )


ENGINE = Engine(
    name=_NAME,
    family=_NAME,
    build_request=build_request,
    parse=parse,
    spacing_s=3.0,
    about="An independent index of its own; good for a second opinion, weak for long questions.",
    ready="ul.results-standard, section.news-search-result",
)
