"""Extract all links of a page, including those outside of its content, and the directives in its head."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import ada_url

from browsers.model import Snapshot
from scraper.html.dom.parsing import Element, attribute_selector, parse_html, text_of
from scraper.html.dom.urls import UrlResolver
from scraper.html.page import hidden_elements
from scraper.html.page.page_tree import find_base_url
from scraper.text.date_parsing import find_date, parse_date
from scraper.text.sanitize import clean_line
from scraper.urls import parse_link_header, request_key
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

MAX_LINKS = 20_000
"""Different URLs of one page."""
_MAX_ALTERNATES = 200
_MAX_TEXT = 200
_PARENTS = 12
_NAMES = read_table(__package__, "outlinks.toml")
_FEED_TYPES = frozenset(_NAMES["feed_types"].split())
_AGENT_LINKS: dict[str, str] = _NAMES["agent_links"]
"""Names of relations: RFC 9727, RFC 8631, llmstxt.org."""
_MAX_AGENTS = 8
_SCRIPTED = re.compile(
    r"(?:location(?:\.href)?\s*=|\.(?:assign|replace|open)\()\s*['\"]([^'\"]+)"
    r"|['\"]((?:https?:/)?/[^'\"\s]+)['\"]"
)
"""A literal URL to which a script of an attribute leads."""
_SCRIPTS = "onclick", "onmousedown"
_CLICKABLE = tuple(map(attribute_selector, (*_SCRIPTS, "data-href", "role[.='link']", "tabindex[.='0']")))
_FIELDS, _BUTTONS = ("input", "select", "textarea"), ("submit", "button", "image")
_TRAP_NAMES = ("honeypot", "honey-pot", "honey_pot", "bot-trap", "bottrap", "spider-trap")
_REVEALED_NAMES = _NAMES["revealed_names"].split()
"""Parts of names of elements that a click, the pointer, a larger window or a screen reader reveals."""
_REVEALED_TAGS = ("li", "ul", "ol", "nav", "header", "details", "noscript", "template", "td", "dd", "option")
_NAVIGATION = ("navigation", "navbar", "menu")
_SIDE = ("filter facet refine sort calendar tagcloud tag-cloud breadcrumb share social pagination pager").split()
_NEXT = WordPattern(r"\W*(?:{links.next}|{links.older}|[»›→>])")
_NEXT_CHARS = 24
_EXPIRY = "unavailable_after:"
_REFRESH = re.compile(r"\s*(\d+\.?\d*)\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_REFRESH_LIMIT_S = 10.0
"""Seconds. A page that reloads later is content, not a redirect."""
_WEB = ("http://", "https://")
_PLACES = ("body", "paging", "nav", "side", "footer")
"""Places on a page, most important first."""


@dataclass(frozen=True, slots=True)
class Outlink:
    """One linked URL."""

    url: str
    text: str
    place: str
    """`body`, `paging`, `nav`, `side` or `footer`; the most important position if several links have the same URL."""
    nofollow: bool = False
    """True if all links to the URL are marked as `nofollow` or `ugc`."""
    language: str = ""
    """`hreflang` of the link."""


@dataclass(frozen=True, slots=True)
class Outlinks:
    """Links of a page, and the directives in its head."""

    links: tuple[Outlink, ...] = ()
    feeds: tuple[str, ...] = ()
    title: str = ""
    hidden: tuple[str, ...] = ()
    """URLs of links that are hidden as traps for robots, which are left out."""
    buttons: int = 0
    """Buttons of a page without links, by which scripts may show others."""
    sitemaps: tuple[str, ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()
    """Language and URL of the translations that the head lists."""
    agents: tuple[tuple[str, str], ...] = ()
    """Name and URL of what the page names for programs: descriptions of its API, and Markdown."""
    refresh: str = ""
    """URL to which the page redirects by `<meta http-equiv="refresh">`."""
    noindex: bool = False
    """True if a robots meta or an `X-Robots-Tag` forbids indexing the page."""
    nofollow: bool = False
    """True if a robots meta or an `X-Robots-Tag` forbids following the links of the page."""
    has_password: bool = False
    """True if the page has a password field."""


def extract_outlinks(snapshot: Snapshot, root: Element | None = None) -> Outlinks:
    """Return the links of a page and its directives; `root` is the parsed page.

    Links of closed menus and other hidden parts count, but not those that are hidden as traps. They are in document
    order, each URL once with its longest text.
    """
    root = parse_html(snapshot.html).root if root is None else root
    if root is None:
        return with_header_directives(Outlinks(), snapshot)
    urls = UrlResolver(find_base_url(root, snapshot.url))
    head, pages = _read_head(root, urls, snapshot)
    traps = set(_find_traps(root, rendered=snapshot.rendered))
    own = request_key(snapshot.url)
    found: dict[str, Outlink] = {}
    hidden: dict[str, None] = {}
    for element, address in _iter_addresses(root):
        url = _read_url(urls, address)
        if not url or (url == own and address.strip().startswith("#")):
            continue
        if len(found) >= MAX_LINKS:
            break
        if traps and not traps.isdisjoint((element, *element.iterancestors())):
            hidden[url] = None
            continue
        link = _read_link(element, url)
        if "#" in address and "#" not in url:
            link = replace(link, text="")  # It names a section of the page.
        if (known := found.get(url)) is not None:
            link = Outlink(
                url,
                max(known.text, link.text, key=len),
                min(known.place, link.place, key=_PLACES.index),
                known.nofollow and link.nofollow,
                known.language or link.language,
            )
        found[url] = link
    for url in filter(None, pages):
        found.setdefault(url, Outlink(url, "", "paging"))
    left_out = tuple(url for url in hidden if url not in found)
    buttons = [] if found else list(root.iter("button"))
    head = replace(head, links=tuple(found.values()), hidden=left_out, buttons=len(buttons))
    return with_header_directives(head, snapshot)


def with_header_directives(outlinks: Outlinks, snapshot: Snapshot) -> Outlinks:
    """Return links with the directives of the `X-Robots-Tag` header, which files of any type may have.

    A robot's name before a colon holds for the directives behind it, up to the next name.
    """
    words: set[str] = set()
    for line in snapshot.headers.get("x-robots-tag", "").lower().split("\n"):
        agent = "*"
        for part in line.split(","):
            text = part.strip(" []'\"")
            name, colon, directives = text.partition(":")
            if colon and " " not in name.strip() and not name.startswith(("max-", _EXPIRY.strip(":"))):
                agent, text = name.strip(), directives
            if agent in ("search-mcp", "*"):
                words |= _read_directives(text, snapshot)
    return replace(
        outlinks,
        noindex=outlinks.noindex or not words.isdisjoint(("noindex", "none")),
        nofollow=outlinks.nofollow or not words.isdisjoint(("nofollow", "none")),
    )


def _read_directives(text: str, snapshot: Snapshot) -> set[str]:
    """Return the directives in a text; `noindex` also if the page is unavailable since before the response."""
    words = set(text.replace(",", " ").split())
    expiry = find_date(text.partition(_EXPIRY)[2])
    now = parse_date(snapshot.headers.get("date", ""))
    return words | {"noindex"} if expiry and now and expiry < now else words


def _iter_addresses(root: Element) -> Iterator[tuple[Element, str]]:
    for element in root.iter("a", "area"):
        address = element.get("href") or element.get("xlink:href") or ""
        yield element, address
        if address in ("", "#") or address.lower().startswith("javascript:"):
            yield element, _find_scripted(element, address)
    for element in root.iter("iframe", "frame", "object", "embed"):
        yield element, element.get("src") or element.get("data") or element.get("data-src") or ""
        if (inner := parse_html(element.get("srcdoc") or "").root) is not None:
            yield from ((link, link.get("href") or "") for link in inner.iter("a", "area"))
    yield from _iter_form_addresses(root)
    for element in chain.from_iterable(select(root) for select in _CLICKABLE):
        if element.tag not in ("a", "area"):
            yield element, _find_scripted(element)


def _iter_form_addresses(root: Element) -> Iterator[tuple[Element, str]]:
    """Yield the URLs to which lists of choices lead, and forms with nothing to fill in."""
    for element in root.iter("option"):
        select, address = next(element.iterancestors("select"), None), element.get("value") or ""
        if address.startswith(("/", *_WEB)) or (select is not None and "location" in (select.get("onchange") or "")):
            yield element, address
    for element in root.iter("form"):
        fields = [one for one in element.iter(*_FIELDS) if one.get("type") not in _BUTTONS]
        if (element.get("method") or "get").lower() == "get" and not fields:
            yield element, element.get("action") or ""
            yield from ((button, button.get("formaction") or "") for button in element.iter("button", "input"))


def _find_scripted(element: Element, script: str = "") -> str:
    """Return the URL to which a script or data of an element leads, for elements that a person can click; else ""."""
    target = _SCRIPTED.search(" ".join((script, *(element.get(name) or "" for name in _SCRIPTS))))
    names = sorted(name for name in map(str, element.keys()) if name.startswith("data-"))
    data = (value for name in names if (value := element.get(name) or "").startswith(("/", *_WEB)))
    return str(target[1] or target[2]) if target else element.get("data-href") or next(data, "")


def _find_traps(root: Element, *, rendered: bool) -> Iterator[Element]:
    """Yield what only robots find: named traps, links that no key or screen reader reaches, hidden lone links."""
    unreachable = (
        link for link in root.iter("a") if link.get("aria-hidden") == "true" and link.get("tabindex") == "-1"
    )
    for element in (*hidden_elements.find_hidden(root, rendered=rendered), *unreachable):
        links = list(islice(element.iter("a", "area"), 2))
        is_alone = len(links) == 1 and len(text_of(element).strip()) <= len(text_of(links[0]).strip())
        around = (
            one for one in (element, *islice(element.iterancestors(), _PARENTS)) if one.tag not in ("body", "html")
        )
        revealed = (one for one in around if one.tag in _REVEALED_TAGS or _is_named(one, _REVEALED_NAMES))
        is_named = links and _is_named(element, _TRAP_NAMES)
        if is_named or (is_alone and not element.get("id") and next(revealed, None) is None):
            yield element


def _is_named(element: Element, names: Sequence[str]) -> bool:
    marks = f"{element.get('class') or ''} {element.get('id') or ''} {element.get('role') or ''}".lower()
    return any(name in marks for name in names)


def _read_head(root: Element, urls: UrlResolver, snapshot: Snapshot) -> tuple[Outlinks, list[str]]:
    """Return everything but the links of the body, and the URLs of neighbors in a series."""
    header = parse_link_header(snapshot.headers.get("link", ""), snapshot.url)
    links: list[Element | Mapping[str, str]] = [*root.iter("link"), *header]
    robots, refresh = _read_metas(root, urls, snapshot)
    title = root.find(".//title")
    feeds: dict[str, bool] = {}
    sitemaps, alternates, pages = [], [], []
    for link in links:
        relation = (link.get("rel") or "").lower().split()
        url = urls.absolute(link.get("href"))
        if not url.startswith(_WEB):
            continue
        if "next" in relation or "prev" in relation:
            pages.append(_read_url(urls, url))
        elif "sitemap" in relation:
            sitemaps.append(url)
        elif "alternate" in relation and (language := link.get("hreflang")):
            alternates.append((language.lower(), url))
        elif "alternate" in relation:
            kind = (link.get("type") or "").partition(";")[0].strip().lower()
            feeds |= {url: "+" not in kind} if kind in _FEED_TYPES else {}
    head = Outlinks(
        title=clean_line(text_of(title), _MAX_TEXT) if title is not None else "",
        refresh=refresh if refresh.startswith(_WEB) else "",
        noindex=not robots.isdisjoint(("noindex", "none")),
        nofollow=not robots.isdisjoint(("nofollow", "none")),
        has_password=any((box.get("type") or "").lower() == "password" for box in root.iter("input")),
        # Those of general types may be other data, so they come last.
        feeds=tuple(sorted(feeds, key=feeds.__getitem__)),
        sitemaps=tuple(dict.fromkeys(sitemaps)),
        agents=tuple(islice(_iter_agent_links(links, urls), _MAX_AGENTS)),
        alternates=tuple(alternates[:_MAX_ALTERNATES]),
    )
    return head, pages


def _iter_agent_links(links: Iterable[Element | Mapping[str, str]], urls: UrlResolver) -> Iterator[tuple[str, str]]:
    for link in links:
        relation, url = (link.get("rel") or "").lower().split(), urls.absolute(link.get("href"))
        name = next((_AGENT_LINKS[one] for one in relation if one in _AGENT_LINKS), "")
        if "alternate" in relation and (link.get("type") or "").lower() == "text/markdown":
            name = "Markdown of the page"
        if name and url.startswith(_WEB):
            yield name, url


def _read_metas(root: Element, urls: UrlResolver, snapshot: Snapshot) -> tuple[set[str], str]:
    """Return the directives for robots, and the URL of a redirect or ""."""
    robots, refresh = set[str](), ""
    for meta in root.iter("meta"):
        content = meta.get("content") or ""
        if (meta.get("name") or "").lower() in ("robots", "search-mcp"):
            robots |= _read_directives(content.lower(), snapshot)
        elif (meta.get("http-equiv") or "").lower() == "refresh" and (target := _REFRESH.match(content)):
            refresh = urls.absolute(target[2]) if float(target[1]) <= _REFRESH_LIMIT_S else ""
    return robots, refresh


def _read_link(element: Element, url: str) -> Outlink:
    text = text_of(element) or element.get("title") or element.get("aria-label") or ""
    image = None if text.strip() else element.find(".//img")
    text = clean_line((image.get("alt") or "") if image is not None else text, _MAX_TEXT)
    relation = (element.get("rel") or "").lower().split()
    is_next = "next" in relation or (len(text) <= _NEXT_CHARS and _NEXT.match(text) is not None)
    place = _find_place(element)
    return Outlink(
        url,
        text,
        "paging" if is_next and place in ("body", "side") else place,
        not {"nofollow", "ugc"}.isdisjoint(relation),
        (element.get("hreflang") or "").lower(),
    )


def _read_url(urls: UrlResolver, address: str) -> str:
    """Return the http(s) URL of an address without its fragment, unless scripts route by it; "" for others."""
    address = address.strip()
    path, mark, fragment = address.partition("#")
    url = urls.absolute(path.replace("\\", "/") + mark + fragment)
    if not url.isascii() or not url.startswith(_WEB) or url != url.strip():
        try:
            url = ada_url.URL(url).href
        except ValueError:
            return ""
    return request_key(url) if url.startswith(_WEB) else ""


def _find_place(element: Element) -> str:
    for node in islice(chain((element,), element.iterancestors()), _PARENTS):
        if node.tag in ("nav", "header") or _is_named(node, _NAVIGATION):
            return "nav"
        if node.tag == "footer":
            return "footer"
        if node.tag == "aside" or _is_named(node, _SIDE):
            return "side"
    return "body"
