"""DuckDuckGo: three front ends of one index. Two are plain HTML; the main one needs JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from browsers.model import Request, Snapshot
from scraper.engines.common import request_builder, response_parser
from scraper.engines.common.layout_parser import ResultLayout, css
from scraper.engines.common.request_builder import form_request, page_request, parse_locale, query_text
from scraper.engines.model import Engine, EngineResponse, SearchQuery
from scraper.html.dom.xpath import element_selector

_NAME = "duckduckgo"
_HTML = "https://html.duckduckgo.com/html/"
_LITE = "https://lite.duckduckgo.com/lite/"
_MAIN = "https://duckduckgo.com/"
_FIRST_ROWS, _LATER_ROWS = 10, 15
_COMPLETE = '[data-testid="result"], [data-testid="anomaly-modal"], [data-testid="no-results-message"]'

_FRESHNESS = MappingProxyType({"day": "d", "week": "w", "month": "m", "year": "y"})
_SAFE = MappingProxyType({"strict": "1", "off": "-2"})
_REGIONS = dict(
    pair.split(":")
    for pair in "en-GB:uk-en ca-ES:ct-ca zh-TW:tw-tzh zh-HK:hk-tzh ar-SA:xa-ar es-419:xl-es ja-JP:jp-jp "
    "ko-KR:kr-kr".split()
)
"""Region codes that are not country-language."""

_NEXT = css("div.nav-link form, form.next_form")

_PARSE_RULES = response_parser.ParseRules(
    layouts=(
        ResultLayout(
            rows=css("#links .result:not(.result--ad):not(.result--no-result)"),
            title=css("a.result__a"),
            snippet=css(".result__snippet"),
        ),
        ResultLayout(
            # One table row holds the link, the next row its text.
            rows=css("tr:not(.result-sponsored):has(a.result-link)"),
            title=css("a.result-link"),
            snippet=element_selector("following-sibling::tr[1]/td[contains(@class, 'result-snippet')]"),
        ),
        ResultLayout(
            rows=css('article[data-testid="result"]'),
            title=css('a[data-testid="result-title-a"]'),
            snippet=css('[data-result="snippet"]'),
        ),
    ),
    none=css(".result--no-result, .no-results__container, .no-results, [data-testid='no-results-message']"),
    next=lambda page: request_builder.next_page_form(page, _NEXT, _NAME),
    shells=frozenset({"deep_preload_link", "react-layout", "web_content_wrapper", "links_wrapper"}),
)


def build_request(query: SearchQuery, now: datetime) -> Request:
    """Build a POST request to the HTML front end; its results then have direct URLs."""
    return form_request(_NAME, _HTML, _form(query), query.language, referer=_HTML.removesuffix("html/"))


def _build_lite_request(query: SearchQuery, now: datetime) -> Request:
    """Build a request to the lite front end, which blocks independently of the HTML front end."""
    return form_request(_NAME, _LITE, _form(query), query.language, referer=_LITE.removesuffix("lite/"))


def _build_main_request(query: SearchQuery, now: datetime) -> Request:
    """Build a request to the JavaScript front end, which has no second page."""
    form = _form(query)
    fields = {name: form.get(name, "") for name in ("q", "kl", "df", "kp")}
    return page_request(_NAME, _MAIN, {**fields, "ia": "web"}, query.language, wait=_COMPLETE)


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse a page of any of the three front ends."""
    return response_parser.parse_response(snapshot, now, _PARSE_RULES)


def _form(query: SearchQuery) -> Mapping[str, str]:
    locale = parse_locale(query.language)
    region = _REGIONS.get(locale.tag, f"{locale.country.lower()}-{locale.language}")
    form = {"q": request_builder.quote_bangs(query_text(query)), "b": "", "kl": region}
    df, kp = _FRESHNESS.get(query.freshness or ""), _SAFE.get(query.safe_search)
    form |= {"df": df} if df else {}
    form |= {"kp": kp} if kp else {}
    if query.page > 1:
        start = _FIRST_ROWS + (query.page - 2) * _LATER_ROWS
        del form["b"]
        form |= {"s": str(start), "dc": str(start + 1), "nextParams": "", "v": "l", "o": "json", "api": "d.js"}
    return form


ENGINE = Engine(
    name=_NAME,
    family="bing",
    build_request=build_request,
    parse=parse,
    spacing_s=3.0,
    about="General web search over Bing's index; plain pages, so the quickest of all.",
    ready="#links .web-result, a.result-link, article[data-testid='result']",
    fallbacks=(_build_lite_request, _build_main_request),
)
