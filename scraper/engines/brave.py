"""Brave: an index of its own, twenty rows a page; refuses many addresses at the first request."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType

from browsers.model import Request, Snapshot
from scraper.engines.common import next_page_forms, parser_choice, query_operators
from scraper.engines.common.layout_parser import Layout, css
from scraper.engines.common.request_builder import page_request, worded
from scraper.engines.model import Engine, EngineResponse, SearchQuery

_NAME = "brave"
_WEB = "https://search.brave.com/search"
_NEWS = "https://search.brave.com/news"
_MAX_OFFSET = 9
_FRESHNESS = MappingProxyType({"day": "pd", "week": "pw", "month": "pm", "year": "py"})

_NEXT = css("#pagination a[href*='offset=']:last-of-type, .pagination a[href*='offset=']:last-of-type")

READING = parser_choice.ParsedResultPage(
    layouts=(
        Layout(
            # Modules are snippets too, but have no type. Up to 2025 titles were of class `title`.
            rows=css('div.snippet[data-type="web"], div.snippet[data-type="news"]'),
            title=css("div.search-snippet-title, div.title, span.title, span.snippet-title"),
            snippet=css("div.generic-snippet > div.content, div.snippet-description, p.snippet-description"),
            link=css("a[href]"),
        ),
    ),
    none=css("#no-results, .no-results"),
    next=lambda page: next_page_forms.next_link(page, _NEXT, _NAME),
)


def ask(query: SearchQuery, now: datetime) -> Request:
    """`offset` counts pages. Safe search is a cookie there, and stands at moderate."""
    return page_request(
        _NAME,
        _NEWS if query.category == "news" else _WEB,
        {
            "q": query_operators.quoted_bangs(worded(query)),
            "source": "web",
            "tf": _FRESHNESS.get(query.freshness or "", ""),
            "offset": str(min(query.page - 1, _MAX_OFFSET)) if query.page > 1 else "",
        },
        query.language,
    )


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """A page of web or news results."""
    return parser_choice.read(snapshot, now, READING)


ENGINE = Engine(
    name=_NAME,
    family=_NAME,
    ask=ask,
    parse=parse,
    spacing_s=5.0,
    about="An independent index with twenty rows a page; often limits by address.",
    ready='div.snippet[data-type="web"]',
)
