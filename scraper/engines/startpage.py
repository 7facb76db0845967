"""Startpage: Google's index. Since 2026 it requires a proof of work, which a browser computes."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType

from browsers.model import Request, Snapshot
from scraper.engines.common import request_builder, response_parser
from scraper.engines.common.layout_parser import ResultLayout, css
from scraper.engines.common.request_builder import form_request, page_request, parse_locale, query_text
from scraper.engines.common.result_page import build_result_page
from scraper.engines.model import Engine, EngineResponse, HomePageForm, SearchQuery
from scraper.html.dom.xpath import element_selector

_NAME = "startpage"
_HOME = "https://www.startpage.com/"
_SEARCH = "https://www.startpage.com/sp/search"
_FRESHNESS = MappingProxyType({"day": "d", "week": "w", "month": "m", "year": "y"})
_SAFE = MappingProxyType({"off": "none", "moderate": "moderate", "strict": "heavy"})
_LANGUAGES = dict(
    pair.split(":")
    for pair in "de:deutsch en:english es:espanol fr:francais it:italiano nl:nederlands pl:polski pt:portugues "
    "da:dansk sv:svenska no:norsk".split()
)
_CODE = element_selector("//form[@id='search']//input[@name='sc'] | //input[@name='sc']")
_NEXT = css("form:has(input[name='page']):has(input[name='query'])")

_PARSE_RULES = response_parser.ParseRules(
    layouts=(
        ResultLayout(rows=css("div.result"), title=css("a.result-title, a.result-link"), snippet=css("p.description")),
        ResultLayout(
            # Before 2024.
            rows=css(".w-gl__result"),
            title=css(".w-gl__result-title"),
            snippet=css(".w-gl__description"),
        ),
    ),
    none=css(".no-results, .no-results-title, [class*='no-results']"),
    next=lambda page: request_builder.next_page_form(page, _NEXT, _NAME),
)


def build_request(query: SearchQuery, now: datetime) -> Request:
    """Build a GET request as a browser does for its default search engine, without the form code."""
    return page_request(_NAME, _SEARCH, {**_fields(query), "pl": "opensearch"}, query.language)


def _build_home_request(query: SearchQuery, now: datetime) -> Request:
    """Build a request for the home page, whose form holds the request code."""
    return page_request(_NAME, _HOME, {}, query.language, wait="input[name='sc']")


def build_form_request(home: Snapshot, query: SearchQuery, now: datetime) -> Request | None:
    """Build the form request from the home page; return None if it has no request code."""
    page = build_result_page(home)
    codes = _CODE(page.root) if page.root is not None else []
    code = codes[0].get("value") if codes else ""
    if not code:
        return None
    form = {**_fields(query), "t": "device", "sc": code, "abd": "0", "abe": "0"}
    return form_request(_NAME, _SEARCH, form, query.language, referer=_HOME)


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse a page of web or news results."""
    return response_parser.parse_response(snapshot, now, _PARSE_RULES)


def _fields(query: SearchQuery) -> dict[str, str]:
    locale = parse_locale(query.language)
    language = _LANGUAGES.get(locale.language, "english")
    fields = {
        "query": query_text(query),
        "cat": "news" if query.category == "news" else "web",
        "with_date": _FRESHNESS.get(query.freshness or "", ""),
        "lui": language,
        "language": language,
        "qsr": f"{locale.language}_{locale.country}",
        "qadf": _SAFE.get(query.safe_search, "moderate"),
    }
    return fields | ({"page": str(query.page), "segment": "startpage.udog"} if query.page > 1 else {})


ENGINE = Engine(
    name=_NAME,
    family="google",
    build_request=build_request,
    parse=parse,
    spacing_s=5.0,
    about="Google's index; behind a proof of work that takes a browser about a second.",
    ready="div.result a.result-title, .w-gl__result",
    home_page_form=HomePageForm(_build_home_request, build_form_request),
)
