"""Rows of a result page: locate them around links, detect advertisements, convert them to results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scraper.engines.common import dom_text
from scraper.engines.common.redirect_unwrapping import unwrap_redirect
from scraper.engines.model import EngineResult
from scraper.html.dom.xpath import Element
from scraper.text import date_parsing

_AD_LINK = re.compile(
    r"//(?:www\.)?bing\.com/(?:aclick|aclk)\b|//duckduckgo\.com/y\.js|/aclk\?|/aclick\?|baidu\.php\?url=|//yabs\.|"
    r"googleadservices\.|doubleclick\.net|//search\.brave\.com/a/redirect|[?&]ad_domain=|[?&]ad_provider=|"
    r"//an\.yandex\.|adclick|/sponsored/click",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:ads?|ad\s*·.*|sponsored(?:\s+(?:result|link)s?)?|advertisements?|anzeigen?|gesponsert|annonces?|"
    r"sponsorisée?s?|anuncios?|patrocinad[oa]s?|publicidad|annunci[oi]?|sponsorizzat[oi]|advertentie|gesponsord|"
    r"reklam[ay]?|sponsorowane|реклама|промо|广告|廣告|広告|スポンサー|광고|quảng cáo|được tài trợ)\W{0,3}",
    re.IGNORECASE,
)
_MAX_LABEL = 30


def is_ad_link(url: str) -> bool:
    """Return True if a URL, or its redirect target, is a paid click."""
    return _AD_LINK.search(url) is not None or _AD_LINK.search(unwrap_redirect(url)) is not None


def is_labeled_as_ad(block: Element, title: str = "") -> bool:
    """Return True if a text of the row other than its title is an advertisement label."""
    return any(
        len(run) <= _MAX_LABEL and run != title and _LABEL.fullmatch(run.strip("\u200b\u00ad "))
        for run in dom_text.text_lines(block)
    )


MAX_ROWS = 200
"""Rows of a page. No engine shows more than a hundred; the limit bounds the cost of hostile pages."""
MIN_SNIPPET_CHARS = 40
"""Characters. Shorter texts are labels, not sentences."""


@dataclass(frozen=True, slots=True)
class EngineRow:
    """One organic row, unprocessed."""

    title: str
    href: str
    """Absolute; may be a redirect of the engine."""
    snippet: str = ""
    date: str = ""
    """Set if the engine shows the date apart from the snippet."""
    source: str = ""
    source_url: str = ""


def results_from_rows(rows: Sequence[EngineRow], now: datetime) -> tuple[EngineResult, ...]:
    """Convert rows to unique results: decode redirects and split the date off the snippet."""
    found: dict[tuple[str, str], EngineResult] = {}
    for row in rows:
        url = unwrap_redirect(row.href)
        if (url, row.title) not in found:
            found[url, row.title] = _result(row, url, len(found) + 1, now)
    return tuple(found.values())


def _result(row: EngineRow, url: str, rank: int, now: datetime) -> EngineResult:
    date, snippet = date_parsing.split_date(row.snippet, now)
    if row.date:
        date = date_parsing.parse_leading_date(row.date, now)[0] or date
    return EngineResult(
        rank=rank,
        title=row.title,
        url=url,
        snippet=snippet,
        date=date,
        source=row.source or None,
        source_url=row.source_url or None,
    )
