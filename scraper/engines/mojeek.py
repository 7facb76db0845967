"""Mojeek: an index of its own crawler, so its votes are independent; weak for long questions."""

from __future__ import annotations

from datetime import datetime, timedelta

from browsers.model import Request, Snapshot
from scraper.engines.common import next_page_forms, parser_choice, query_operators
from scraper.engines.common.host_categories import asked_domains
from scraper.engines.common.layout_parser import Layout, css
from scraper.engines.common.locales import locale
from scraper.engines.common.request_builder import FRESHNESS_DAYS, page_request
from scraper.engines.model import Engine, EngineResponse, SearchQuery

_NAME = "mojeek"
_URL = "https://www.mojeek.com/search"
_ROWS = 10

_NEXT = css(".pagination a[rel='next'], .pagination li:last-child a")

READING = parser_choice.ParsedResultPage(
    layouts=(
        Layout(
            rows=css("ul.results-standard > li"),
            title=css("h2 a, a.title"),
            snippet=css("p.s"),
        ),
        Layout(
            rows=css("section.news-search-result article"),
            title=css("h2 a, h3 a"),
            snippet=css("p.s"),
            date=css("span.date, time"),
            source=css("span.source, .source"),
        ),
    ),
    none=css(".no-results, p.no-results"),
    next=lambda page: next_page_forms.next_link(page, _NEXT, _NAME),
)


def ask(query: SearchQuery, now: datetime) -> Request:
    """One address; `s` and `fmt` are sent only where they say something, for they attract the rate limit."""
    where = locale(query.language)
    return page_request(
        _NAME,
        _URL,
        {
            "q": _words(query),
            "s": str(_ROWS * (query.page - 1) + 1) if query.page > 1 else "",
            "since": _since(query.freshness, now),
            "fmt": "news" if query.category == "news" else "",
            "safe": "1" if query.safe_search == "strict" else "",
            "lb": where.language,
            "arc": where.country.lower(),
        },
        query.language,
    )


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """A page of web or news results."""
    return parser_choice.read(snapshot, now, READING)


def _words(query: SearchQuery) -> str:
    """Mojeek knows `site:` of one host and nothing else that is of use here."""
    domains = asked_domains(query.category, query.include_domains)
    kind = "blog" if query.category == "blog" and "blog" not in query.text.lower() else ""
    return query_operators.with_words(
        query.text, kind, query_operators.sites(domains) if len(domains) == 1 else ""
    )


def _since(freshness: str | None, now: datetime) -> str:
    days = FRESHNESS_DAYS.get(freshness or "")
    return (now - timedelta(days=days)).strftime("%Y%m%d") if days else ""


ENGINE = Engine(
    name=_NAME,
    family=_NAME,
    ask=ask,
    parse=parse,
    spacing_s=3.0,
    about="An independent index of its own; good for a second opinion, weak for long questions.",
    ready="ul.results-standard, section.news-search-result",
)
