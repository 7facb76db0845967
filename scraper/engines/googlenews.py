"""Google News: a feed of up to a hundred items without walls, whose links only a browser can follow."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from urllib.parse import urlencode

from browsers.model import Mode, Request, Snapshot, Tier
from scraper.engines.common import parser_choice, query_operators, rss_results
from scraper.engines.common.host_categories import asked_domains
from scraper.engines.common.locales import Locale, locale
from scraper.engines.common.request_builder import profile_of
from scraper.engines.model import Engine, EngineResponse, SearchQuery

_NAME = "googlenews"
_URL = "https://news.google.com/rss/search"
_WITHIN = MappingProxyType({"day": "when:1d", "week": "when:7d", "month": "when:30d", "year": "when:1y"})
_EDITIONS = MappingProxyType({"pt-BR": "pt-419", "es-MX": "es-419", "zh-CN": "zh-Hans", "zh-TW": "zh-Hant"})


def ask(query: SearchQuery, now: datetime) -> Request:
    """The feed; it has no second page, and country, language and edition have to agree."""
    where = locale(query.language)
    words = query_operators.with_words(
        query.text,
        query_operators.sites(asked_domains(query.category, query.include_domains)),
        query_operators.excluded_sites(query.exclude_domains),
        _WITHIN.get(query.freshness or "", ""),
    )
    parameters = {
        "q": words,
        "hl": where.tag,
        "gl": where.country,
        "ceid": f"{where.country}:{_edition(where)}",
    }
    return Request(
        url=f"{_URL}?{urlencode(parameters)}",
        tier=Tier.LIGHT,
        mode=Mode.PEEK,
        site_profile=profile_of(_NAME),
        language=query.language,
        headers={},
    )


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """The feed, or whatever stands in its place; headlines keep the publisher's name at their end."""
    return rss_results.read(snapshot) or parser_choice.read(snapshot, now)


def _edition(where: Locale) -> str:
    return _EDITIONS.get(where.tag, where.language)


ENGINE = Engine(
    name=_NAME,
    family=_NAME,
    ask=ask,
    parse=parse,
    spacing_s=1.0,
    about="News of the last days to years, with publisher and date; no general web pages.",
)
