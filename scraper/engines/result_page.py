"""Result pages: the visible tree, the markup that identifies block pages, and rows around links."""

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, takewhile
from urllib.parse import SplitResult, parse_qs, unquote

from lxml import etree

from browsers.model import Snapshot
from scraper.engines.model import EngineResult
from scraper.html.dom import parsing
from scraper.html.dom.parsing import Element, element_selector, text_of, text_selector
from scraper.html.page import page_tree
from scraper.text import date_parsing
from scraper.text.sanitize import clean_line
from scraper.urls import is_web_url, join_url, split_url
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

MAX_TITLE = 400
MAX_SNIPPET = 2_000

_BLOCKS = frozenset(
    "address article aside blockquote button caption center cite dd details dialog div dl dt fieldset figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section select table tbody td tfoot "
    "th thead tr ul br".split()
)
"""Elements that start a new line; on result pages `cite` and `button` do too."""

_ICONS = dict.fromkeys(range(0xE000, 0xF900))
_ADDRESS, _AD_LINK, _ENGINE, _REDIRECT_PATH = (
    re.compile("|".join(patterns), re.IGNORECASE)
    for patterns in read_table(__package__, "messages.toml")["urls"].values()
)


def one_line(text: str, limit: int = MAX_SNIPPET) -> str:
    """Return one line without icons and control characters, cut to `limit`."""
    return clean_line(text.translate(_ICONS), limit)


def is_address(text: str) -> bool:
    """Return True if a text is the URL or the breadcrumb trail of a result."""
    return _ADDRESS.match(text) is not None


def element_text(element: Element, limit: int = MAX_SNIPPET) -> str:
    """Return the text of an element on one line."""
    return one_line(" ".join(text_lines(element)), limit)


def text_lines(block: Element, without: Element | None = None, *, skips_links: bool = False) -> Iterator[str]:
    """Yield the lines of text in a block, without the element `without`, and perhaps without the links in it."""
    text = ""
    walker = etree.iterwalk(block, events=("start", "end"))
    for event, element in walker:
        is_left_out = element is without or (skips_links and element.tag == "a" and element is not block)
        if element.tag in _BLOCKS or is_left_out:
            if text := text.strip():
                yield text
            text = ""
        if event == "end":
            text += "" if element is block else element.tail or ""
        elif is_left_out:
            walker.skip_subtree()
        else:
            text += element.text or ""
    if text := text.strip():
        yield text


_WITHOUT_TEXT = "script style svg noscript template link meta iframe object canvas select".split()
# Hidden fields belong to the form data.
_HIDDEN = element_selector("//*[@data-x-hidden][not(self::input)]")
_TITLE = element_selector("//title[not(ancestor::svg)]")
_VISIBLE_CHARS = 3_000
_SCRIPT_CHARS = 20_000
_IDS = text_selector("//@id | //@data-testid")
_CLASSES = text_selector("//@class")
_ADDRESSES = text_selector("//script/@src | //iframe/@src | //form/@action | //img/@src | //meta[@http-equiv]/@content")
_BOXES = element_selector("//input[@name='q' or @name='query' or @name='wd' or @name='p' or @name='text'][@value]")
_MAX_BOXES, _MIN_QUERY, _MAX_QUERY = 8, 3, 500
_SCRIPTS = text_selector("//script[not(@src)]/text()")


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Visible elements of a result page, and the markup that identifies block pages."""

    root: Element
    url: str
    host: str
    """Without `www.`."""
    status: int
    redirects: tuple[str, ...]
    title: str
    ids: frozenset[str]
    """Values of the attributes `id` and `data-testid`."""
    classes: frozenset[str]
    addresses: str
    """URLs of scripts, frames, forms and images and targets of `http-equiv`, one per line of 2,000 characters."""
    scripts: str
    """First characters of the inline scripts."""
    opening: str
    """First characters of the visible text, without the query."""

    def absolute(self, address: str | None) -> str:
        """Resolve an address against the URL of the page; return "" if the result is not an http(s) URL."""
        joined = join_url(self.url, address or "")
        return joined if is_web_url(joined) else ""


def snapshot_text(snapshot: Snapshot) -> str:
    """Return the HTML of a snapshot; if it has none, decode its body as UTF-8."""
    return snapshot.html or snapshot.body.decode("utf-8", "replace")


def build_result_page(snapshot: Snapshot) -> ResultPage | None:
    """Return the page without invisible elements, or None if it has no readable text."""
    root = parsing.parse_html(snapshot_text(snapshot)).root
    if root is None:
        return None
    title, ids = next((one_line(text_of(element), 300) for element in _TITLE(root)), ""), frozenset(_IDS(root))
    scripts = "\n".join(_SCRIPTS(root))[:_SCRIPT_CHARS]
    classes = frozenset(name for value in _CLASSES(root) for name in value.split())
    addresses = "\n".join(address[:2_000] for address in _ADDRESSES(root))
    # A query in the search box for "429" or "captcha" must not match a block page.
    queries = [one_line(box.get("value") or "", _MAX_QUERY) for box in _BOXES(root)[:_MAX_BOXES]]
    page_tree.inline_shadow_roots(root)
    for element in _HIDDEN(root):
        if element.getparent() is not None and element.tag not in {"html", "body"}:
            parsing.remove(element)
    etree.strip_elements(root, *_WITHOUT_TEXT, with_tail=False)
    parsing.flatten_deep_elements(root)
    body = root.find("body")
    visible = text_of(body if body is not None else root)[: _VISIBLE_CHARS * 4]
    opening = " ".join(visible.split())[:_VISIBLE_CHARS]
    for query in queries:
        if len(query) >= _MIN_QUERY:
            title, opening = (text.lower().replace(query.lower(), "") for text in (title, opening))
    parts = split_url(snapshot.url)
    host = _host(parts) if parts else ""
    redirects = tuple(hop.location for hop in snapshot.hops)
    markup = (title.strip(), ids, classes, addresses, scripts, opening.strip())
    return ResultPage(root, snapshot.url, host, snapshot.status, redirects, *markup)


_MAX_WRAPPINGS = 4
_MAX_CHARS = 16_000
_NEWS_ID = re.compile(r"^/(?:rss/)?(?:articles|read)/([\w-]+=*)")
_GOOGLE_NEWS = "news.google.com"
_GOOGLE = re.compile(r"(?:[a-z]+\.)?google(?:\.com?)?(?:\.[a-z]{2,3})?")
_REDIRECT_FIELDS = ("uddg", "url", "u", "q", "imgrefurl", "target", "to", "dest", "destination")


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
    if _host(parts) == _GOOGLE_NEWS:
        return _NEWS_ID.match(parts.path) is not None
    if _host(parts) == "baidu.com":
        return parts.path == "/link" and "url=" in parts.query
    return parts.path == "/goto" and _GOOGLE.fullmatch(_host(parts)) is not None


def _inside(parts: SplitResult) -> str:
    host = _host(parts)
    if host == _GOOGLE_NEWS and (match := _NEWS_ID.match(parts.path)):
        # An old id is base64 of protocol buffers with the URL, and perhaps an AMP URL after D2 01. New ids have none.
        payload = _decoded(match[1])
        url = b"http" * payload.startswith(b"\x08\x13\x22") + payload.partition(b"http")[2].partition(b"\xd2")[0]
        return url.decode("ascii", "replace")
    if host.endswith(".search.yahoo.com"):
        return unquote(parts.path.partition("/RU=")[2].partition("/")[0])
    if (host == "bing.com" or host.endswith(".bing.com")) and parts.path == "/ck/a":
        target = _field(parts, "u")  # `a1` and URL-safe base64 without padding
        return _decoded(target[2:]).decode("utf-8", "replace") if target.startswith("a1") else ""
    if _REDIRECT_PATH.match(parts.path) and (_GOOGLE.fullmatch(host) or _ENGINE.fullmatch(host)):
        return next((value for name in _REDIRECT_FIELDS if is_web_url(value := _field(parts, name))), "")
    return ""


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


_MAX_ANCESTORS = 42
_MAX_FOLLOWING = 3
_ADDRESS_ATTRIBUTES = ("mu", "data-url", "data-href", "data-landurl")
"""Attributes in which engines store the target URL for their scripts."""
_NO_TARGET = "nourl.ubs.baidu.com"
"""Host in place of the target of modules that have none."""
_LINKED = element_selector("(self::a | .//a)[@href]")


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
    links = (candidate.link for candidate in candidates[:MAX_ROWS])
    link_counts = Counter(one for link in links for one in (link, *islice(link.iterancestors(), _MAX_ANCESTORS)))
    rows = []
    for candidate in candidates[:count]:
        # The largest element that contains only this link of the group.
        *_, top = candidate.link, *takewhile(lambda one: link_counts[one] == 1, candidate.link.iterancestors())
        title_element = candidate.link if candidate.heading is None else candidate.heading
        title = _title(candidate, title_element)
        snippet = _snippet(top, title_element, title)
        blocks: tuple[Element, ...] = (top,)
        if len(snippet) < MIN_SNIPPET_CHARS:
            # Table layouts split a row: take the elements up to the next row, or to one with links.
            following = islice(top.itersiblings(), _MAX_FOLLOWING)
            blocks = (top, *takewhile(lambda element: element not in link_counts and not _LINKED(element), following))
            snippet = max((snippet, *(_snippet(block, None, title) for block in blocks[1:])), key=len)
        href = resolve_opaque(candidate.href, candidate.link, top)
        rows.append(RowLocation(replace(candidate, href=href, url=unwrap_redirect(href)), blocks, title, snippet))
    return rows


def resolve_opaque(href: str, link: Element, top: Element) -> str:
    """Return the target URL of a link if an attribute of the row holds it, else the URL of the link.

    Only that of Baidu, `mu`, counts if the link is not opaque.
    """
    names = _ADDRESS_ATTRIBUTES if is_opaque_redirect(unwrap_redirect(href)) else _ADDRESS_ATTRIBUTES[:1]
    for element in (link, *link.iterancestors()):
        for value in ((element.get(name) or "").strip() for name in names):
            if is_web_url(value) and not is_opaque_redirect(value) and _NO_TARGET not in value:
                return value
        if element is top:
            break
    return href


def _title(candidate: LinkCandidate, element: Element) -> str:
    lines = [one_line(line, MAX_TITLE) for line in text_lines(element)]
    other = [line for line in lines if not is_address(line)]
    if candidate.heading is not None and len(other) == len(lines):
        return element_text(element, MAX_TITLE)
    return max(list(filter(None, other)) or lines[:1], key=len, default="")


def _snippet(block: Element, without: Element | None, title: str) -> str:
    lines = map(one_line, text_lines(block, without))
    return max((line for line in lines if line != title and not is_address(line)), key=len, default="")


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
        for run in text_lines(block, skips_links=True)
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


def results_from_rows(rows: Sequence[EngineRow], now: datetime) -> tuple[EngineResult, ...]:
    """Convert rows to unique results: decode redirects and split the date off the snippet."""
    found: dict[tuple[str, str], EngineResult] = {}
    for row in rows:
        url = unwrap_redirect(row.href)
        if (url, row.title) not in found:
            date, snippet = date_parsing.split_date(row.snippet, now)
            if row.date:
                date = date_parsing.parse_leading_date(row.date, now)[0] or date
            found[url, row.title] = EngineResult(
                rank=len(found) + 1, title=row.title, url=url, snippet=snippet, date=date, source=row.source or None
            )
    return tuple(found.values())
