"""Bing: requests name market, language and country. Suspected bots get results for the first word only."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType

from browsers.model import Mode, Request, Snapshot, Tier
from scraper.engines.common import request_builder, response_parser, rss_results
from scraper.engines.common.layout_parser import ResultLayout, css
from scraper.engines.common.request_builder import FRESHNESS_DAYS, page_request, parse_locale, query_text
from scraper.engines.model import Engine, EngineResponse, SearchQuery

_NAME = "bing"
_WEB = "https://www.bing.com/search"
_NEWS = "https://www.bing.com/news/search"
_ROWS = 10
_FRESHNESS = MappingProxyType({"day": 'ex1:"ez1"', "week": 'ex1:"ez2"', "month": 'ex1:"ez3"'})
_NEWS_FRESHNESS = MappingProxyType({"day": 'interval="7"', "week": 'interval="8"', "month": 'interval="9"'})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NEXT = css("a.sb_pagN[href]")

_PARSE_RULES = response_parser.ParseRules(
    layouts=(
        ResultLayout(
            # On phones the heading is inside the link.
            rows=css("li.b_algo"),
            title=css("h2"),
            link=css("h2 a[href], a[href]:has(h2), .b_algoheader > a[href]"),
            snippet=css("p.b_lineclamp2, p.b_lineclamp3, p.b_lineclamp4, .b_caption p, .b_algoSlug, .b_mText p, p"),
            drops=css("span.algoSlug_icon"),
        ),
        ResultLayout(
            rows=css("div.news-card, div.newsitem"),
            title=css("a.title"),
            snippet=css("div.snippet"),
            date=css(".source span[aria-label]"),
            source=css(".source a[data-author], .source a"),
        ),
    ),
    none=css("li.b_no"),
    next=lambda page: request_builder.next_page_link(page, _NEXT, _NAME),
)


def build_request(query: SearchQuery, now: datetime) -> Request:
    """Build a web or news search."""
    is_news, freshness = query.category == "news", query.freshness or ""
    locale = parse_locale(query.language)
    parameters = {
        "q": query_text(query),
        "qft": _NEWS_FRESHNESS.get(freshness, "") if is_news else "",
        "filters": "" if is_news else _freshness_filter(freshness, now),
        "mkt": locale.tag,
        "setlang": locale.language,
        "cc": locale.country,
        "adlt": query.safe_search,
        "first": str(_ROWS * (query.page - 1) + 1) if query.page > 1 else "",
    }
    return page_request(_NAME, _NEWS if is_news else _WEB, parameters, query.language)


def build_feed_request(query: SearchQuery, now: datetime) -> Request:
    """Build a request for the same results as an RSS feed, without rendering."""
    request = build_request(query, now)
    return replace(request, url=f"{request.url}&format=rss", mode=Mode.PEEK, tier=Tier.LIGHT)


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse a page of web or news results, or their RSS feed."""
    return rss_results.parse_rss(snapshot) or response_parser.parse_response(snapshot, now, _PARSE_RULES)


def _freshness_filter(freshness: str, now: datetime) -> str:
    today = (now - _EPOCH).days
    year = f'ex1:"ez5_{today - FRESHNESS_DAYS["year"]}_{today}"'
    return year if freshness == "year" else _FRESHNESS.get(freshness, "")


ENGINE = Engine(
    name=_NAME,
    family="bing",
    build_request=build_request,
    parse=parse,
    spacing_s=5.0,
    about="The largest index besides Google's; blocks clients that it suspects, or sends them wrong results.",
    ready="#b_results > li.b_algo",
    fallbacks=(build_feed_request,),
)
