"""Rows of a result page: locate them around links, detect advertisements, convert them to results."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from scraper.engines.common import dom_text, redirect_unwrapping
from scraper.engines.common.redirect_unwrapping import unwrap
from scraper.engines.model import EngineResult
from scraper.extract.dom.xpath import Element, element_selector
from scraper.extract.metadata import date_parsing

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
    return _AD_LINK.search(url) is not None or _AD_LINK.search(redirect_unwrapping.unwrap(url)) is not None


def is_labeled_as_ad(block: Element, title: str = "") -> bool:
    """Return True if a text of the row other than its title is an advertisement label."""
    return any(
        len(run) <= _MAX_LABEL and run != title and _LABEL.fullmatch(run.strip("\u200b\u00ad "))
        for run in dom_text.text_lines(block)
    )


MAX_ROWS = 200
MIN_SNIPPET_CHARS = 40
"""Characters. Shorter texts are labels, not sentences."""

_MAX_CLIMB = 40
_MAX_FOLLOWING = 3
_ADDRESS_ATTRIBUTES = ("mu", "data-url", "data-href", "data-landurl")
"""Attributes in which engines store the target URL for their scripts."""

_LINKED = element_selector("(self::a | .//a)[@href]")
_TITLED = element_selector("descendant-or-self::*[@title]")


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """Link that may belong to a result row, with its URL and heading."""

    link: Element
    href: str
    url: str
    heading: Element | None
    heads: bool
    """True if the heading is inside the link."""


@dataclass(frozen=True, slots=True)
class RowLocation:
    """Link candidate with the elements that belong to its row."""

    candidate: LinkCandidate
    blocks: tuple[Element, ...]
    title: str
    snippet: str


def locate_rows(candidates: Sequence[LinkCandidate], count: int) -> list[RowLocation]:
    """Return the locations of the first `count` candidates."""
    holders = _holders(candidates[:MAX_ROWS])
    group = candidates[:count]
    tops = [_top(candidate.link, holders) for candidate in group]
    places = []
    for candidate, top in zip(group, tops, strict=True):
        title_element = _title_element(candidate)
        title = _title(candidate, title_element)
        snippet = _snippet(top, title_element, title)
        blocks: tuple[Element, ...] = (top,)
        if len(snippet) < MIN_SNIPPET_CHARS:
            blocks = (top, *_following(top, holders))
            snippet = max((snippet, *(_snippet(block, None, title) for block in blocks[1:])), key=len)
        places.append(RowLocation(_resolved(candidate, top), blocks, title, snippet))
    return places


def _resolved(candidate: LinkCandidate, top: Element) -> LinkCandidate:
    """Replace an opaque link by the target URL if an attribute of the row holds it."""
    if not redirect_unwrapping.is_opaque(candidate.url):
        return candidate
    for element in (candidate.link, *candidate.link.iterancestors()):
        for value in (element.get(name) or "" for name in _ADDRESS_ATTRIBUTES):
            if (
                redirect_unwrapping.is_web_url(value)
                and not redirect_unwrapping.is_opaque(value)
                and value != candidate.href
            ):
                return replace(candidate, href=value, url=redirect_unwrapping.unwrap(value))
        if element is top:
            break
    return candidate


def _holders(group: Sequence[LinkCandidate]) -> dict[Element, int]:
    """Return the number of candidate links inside each element."""
    holding: defaultdict[Element, int] = defaultdict(int)
    for candidate in group:
        holding[candidate.link] += 1
        for distance, ancestor in enumerate(candidate.link.iterancestors()):
            holding[ancestor] += 1
            if distance > _MAX_CLIMB:
                break
    return holding


def _top(link: Element, holders: dict[Element, int]) -> Element:
    """Return the largest element that contains only this link of the group."""
    top = link
    for ancestor in link.iterancestors():
        if holders.get(ancestor, 2) > 1:
            break
        top = ancestor
    return top


def _following(top: Element, holders: dict[Element, int]) -> Iterable[Element]:
    """Yield the elements between this row and the next one: table layouts split a row over several elements.

    Stop at an element with links: it is an advertisement or a module.
    """
    following = top.getnext()
    for _ in range(_MAX_FOLLOWING):
        if following is None or following in holders or _LINKED(following):
            return
        yield following
        following = following.getnext()


def _title_element(candidate: LinkCandidate) -> Element:
    heading = candidate.heading
    return heading if heading is not None else candidate.link


def _title(candidate: LinkCandidate, element: Element) -> str:
    if candidate.heading is not None and not _is_crowded(element):
        return dom_text.element_text(element, dom_text.MAX_TITLE)
    runs = [dom_text.one_line(run, dom_text.MAX_TITLE) for run in dom_text.text_lines(element)]
    runs = [run for run in runs if run and not dom_text.is_address(run)] or runs[:1]
    named = {dom_text.one_line(titled.get("title") or "", dom_text.MAX_TITLE) for titled in _TITLED(element)}
    return next((run for run in runs if run in named), max(runs, key=len, default=""))


def _is_crowded(element: Element) -> bool:
    """Return True if a heading holds more than the title."""
    return any(dom_text.is_address(dom_text.one_line(run)) for run in dom_text.text_lines(element))


def _snippet(block: Element, without: Element | None, title: str) -> str:
    best = ""
    for run in dom_text.text_lines(block, without):
        text = dom_text.one_line(run)
        if len(text) > len(best) and text != title and not dom_text.is_address(text):
            best = text
    return best


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
        url = unwrap(row.href)
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
