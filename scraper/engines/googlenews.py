"""Google News: a feed of up to a hundred items without walls, whose links only a browser can follow."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from urllib.parse import urlencode

from lxml import etree

from browsers.model import Mode, Request, Snapshot, Tier
from scraper.engines import arbitration, operators, texts
from scraper.engines.categories import asked_domains
from scraper.engines.locales import Locale, locale
from scraper.engines.model import Engine, EngineResponse, EngineResult, Outcome, SearchQuery
from scraper.engines.page import text_of_snapshot
from scraper.engines.unwrap import is_web, needs_resolving, unwrap
from scraper.extract import markup
from scraper.extract.xpath import Element, elements

__all__ = ["ENGINE", "ask", "needs_resolving", "parse"]

_NAME = "googlenews"
_URL = "https://news.google.com/rss/search"
_WITHIN = MappingProxyType({"day": "when:1d", "week": "when:7d", "month": "when:30d", "year": "when:1y"})
_EDITIONS = MappingProxyType({"pt-BR": "pt-419", "es-MX": "es-419", "zh-CN": "zh-Hans", "zh-TW": "zh-Hant"})

_MAX_ITEMS = 200
_ITEMS = elements("//item")
_PROBE = 2_000
_MAX_DATE = 64


def ask(query: SearchQuery, now: datetime) -> Request:
    """The feed; it has no second page, and country, language and edition have to agree."""
    where = locale(query.language)
    words = operators.with_words(
        query.text,
        operators.sites(asked_domains(query.category, query.include_domains)),
        operators.excluded_sites(query.exclude_domains),
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
        site_profile=f"engine-{_NAME}",
        language=query.language,
        headers={},
    )


def parse(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """The feed, or whatever stands in its place."""
    text = text_of_snapshot(snapshot)
    feed = _feed(text)
    if feed is None:
        return arbitration.read(snapshot, now)
    items = (_result(item) for item in _ITEMS(feed)[:_MAX_ITEMS])
    found = [item for item in items if item is not None]
    ranked = tuple(_ranked(item, rank) for rank, item in enumerate(found, 1))
    if ranked:
        return EngineResponse(Outcome.OK, results=ranked)
    if _ITEMS(feed):
        return EngineResponse(Outcome.ERROR, detail="layout_changed")
    return EngineResponse(Outcome.NONE)


def _edition(where: Locale) -> str:
    return _EDITIONS.get(where.tag, where.language)


def _feed(text: str) -> Element | None:
    """The tree of an RSS feed; no entity is resolved and nothing is loaded."""
    if "<rss" not in text[:_PROBE] or markup.is_binary(text):
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    try:
        root: Element | None = etree.fromstring(text.strip().encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
    return root if root is not None and root.tag == "rss" else None


def _result(item: Element) -> EngineResult | None:
    url = unwrap(_text(item, "link"))
    publisher = item.find("source")
    name = texts.tidy(publisher.text or "", texts.MAX_TITLE) if publisher is not None else ""
    home = (publisher.get("url") or "") if publisher is not None else ""
    title = texts.tidy(_text(item, "title"), texts.MAX_TITLE)
    if not title or not is_web(url):
        return None
    return EngineResult(
        rank=0,
        title=title,
        url=url,
        snippet=_snippet(_text(item, "description"), title.removesuffix(f" - {name}"), name),
        date=_date(_text(item, "pubDate")),
        source=name or None,
        source_url=home if is_web(home) else None,
    )


def _ranked(item: EngineResult, rank: int) -> EngineResult:
    return EngineResult(rank, item.title, item.url, item.snippet, item.date, item.source, item.source_url)


def _snippet(description: str, title: str, publisher: str) -> str:
    """What the feed tells beyond headline and publisher: headlines of related coverage."""
    root = markup.parse(description).root if description else None
    if root is None:
        return ""
    told = {title, publisher}
    lines = [texts.text_in(element) for element in root.iter("li")] or [texts.text_in(root)]
    lines = [line for line in lines if line not in told and line.replace(publisher, "").strip() != title]
    return texts.tidy(" · ".join(lines))


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text[:_MAX_DATE])
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _text(item: Element, name: str) -> str:
    return (item.findtext(name) or "").strip()


ENGINE = Engine(
    name=_NAME,
    family=_NAME,
    ask=ask,
    parse=parse,
    spacing_s=1.0,
    about="News of the last days to years, with publisher and date; no general web pages.",
)
