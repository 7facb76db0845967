"""Baidu: index of the Chinese web. The target URL is in an attribute beside each opaque link."""

from __future__ import annotations

from datetime import datetime

from browsers.model import Request, Snapshot
from scraper.engines.common import request_builder, response_parser
from scraper.engines.common.layout_parser import ResultLayout, css
from scraper.engines.common.request_builder import FRESHNESS_DAYS, page_request, query_text
from scraper.engines.model import Engine, EngineResponse, SearchQuery
from scraper.html.dom.xpath import Element
from scraper.urls import is_web_url

_NAME = "baidu"
_URL = "https://www.baidu.com/s"
_ROWS = 10
_DAY_S = 86_400

_NO_TARGET = "nourl.ubs.baidu.com"
_NEXT = css("#page a.n:last-of-type")


def _target_url(block: Element) -> str:
    """Return the target URL in the attribute `mu`, or an empty string for modules without one."""
    address = (block.get("mu") or "").strip()
    return address if is_web_url(address) and _NO_TARGET not in address else ""


_PARSE_RULES = response_parser.ParseRules(
    layouts=(
        ResultLayout(
            rows=css(
                "#content_left > .c-container:not([tpl='recommend_list']):not([cmatchid]):not(.EC_result)"
                ":not([data-placeid])"
            ),
            title=css("h3 a[href]"),
            address=_target_url,
            snippet=css(
                ".c-abstract, [class*='summary-text'], span[class^='content-right_'], .c-font-normal.c-color-text"
            ),
            date=css("span.c-color-gray2.c-font-normal, .c-color-time"),
            source=css("a.c-gray, span.c-color-gray[aria-label^='新闻来源'], .c-showurl"),
        ),
    ),
    none=css(".content_none"),
    next=lambda page: request_builder.next_page_link(page, _NEXT, _NAME),
)


def build_request(query: SearchQuery, now: datetime) -> Request:
    """Build a web or news search. Baidu has no language and no safe search parameter."""
    days, until = FRESHNESS_DAYS.get(query.freshness or ""), int(now.timestamp())
    parameters = {
        "wd": query_text(query, excludes=False, either=" | "),
        "ie": "utf-8",
        "pn": str(_ROWS * (query.page - 1)) if query.page > 1 else "",
        "gpc": f"stf={until - days * _DAY_S},{until}|stftype=1" if days else "",
    }
    if query.category == "news":
        parameters |= {"tn": "news", "rtt": "1", "cl": "2"}
    return page_request(_NAME, _URL, parameters, query.language)


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse a page of web or news results."""
    return response_parser.parse_response(snapshot, now, _PARSE_RULES)


ENGINE = Engine(
    name=_NAME,
    family=_NAME,
    build_request=build_request,
    parse=parse,
    spacing_s=5.0,
    about="The Chinese web; often blocked outside China.",
    ready="#content_left > .c-container",
)
