"""Extract all links of a page, also those outside of its content, with their place on the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from browsers.model import Snapshot
from scraper.extract.dom.parsing import parse_html
from scraper.extract.dom.urls import UrlResolver
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.page import hidden
from scraper.extract.page.page_tree import find_base_url
from scraper.extract.text.sanitize import clean_line

MAX_LINKS = 20_000
_MAX_TEXT = 200
_PARENTS = 12
"""Ancestors of a link that are examined for its place."""
_FEED_TYPE = re.compile(r"application/(?:rss|atom|feed)\+(?:xml|json)", re.IGNORECASE)
_NAVIGATION = re.compile(r"navigation|navbar|menu", re.IGNORECASE)
_SIDE = re.compile(r"filter|facet|refine|sort|calendar|tag-?cloud|breadcrumb|share|social|pagination|pager", re.I)
_PLACES = ("body", "nav", "side", "footer")
"""Places on a page, most important first."""


@dataclass(frozen=True, slots=True)
class Outlink:
    """One linked URL."""

    url: str
    text: str
    place: str
    """`body`, `nav`, `side` or `footer`; the most important place of several links to one URL."""


@dataclass(frozen=True, slots=True)
class Outlinks:
    """Links of a page."""

    links: tuple[Outlink, ...] = ()
    feeds: tuple[str, ...] = ()
    title: str = ""
    hidden: tuple[str, ...] = ()
    """URLs of hidden links, which are left out: they may lead robots into traps."""


def extract_outlinks(snapshot: Snapshot) -> Outlinks:
    """Return the visible links of a page in their order, each URL once with its longest text."""
    root = parse_html(snapshot.html).root
    if root is None:
        return Outlinks()
    urls = UrlResolver(find_base_url(root, snapshot.url))
    feeds = [
        urls.absolute(link.get("href"))
        for link in root.iter("link")
        if "alternate" in (link.get("rel") or "").lower().split() and _FEED_TYPE.match(link.get("type") or "")
    ]
    title = root.find(".//title")
    linked = list(dict.fromkeys(_read_url(urls, element) for element in islice(root.iter("a", "area"), MAX_LINKS)))
    if snapshot.rendered:
        hidden.remove_marked(root)
    else:
        hidden.remove_styled(root)
    found: dict[str, Outlink] = {}
    for element in root.iter("a", "area"):
        url = _read_url(urls, element)
        if not url or len(found) >= MAX_LINKS:
            continue
        link = Outlink(url, _read_text(element), _find_place(element))
        known = found.get(url)
        found[url] = link if known is None else _merge(known, link)
    return Outlinks(
        tuple(found.values()),
        tuple(dict.fromkeys(feed for feed in feeds if feed)),
        clean_line(text_of(title), _MAX_TEXT) if title is not None else "",
        tuple(url for url in linked if url and url not in found),
    )


def _read_url(urls: UrlResolver, element: Element) -> str:
    """Return the http(s) URL of a link without its fragment, or ""."""
    url = urls.absolute(element.get("href")).partition("#")[0]
    return url if url.startswith(("http://", "https://")) else ""


def _merge(one: Outlink, other: Outlink) -> Outlink:
    place = min(one.place, other.place, key=_PLACES.index)
    return Outlink(one.url, max(one.text, other.text, key=len), place)


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
