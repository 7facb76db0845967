"""Advertisements, known by where their links lead and by the word that the law makes engines print."""

from __future__ import annotations

import re

from scraper.engines.common import dom_text, redirect_unwrapping
from scraper.extract.dom.xpath import Element

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
    """Whether an address, or the one wrapped in it, counts a click that somebody paid for."""
    return _AD_LINK.search(url) is not None or _AD_LINK.search(redirect_unwrapping.unwrap(url)) is not None


def is_labelled(block: Element, title: str = "") -> bool:
    """Whether a row says of itself, beside its title, that it is an advertisement."""
    return any(
        len(run) <= _MAX_LABEL and run != title and _LABEL.fullmatch(run.strip("\u200b\u00ad "))
        for run in dom_text.runs(block)
    )
