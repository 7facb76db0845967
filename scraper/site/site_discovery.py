"""Read robots.txt, sitemaps, feeds and the page for missing URLs of a site, before its pages are crawled."""

from __future__ import annotations

import asyncio
import json
import secrets
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import ada_url

from scraper import errors
from scraper.extract.sitemaps import SitemapEntry
from scraper.reading.robots import RobotsDecision, RobotsRules, disallowed_error, name_rule
from scraper.site.crawl_scope import ExclusionCounter
from scraper.site.crawled_page import CrawledPage, Soft404Page, link_texts
from scraper.site.model import ExcludedUrls
from scraper.site.site_reader import SiteReader
from scraper.site.sitemap_reader import SitemapReader
from scraper.site.url_normalization import site_host

_MAX_LISTED = 50_000
"""URLs from sitemaps and feeds that a crawl stores."""


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """Facts about a site that a crawl reads first: robots.txt, URLs of sitemaps and feeds, page for missing URLs."""

    robots: str = ""
    listed: tuple[SitemapEntry, ...] = ()
    missing_page: Soft404Page | None = None
    left_out: tuple[ExcludedUrls, ...] = ()
    """Sitemaps, feeds and listed URLs that were not read, by reason."""


@dataclass(frozen=True, slots=True)
class SiteRobots:
    """The robots.txt that holds for a site."""

    host: str
    """Host of the site, as returned by `site_host`."""
    text: str
    rules: RobotsRules


async def load_site_robots(reader: SiteReader, start: str, known: SiteRobots | None = None) -> SiteRobots:
    """Return the robots.txt that holds for a start page: `known` if it is of the same site.

    Call it before the start page is read, and with the final URL after redirects.

    Raises:
        RobotsDisallowedError: It forbids the start page, or it cannot be reached.
        ScraperError: The host cannot be reached, or robots.txt cannot be requested now.
    """
    parsed = ada_url.URL(start)
    host = site_host(parsed.host)
    if known is None or known.host != host:
        try:
            text = await reader.load_robots(parsed.origin)
        except errors.ScraperError as error:
            # Callers that may use another URL for the start page search the failure by its URL.
            error.target = start
            raise
        # The longest files take a second to parse.
        known = SiteRobots(host, text, await asyncio.to_thread(RobotsRules, text))
    rule = known.rules.find_disallow_rule(start)
    if rule is not None:
        raise disallowed_error(RobotsDecision(False, name_rule(parsed.host, rule)), start, is_crawl=True)
    return known


async def discover_site(reader: SiteReader, robots: SiteRobots, start: CrawledPage) -> SiteFacts:
    """Return the URLs in sitemaps and feeds of a site, and its page for missing URLs.

    Its robots.txt and its start page were read before.

    Raises:
        OfflineError: This machine has no network.
    """
    left_out = ExclusionCounter()
    parsed = ada_url.URL(start.final_url)
    lists = SitemapReader(reader, site_host(parsed.host), left_out.add, max_urls=_MAX_LISTED)
    await lists.read(parsed.origin, robots.text, start.outlinks.feeds)
    listed = tuple(lists.entries)
    missing_page = None if start.problem and not listed else await _probe(reader, robots.rules, parsed.origin)
    return SiteFacts(robots.text, listed, missing_page, left_out.summary())


def build_missing_url(origin: str) -> str:
    """Return a random URL of a site that does not exist."""
    return f"{origin}/{secrets.token_hex(6)}-does-not-exist/"


async def _probe(reader: SiteReader, rules: RobotsRules, origin: str) -> Soft404Page | None:
    """Return the site's page for a URL that does not exist, or None after a failure or if it is forbidden."""
    url = build_missing_url(origin)
    if not rules.allows(url):
        return None
    try:
        loaded = await reader.load_page(url)
    except errors.OfflineError:
        raise
    except errors.ScraperError:
        return None
    return Soft404Page(url, loaded.document.text, link_texts(loaded.document))


def dump_facts(facts: SiteFacts, **more: Any) -> bytes:
    """Return facts and the values of `more`, which must be valid in JSON, as compressed JSON."""
    row = {
        **more,
        "robots": facts.robots,
        "listed": [[entry.url, entry.title, *([entry.language] if entry.language else [])] for entry in facts.listed],
        "missing_page": None if facts.missing_page is None else asdict(facts.missing_page),
        "left_out": [[one.reason, one.example, one.count] for one in facts.left_out],
    }
    return zlib.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"), 1)


def _load_missing_page(url: str, text: str, link_texts: list[str] | None = None) -> Soft404Page:
    return Soft404Page(url, text, tuple(link_texts or ()))


def load_facts(data: bytes) -> tuple[SiteFacts, dict[str, Any]]:
    """Return the facts and the other values that `dump_facts` wrote."""
    row = json.loads(zlib.decompress(data))
    missing_page = row.pop("missing_page")
    facts = SiteFacts(
        row.pop("robots"),
        tuple(SitemapEntry(url, "", *texts) for url, *texts in row.pop("listed")),
        None if missing_page is None else _load_missing_page(**missing_page),
        tuple(ExcludedUrls(reason, count[0] if count else 1, url) for reason, url, *count in row.pop("left_out")),
    )
    return facts, row
