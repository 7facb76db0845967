"""Rows of a result page: locate them around links, detect advertisements, convert them to results."""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, takewhile
from urllib.parse import SplitResult, parse_qs, unquote

from scraper.engines.common import result_page
from scraper.engines.model import EngineResult
from scraper.html.dom.xpath import Element, element_selector
from scraper.text import date_parsing
from scraper.urls import is_web_url, split_url
from scraper.words.matcher import WordPattern

_MAX_WRAPPINGS = 4
_MAX_CHARS = 16_000
_ENGINES = ("duckduckgo.com", "bing.com", "brave.com", "ecosia.org", "qwant.com", "startpage.com", "yahoo.com")

_WRAPPING_PATH = re.compile(
    r"^/(?:link|url|l/|l$|ck/a|goto|aclk|aclick|a/redirect|clck/|rss/articles/|read/|articles/)|/RU=", re.IGNORECASE
)
_FIELDS = ("uddg", "url", "u", "q", "imgrefurl", "target", "to", "dest", "destination")
_YAHOO = re.compile(r"/RU=([^/]+)(?:/R[A-Z]=|$)")
_NEWS_ID = re.compile(r"^/(?:rss/)?(?:articles|read)/([\w-]+=*)")
_GOOGLE_NEWS = "news.google.com"
_OPAQUE = b"AU_yqL"
_HTTP_BYTES = re.compile(rb"https?://[\x21-\x7e]+")


def unwrap_redirect(url: str) -> str:
    """Return the target of a redirect URL if it can be decoded, else the URL."""
    for _ in range(_MAX_WRAPPINGS):
        parts = split_url(url) if len(url) <= _MAX_CHARS else None
        inner = _inside(parts) if parts is not None else ""
        if not is_web_url(inner):
            return url
        url = inner
    return url


def is_opaque_redirect(url: str) -> bool:
    """Return True if an unwrapped URL is still a redirect that only a visit resolves: Google News, Google, Baidu."""
    parts = split_url(url)
    if parts is None:
        return False
    host = _host(parts)
    if host == _GOOGLE_NEWS:
        return _NEWS_ID.match(parts.path) is not None
    if host == "baidu.com":
        return parts.path == "/link" and "url=" in parts.query
    return _is_google(host) and parts.path == "/goto"


def is_redirect_path(path: str) -> bool:
    """Return True if the path of an engine's own URL is that of its redirects."""
    return _WRAPPING_PATH.search(path) is not None


def _inside(parts: SplitResult) -> str:
    host = _host(parts)
    if host == _GOOGLE_NEWS:
        match = _NEWS_ID.match(parts.path)
        return _from_news_id(match.group(1)) if match else ""
    if host == "r.search.yahoo.com" or host.endswith(".search.yahoo.com"):
        match = _YAHOO.search(parts.path)
        return unquote(match.group(1)) if match else ""
    if (host == "bing.com" or host.endswith(".bing.com")) and parts.path == "/ck/a":
        target = _field(parts, "u")  # `a1` and URL-safe base64 without padding
        return _decoded(target[2:]).decode("utf-8", "replace") if target.startswith("a1") else ""
    if host == "duckduckgo.com" and parts.path.rstrip("/") == "/l":
        return _field(parts, "uddg")
    if (_is_google(host) and parts.path in {"/url", "/imgres", "/search/url"}) or (
        _WRAPPING_PATH.search(parts.path) and _is_engine(host)
    ):
        return next((value for name in _FIELDS if is_web_url(value := _field(parts, name))), "")
    return ""


def _from_news_id(identity: str) -> str:
    """Return the URL in an old Google News article id (base64 of protocol buffers), or ""; new ids contain none."""
    payload = _decoded(identity)
    if not payload.startswith(b"\x08\x13\x22") or _OPAQUE in payload[:12]:
        return ""
    # The length takes one byte below 128, else two; an AMP URL may follow after D2 01.
    start, length = (5, payload[3] & 0x7F | payload[4] << 7) if payload[3] & 0x80 else (4, payload[3])
    match = _HTTP_BYTES.fullmatch(payload[start : start + length])
    return match.group().decode("ascii") if match else ""


def _decoded(text: str) -> bytes:
    text = text.rstrip("=")
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""


def _field(parts: SplitResult, name: str) -> str:
    try:
        return parse_qs(parts.query, max_num_fields=100).get(name, [""])[0]
    except ValueError:
        return ""


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").removeprefix("www.")


def _is_google(host: str) -> bool:
    return re.fullmatch(r"(?:[a-z]+\.)?google(?:\.com?)?(?:\.[a-z]{2,3})?", host) is not None


def _is_engine(host: str) -> bool:
    return any(host == engine or host.endswith(f".{engine}") for engine in _ENGINES) or "yandex" in host


_MAX_ANCESTORS = 42
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
    """Absolute URL of the link."""
    url: str
    """Target of `href`, with decoded redirects."""
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
    """Locate the rows of the first `count` candidates; the links of the other candidates bound them."""
    link_counts = _count_links(candidates[:MAX_ROWS])
    rows = []
    for candidate in candidates[:count]:
        top = _largest_block(candidate.link, link_counts)
        title_element = candidate.link if candidate.heading is None else candidate.heading
        title = _title(candidate, title_element)
        snippet = _snippet(top, title_element, title)
        blocks: tuple[Element, ...] = (top,)
        if len(snippet) < MIN_SNIPPET_CHARS:
            blocks = (top, *_following(top, link_counts))
            snippet = max((snippet, *(_snippet(block, None, title) for block in blocks[1:])), key=len)
        rows.append(RowLocation(_resolve(candidate, top), blocks, title, snippet))
    return rows


def _resolve(candidate: LinkCandidate, top: Element) -> LinkCandidate:
    """Replace an opaque link by the target URL if an attribute of the row holds it."""
    if not is_opaque_redirect(candidate.url):
        return candidate
    for element in (candidate.link, *candidate.link.iterancestors()):
        for value in (element.get(name) or "" for name in _ADDRESS_ATTRIBUTES):
            if value != candidate.href and is_web_url(value) and not is_opaque_redirect(value):
                return replace(candidate, href=value, url=unwrap_redirect(value))
        if element is top:
            break
    return candidate


def _count_links(group: Sequence[LinkCandidate]) -> Counter[Element]:
    """Return the number of candidate links inside each element."""
    links = (candidate.link for candidate in group)
    return Counter(one for link in links for one in (link, *islice(link.iterancestors(), _MAX_ANCESTORS)))


def _largest_block(link: Element, link_counts: Counter[Element]) -> Element:
    """Return the largest element that contains only this link of the group."""
    alone = takewhile(lambda ancestor: link_counts[ancestor] == 1, link.iterancestors())
    return deque((link, *alone), maxlen=1)[0]


def _following(top: Element, link_counts: Counter[Element]) -> Iterable[Element]:
    """Yield the elements between this row and the next one: table layouts split a row over several elements.

    Stop at an element with links: it is an advertisement or a module.
    """
    following = top.getnext()
    for _ in range(_MAX_FOLLOWING):
        if following is None or following in link_counts or _LINKED(following):
            return
        yield following
        following = following.getnext()


def _title(candidate: LinkCandidate, element: Element) -> str:
    """Return the title in a link or heading that may also hold the URL of the result."""
    lines = [result_page.one_line(line, result_page.MAX_TITLE) for line in result_page.text_lines(element)]
    other = [line for line in lines if not result_page.is_address(line)]
    if candidate.heading is not None and len(other) == len(lines):
        return result_page.element_text(element, result_page.MAX_TITLE)
    lines = list(filter(None, other)) or lines[:1]
    named = {result_page.one_line(titled.get("title") or "", result_page.MAX_TITLE) for titled in _TITLED(element)}
    return next((line for line in lines if line in named), max(lines, key=len, default=""))


def _snippet(block: Element, without: Element | None, title: str) -> str:
    lines = map(result_page.one_line, result_page.text_lines(block, without))
    return max((line for line in lines if line != title and not result_page.is_address(line)), key=len, default="")


_AD_LINK = re.compile(
    r"//(?:www\.)?bing\.com/(?:aclick|aclk)\b|//duckduckgo\.com/y\.js|/aclk\?|/aclick\?|baidu\.php\?url=|//yabs\.|"
    r"googleadservices\.|doubleclick\.net|//search\.brave\.com/a/redirect|[?&]ad_domain=|[?&]ad_provider=|"
    r"//an\.yandex\.|adclick|/sponsored/click",
    re.IGNORECASE,
)
_LABEL = WordPattern(r"(?:ad\s*·.*|{search.advertisement})\W{0,3}")
_MAX_LABEL = 30


def is_ad_link(url: str) -> bool:
    """Return True if a URL, or its redirect target, is a paid click."""
    return _AD_LINK.search(url) is not None or _AD_LINK.search(unwrap_redirect(url)) is not None


def is_labeled_as_ad(block: Element, title: str = "") -> bool:
    """Return True if a text of the row outside of its links and its title is an advertisement label.

    In links, such a word is the name of a site or of a part of it.
    """
    return any(
        len(run) <= _MAX_LABEL and run != title and _LABEL.fullmatch(run.strip("\u200b\u00ad "))
        for run in result_page.text_lines(block, skips_links=True)
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
