"""Brave: independent index, twenty results per page. It blocks many IP addresses at the first request."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType

from browsers.model import Request, Snapshot
from scraper.engines.common import request_builder, response_parser
from scraper.engines.common.layout_parser import ResultLayout, css
from scraper.engines.common.request_builder import page_request, query_text
from scraper.engines.model import Engine, EngineResponse, SearchQuery

_NAME = "brave"
_WEB = "https://search.brave.com/search"
_NEWS = "https://search.brave.com/news"
_MAX_OFFSET = 9
_FRESHNESS = MappingProxyType({"day": "pd", "week": "pw", "month": "pm", "year": "py"})

_NEXT = css("#pagination a[href*='offset=']:last-of-type, .pagination a[href*='offset=']:last-of-type")

_PARSE_RULES = response_parser.ParseRules(
    layouts=(
        ResultLayout(
            # Modules are snippets without a type. Until 2025 titles had the class `title`.
            rows=css('div.snippet[data-type="web"], div.snippet[data-type="news"]'),
            title=css("div.search-snippet-title, div.title, span.title, span.snippet-title"),
            snippet=css("div.generic-snippet > div.content, div.snippet-description, p.snippet-description"),
            link=css("a[href]"),
        ),
    ),
    none=css("#no-results, .no-results"),
    next=lambda page: request_builder.next_page_link(page, _NEXT, _NAME),
)


def build_request(query: SearchQuery, now: datetime) -> Request:
    """Build a web or news search; `offset` is the page number from 0.

    Safe search stays at the default of Brave, moderate, which only a cookie changes.
    """
    return page_request(
        _NAME,
        _NEWS if query.category == "news" else _WEB,
        {
            "q": request_builder.quote_bangs(query_text(query)),
            "source": "web",
            "tf": _FRESHNESS.get(query.freshness or "", ""),
            "offset": str(min(query.page - 1, _MAX_OFFSET)) if query.page > 1 else "",
        },
        query.language,
    )


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse a page of web or news results."""
    return response_parser.parse_response(snapshot, now, _PARSE_RULES)


ENGINE = Engine(
    name=_NAME,
    family=_NAME,
    build_request=build_request,
    parse=parse,
    spacing_s=5.0,
    about="An independent index with twenty rows a page; often limits by address.",
    ready='div.snippet[data-type="web"]',
)
