"""Startpage: Google's index through a form; since 2026 behind a proof of work that a browser passes."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType

from browsers.model import Request, Snapshot
from scraper.engines.common import next_page_forms, parser_choice
from scraper.engines.common.layout_parser import Layout, css
from scraper.engines.common.locales import locale
from scraper.engines.common.request_builder import form_request, page_request, worded
from scraper.engines.common.result_page import build
from scraper.engines.model import Engine, EngineResponse, HomePageForm, SearchQuery
from scraper.extract.dom.xpath import element_selector

_NAME = "startpage"
_HOME = "https://www.startpage.com/"
_SEARCH = "https://www.startpage.com/sp/search"
_FRESHNESS = MappingProxyType({"day": "d", "week": "w", "month": "m", "year": "y"})
_SAFE = MappingProxyType({"off": "none", "moderate": "moderate", "strict": "heavy"})
_LANGUAGES = MappingProxyType(
    {
        "de": "deutsch",
        "en": "english",
        "es": "espanol",
        "fr": "francais",
        "it": "italiano",
        "nl": "nederlands",
        "pl": "polski",
        "pt": "portugues",
        "da": "dansk",
        "sv": "svenska",
        "no": "norsk",
    }
)
_CODE = element_selector("//form[@id='search']//input[@name='sc'] | //input[@name='sc']")
_NEXT = css("form:has(input[name='page']):has(input[name='query'])")

READING = parser_choice.ParsedResultPage(
    layouts=(
        Layout(
            rows=css("div.result"),
            title=css("a.result-title, a.result-link"),
            snippet=css("p.description"),
        ),
        Layout(
            # Before 2024.
            rows=css(".w-gl__result"),
            title=css(".w-gl__result-title"),
            snippet=css(".w-gl__description"),
        ),
    ),
    none=css(".no-results, .no-results-title, [class*='no-results']"),
    next=lambda page: next_page_forms.hidden_form(page, _NEXT, _NAME),
)


def ask(query: SearchQuery, now: datetime) -> Request:
    """As a browser asks whose search engine Startpage is: by an address, without the form's code."""
    return page_request(_NAME, _SEARCH, {**_fields(query), "pl": "opensearch"}, query.language)


def ask_home(query: SearchQuery, now: datetime) -> Request:
    """The home page, whose form holds the request code."""
    return page_request(_NAME, _HOME, {}, query.language, wait="input[name='sc']")


def ask_with_code(home: Snapshot, query: SearchQuery, now: datetime) -> Request | None:
    """The form of the home page, filled in; None where it holds no request code."""
    page = build(home)
    codes = _CODE(page.root) if page.root is not None else []
    code = codes[0].get("value") if codes else ""
    if not code:
        return None
    form = {**_fields(query), "t": "device", "sc": code, "abd": "0", "abe": "0"}
    return form_request(_NAME, _SEARCH, form, query.language, referer=_HOME)


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """A page of web or news results."""
    return parser_choice.read(snapshot, now, READING)


def _fields(query: SearchQuery) -> dict[str, str]:
    where = locale(query.language)
    language = _LANGUAGES.get(where.language, "english")
    fields = {
        "query": worded(query),
        "cat": "news" if query.category == "news" else "web",
        "with_date": _FRESHNESS.get(query.freshness or "", ""),
        "lui": language,
        "language": language,
        "qsr": f"{where.language}_{where.country}",
        "qadf": _SAFE.get(query.safe_search, "moderate"),
    }
    return fields | ({"page": str(query.page), "segment": "startpage.udog"} if query.page > 1 else {})


ENGINE = Engine(
    name=_NAME,
    family="google",
    ask=ask,
    parse=parse,
    spacing_s=5.0,
    about="Google's index; behind a proof of work that takes a browser about a second.",
    ready="div.result a.result-title, .w-gl__result",
    entrance=HomePageForm(ask_home, ask_with_code),
)
