"""Extract all links of a page, including those outside of its content, and the directives in its head."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice

from browsers.model import Snapshot
from scraper.html.dom.parsing import parse_html
from scraper.html.dom.urls import UrlResolver
from scraper.html.dom.xpath import Element, text_of
from scraper.html.page import hidden_elements
from scraper.html.page.page_tree import find_base_url
from scraper.text.sanitize import clean_line
from scraper.words.matcher import WordPattern

MAX_LINKS = 20_000
"""Different URLs of one page."""
_MAX_ALTERNATES = 200
"""Translations in the head of one page."""
_MAX_TEXT = 200
_PARENTS = 12
"""Ancestors of a link that are examined for its place."""
_FEED_TYPE = re.compile(r"application/(?:rss|atom|feed)\+(?:xml|json)", re.IGNORECASE)
_NAVIGATION = re.compile(r"navigation|navbar|menu", re.IGNORECASE)
_SIDE = re.compile(r"filter|facet|refine|sort|calendar|tag-?cloud|breadcrumb|share|social|pagination|pager", re.I)
_NEXT = WordPattern(r"\W*(?:{links.next}|{links.older}|[»›→>])")
_NEXT_CHARS = 24
_REFRESH = re.compile(r"\s*([\d.]+)\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
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
    """URLs of hidden links, which are left out: they may lead robots into traps."""
    canonical: str = ""
    alternates: tuple[tuple[str, str], ...] = ()
    """Language and URL of the translations that the head lists."""
    refresh: str = ""
    """URL to which the page redirects by `<meta http-equiv="refresh">`."""
    noindex: bool = False
    """True if a robots meta forbids indexing the page."""
    nofollow: bool = False
    """True if a robots meta forbids following the links of the page."""
    has_password: bool = False
    """True if the page has a password field."""


def extract_outlinks(snapshot: Snapshot) -> Outlinks:
    """Return the links of a page and its directives.

    Visible links are in document order, each URL once with its longest text.
    """
    root = parse_html(snapshot.html).root
    if root is None:
        return Outlinks()
    urls = UrlResolver(find_base_url(root, snapshot.url))
    head = _read_head(root, urls)
    linked = list(dict.fromkeys(_read_url(urls, element) for element in islice(root.iter("a", "area"), MAX_LINKS)))
    if snapshot.rendered:
        hidden_elements.remove_marked(root)
    else:
        hidden_elements.remove_styled(root)
    found: dict[str, Outlink] = {}
    for element in root.iter("a", "area"):
        url = _read_url(urls, element)
        if not url or len(found) >= MAX_LINKS:
            continue
        link = _read_link(element, url)
        known = found.get(url)
        found[url] = link if known is None else _merge(known, link)
    return replace(head, links=tuple(found.values()), hidden=tuple(url for url in linked if url and url not in found))


def _read_head(root: Element, urls: UrlResolver) -> Outlinks:
    """Return everything but the links: feeds, title, translations, directives and whether there is a password field."""
    robots, refresh = _read_metas(root, urls)
    title = root.find(".//title")
    return replace(
        _read_relations(root, urls),
        title=clean_line(text_of(title), _MAX_TEXT) if title is not None else "",
        refresh=refresh if refresh.startswith(_WEB) else "",
        noindex=not robots.isdisjoint(("noindex", "none")),
        nofollow=not robots.isdisjoint(("nofollow", "none")),
        has_password=any((box.get("type") or "").lower() == "password" for box in root.iter("input")),
    )


def _read_relations(root: Element, urls: UrlResolver) -> Outlinks:
    """Return the canonical URL, the translations and the feeds that `link` elements name."""
    feeds, alternates, canonical = [], [], ""
    for link in root.iter("link"):
        relation = (link.get("rel") or "").lower().split()
        url = urls.absolute(link.get("href"))
        if not url.startswith(_WEB):
            continue
        if "canonical" in relation:
            canonical = canonical or url
        elif "alternate" in relation and (language := link.get("hreflang")):
            alternates.append((language.lower(), url))
        elif "alternate" in relation and _FEED_TYPE.match(link.get("type") or ""):
            feeds.append(url)
    return Outlinks(
        feeds=tuple(dict.fromkeys(feeds)), canonical=canonical, alternates=tuple(alternates[:_MAX_ALTERNATES])
    )


def _read_metas(root: Element, urls: UrlResolver) -> tuple[set[str], str]:
    """Return the directives for robots, and the URL of a redirect or ""."""
    robots, refresh = set(), ""
    for meta in root.iter("meta"):
        content = meta.get("content") or ""
        if (meta.get("name") or "").lower() in ("robots", "search-mcp"):
            robots.update(re.split(r"[\s,]+", content.lower()))
        elif (meta.get("http-equiv") or "").lower() == "refresh" and (target := _REFRESH.match(content)):
            refresh = urls.absolute(target[2]) if _seconds(target[1]) <= _REFRESH_LIMIT_S else ""
    return robots, refresh


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _read_link(element: Element, url: str) -> Outlink:
    text = _read_text(element)
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


def _read_url(urls: UrlResolver, element: Element) -> str:
    """Return the http(s) URL of a link without its fragment, or ""."""
    url = urls.absolute(element.get("href")).partition("#")[0]
    return url if url.startswith(_WEB) else ""


def _merge(one: Outlink, other: Outlink) -> Outlink:
    place = min(one.place, other.place, key=_PLACES.index)
    return Outlink(
        one.url,
        max(one.text, other.text, key=len),
        place,
        one.nofollow and other.nofollow,
        one.language or other.language,
    )


def _read_text(element: Element) -> str:
    text = text_of(element) or element.get("title") or element.get("aria-label") or ""
    if not text.strip():
        image = element.find(".//img")
        text = (image.get("alt") or "") if image is not None else ""
    return clean_line(text, _MAX_TEXT)


def _find_place(element: Element) -> str:
    node: Element | None = element
    for _ in range(_PARENTS):
        if node is None:
            break
        marks = f"{node.get('class') or ''} {node.get('id') or ''} {node.get('role') or ''}"
        if node.tag in ("nav", "header") or _NAVIGATION.search(marks):
            return "nav"
        if node.tag == "footer":
            return "footer"
        if node.tag == "aside" or _SIDE.search(marks):
            return "side"
        node = node.getparent()
    return "body"
