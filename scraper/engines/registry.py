"""All search engines by name, in display order: requests, selectors of their result pages, and request spacing."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from browsers.model import Mode, Request, Snapshot, Tier
from scraper.engines import request_builder
from scraper.engines.model import ENGINE_NAMES, Engine, EngineResponse, HomePageForm, SearchQuery
from scraper.engines.request_builder import (
    FRESHNESS_DAYS,
    engine_profile,
    form_request,
    next_page_form,
    next_page_link,
    page_request,
    parse_locale,
    query_text,
)
from scraper.engines.response_parser import ParseRules, parse_response, parse_rss
from scraper.engines.result_page import build_result_page
from scraper.engines.row_parsers import ElementSelect, ResultLayout, css
from scraper.html.dom.parsing import element_selector
from scraper.values.text import read_table

_FIRST_LETTERS = MappingProxyType({"day": "d", "week": "w", "month": "m", "year": "y"})
_REGIONS, _FRESHNESS = request_builder.CODES["regions"], request_builder.CODES["freshness"]
BuildRequest = Callable[[SearchQuery, datetime], Request]


def _parse(engine: str, snapshot: Snapshot, now: datetime) -> EngineResponse:
    return parse_rss(snapshot) or parse_response(snapshot, now, _RULES.get(engine))


# DuckDuckGo: three front ends of one index. Two are plain HTML; the main one needs JavaScript.

_DDG_COMPLETE = '[data-testid="result"], [data-testid="anomaly-modal"], [data-testid="no-results-message"]'


def _duckduckgo_request(front_end: str, query: SearchQuery, now: datetime) -> Request:
    """Build a POST request to the HTML or the lite front end, which block independently; results have direct URLs."""
    home = f"https://{front_end}.duckduckgo.com/"
    return form_request("duckduckgo", f"{home}{front_end}/", _duckduckgo_form(query), query.language, referer=home)


def _duckduckgo_main_request(query: SearchQuery, now: datetime) -> Request:
    """Build a request to the JavaScript front end, which has no second page."""
    form = _duckduckgo_form(query)
    fields = {name: form.get(name, "") for name in ("q", "kl", "df")} | {"ia": "web"}
    return page_request("duckduckgo", "https://duckduckgo.com/", fields, query.language, wait=_DDG_COMPLETE)


def _duckduckgo_form(query: SearchQuery) -> Mapping[str, str]:
    locale = parse_locale(query.language)
    region = _REGIONS["duckduckgo"].get(locale.tag, f"{locale.country.lower()}-{locale.language}")
    form = {"q": request_builder.quote_bangs(query_text(query)), "b": "", "kl": region}
    df = _FIRST_LETTERS.get(query.freshness or "")
    return form | ({"df": df} if df else {})


# Mojeek: independent index of its own crawler. `fmt` is sent only if needed: it triggers the rate limit.


def _mojeek_request(query: SearchQuery, now: datetime) -> Request:
    locale, days = parse_locale(query.language), FRESHNESS_DAYS.get(query.freshness or "")
    # Mojeek supports one operator: `site:` of one host.
    domains = request_builder.category_domains(query.category, query.include_domains)
    text = request_builder.join_query(
        query.text,
        "blog" if query.category == "blog" and "blog" not in query.text.lower() else "",
        request_builder.site_operator(domains) if len(domains) == 1 else "",
    )
    fields = {
        "q": text,
        "since": (now - timedelta(days=days)).strftime("%Y%m%d") if days else "",
        "fmt": "news" if query.category == "news" else "",
        "lb": locale.language,
        "arc": locale.country.lower(),
    }
    return page_request("mojeek", "https://www.mojeek.com/search", fields, query.language)


# Google News: RSS feed of up to 100 items, whose titles keep the publisher at their end. Only a browser can resolve its
# links. It has no second page. Country, language and edition must agree.


def _googlenews_request(query: SearchQuery, now: datetime) -> Request:
    locale = parse_locale(query.language)
    edition = _REGIONS["google"].get(locale.tag, locale.language)
    text = request_builder.join_query(
        query.text,
        request_builder.site_operator(request_builder.category_domains(query.category, query.include_domains)),
        request_builder.exclude_operators(query.exclude_domains),
        _FRESHNESS["google"].get(query.freshness or "", ""),
    )
    parameters = {"q": text, "hl": locale.tag, "gl": locale.country, "ceid": f"{locale.country}:{edition}"}
    return Request(
        url=f"https://news.google.com/rss/search?{urlencode(parameters)}",
        tier=Tier.LIGHT,
        mode=Mode.PEEK,
        site_profile=engine_profile("googlenews"),
        language=query.language,
        headers={},
    )


# Startpage: Google's index. Since 2026 it requires a proof of work, which a browser computes.

_STARTPAGE = "https://www.startpage.com/"
_STARTPAGE_CODE = element_selector("//form[@id='search']//input[@name='sc'] | //input[@name='sc']")


def _startpage_request(query: SearchQuery, now: datetime) -> Request:
    """Build a GET request as a browser does for its default search engine, without the form code."""
    fields = {**_startpage_fields(query), "pl": "opensearch"}
    return page_request("startpage", f"{_STARTPAGE}sp/search", fields, query.language)


def _startpage_home_request(query: SearchQuery, now: datetime) -> Request:
    return page_request("startpage", _STARTPAGE, {}, query.language, wait="input[name='sc']")


def _startpage_form_request(home: Snapshot, query: SearchQuery, now: datetime) -> Request | None:
    """Build the form request from the home page; return None if it has no request code."""
    page = build_result_page(home)
    codes = _STARTPAGE_CODE(page.root) if page is not None else []
    code = codes[0].get("value") if codes else ""
    if not code:
        return None
    form = {**_startpage_fields(query), "t": "device", "sc": code, "abd": "0", "abe": "0"}
    return form_request("startpage", f"{_STARTPAGE}sp/search", form, query.language, referer=_STARTPAGE)


def _startpage_fields(query: SearchQuery) -> dict[str, str]:
    locale = parse_locale(query.language)
    language = _REGIONS["startpage"].get(locale.language, "english")
    return {
        "query": query_text(query),
        "cat": "news" if query.category == "news" else "web",
        "with_date": _FIRST_LETTERS.get(query.freshness or "", ""),
        "lui": language,
        "language": language,
        "qsr": f"{locale.language}_{locale.country}",
        "qadf": "moderate",
    }


# Brave: independent index, twenty results per page. It blocks many IP addresses at the first request. Safe search stays
# at its default, moderate, which only a cookie changes.


def _brave_request(query: SearchQuery, now: datetime) -> Request:
    fields = {
        "q": request_builder.quote_bangs(query_text(query)),
        "source": "web",
        "tf": _FRESHNESS["brave"].get(query.freshness or "", ""),
    }
    kind = "news" if query.category == "news" else "search"
    return page_request("brave", f"https://search.brave.com/{kind}", fields, query.language)


# Bing: requests name market, language and country. Suspected bots get results for the first word only.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _bing_request(query: SearchQuery, now: datetime) -> Request:
    is_news, freshness = query.category == "news", query.freshness or ""
    locale, today = parse_locale(query.language), (now - _EPOCH).days
    filters = _FRESHNESS["bing"] | {"year": f'ex1:"ez5_{today - FRESHNESS_DAYS["year"]}_{today}"'}
    parameters = {
        "q": query_text(query),
        "qft": _FRESHNESS["bing_news"].get(freshness, "") if is_news else "",
        "filters": "" if is_news else filters.get(freshness, ""),
        "mkt": locale.tag,
        "setlang": locale.language,
        "cc": locale.country,
        "adlt": "moderate",
    }
    return page_request("bing", f"https://www.bing.com/{'news/' if is_news else ''}search", parameters, query.language)


def _bing_feed_request(query: SearchQuery, now: datetime) -> Request:
    """Build a request for the same results as an RSS feed, without rendering."""
    request = _bing_request(query, now)
    return replace(request, url=f"{request.url}&format=rss", mode=Mode.PEEK, tier=Tier.LIGHT)


# Baidu: index of the Chinese web. The target URL is in an attribute beside each opaque link. It has no language and no
# safe search parameter.


def _baidu_request(query: SearchQuery, now: datetime) -> Request:
    days, until = FRESHNESS_DAYS.get(query.freshness or ""), int(now.timestamp())
    parameters = {
        "wd": query_text(query, excludes=False, either=" | "),
        "ie": "utf-8",
        "gpc": f"stf={until - days * 86_400},{until}|stftype=1" if days else "",
    }
    if query.category == "news":
        parameters |= {"tn": "news", "rtt": "1", "cl": "2"}
    return page_request("baidu", "https://www.baidu.com/s", parameters, query.language)


def _select(selector: str) -> ElementSelect:
    return element_selector(selector) if "::" in selector else css(selector)


def _read_rules(engine: str, table: Mapping[str, Any]) -> ParseRules:
    layouts = (ResultLayout(**{part: _select(one) for part, one in layout.items()}) for layout in table["layouts"])
    next_page, selector = (
        (next_page_form, table["next_form"]) if "next_form" in table else (next_page_link, table["next_link"])
    )
    shells = frozenset(table.get("shells", "").split())
    return ParseRules(tuple(layouts), css(table["none"]), next_page(engine, selector), shells)


_LAYOUTS = read_table(__package__, "layouts.toml")
_RULES = {engine: _read_rules(engine, table) for engine, table in _LAYOUTS.items() if "layouts" in table}
_REQUESTS: Mapping[str, BuildRequest] = {
    "duckduckgo": functools.partial(_duckduckgo_request, "html"),
    "mojeek": _mojeek_request,
    "googlenews": _googlenews_request,
    "startpage": _startpage_request,
    "brave": _brave_request,
    "bing": _bing_request,
    "baidu": _baidu_request,
}
_FALLBACKS: Mapping[str, tuple[BuildRequest, ...]] = {
    "duckduckgo": (functools.partial(_duckduckgo_request, "lite"), _duckduckgo_main_request),
    "bing": (_bing_feed_request,),
}
_HOME_PAGE_FORMS = {"startpage": HomePageForm(_startpage_home_request, _startpage_form_request)}


def _make_engine(name: str) -> Engine:
    table = _LAYOUTS[name]
    return Engine(
        name,
        table.get("family", name),
        _REQUESTS[name],
        functools.partial(_parse, name),
        table["spacing_s"],
        table["about"],
        table.get("ready"),
        _FALLBACKS.get(name, ()),
        _HOME_PAGE_FORMS.get(name),
    )


ENGINES: Mapping[str, Engine] = MappingProxyType({name: _make_engine(name) for name in ENGINE_NAMES})
