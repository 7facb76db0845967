"""Google News: RSS feed of up to 100 items. Only a browser can resolve its links."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from urllib.parse import urlencode

from browsers.model import Mode, Request, Snapshot, Tier
from scraper.engines.common import request_builder, response_parser, rss_results
from scraper.engines.common.request_builder import category_domains, engine_profile, parse_locale
from scraper.engines.model import Engine, EngineResponse, SearchQuery

_NAME = "googlenews"
_URL = "https://news.google.com/rss/search"
_WITHIN = MappingProxyType({"day": "when:1d", "week": "when:7d", "month": "when:30d", "year": "when:1y"})
_EDITIONS = MappingProxyType({"pt-BR": "pt-419", "es-MX": "es-419", "zh-CN": "zh-Hans", "zh-TW": "zh-Hant"})


def build_request(query: SearchQuery, now: datetime) -> Request:
    """Build a request for the feed, which has no second page. Country, language and edition must agree."""
    locale = parse_locale(query.language)
    edition = _EDITIONS.get(locale.tag, locale.language)
    text = request_builder.join_query(
        query.text,
        request_builder.site_operator(category_domains(query.category, query.include_domains)),
        request_builder.exclude_operators(query.exclude_domains),
        _WITHIN.get(query.freshness or "", ""),
    )
    parameters = {"q": text, "hl": locale.tag, "gl": locale.country, "ceid": f"{locale.country}:{edition}"}
    return Request(
        url=f"{_URL}?{urlencode(parameters)}",
        tier=Tier.LIGHT,
        mode=Mode.PEEK,
        site_profile=engine_profile(_NAME),
        language=query.language,
        headers={},
    )


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse the feed, or the page in its place. Titles keep the publisher at their end."""
    return rss_results.parse_rss(snapshot) or response_parser.parse_response(snapshot, now)


ENGINE = Engine(
    name=_NAME,
    family=_NAME,
    build_request=build_request,
    parse=parse,
    spacing_s=1.0,
    about="News of the last days to years, with publisher and date; no general web pages.",
)
