"""Convert RSS and Atom feeds into a Markdown list of their entries."""

import html
import re
from collections.abc import Iterator
from itertools import chain, islice

from lxml import etree

from scraper.extract.markdown import converter
from scraper.extract.markdown.converter import ConvertedMarkdown
from scraper.html.dom.parsing import Element, parse_html, text_of
from scraper.html.dom.urls import UrlResolver
from scraper.model import Document, Link
from scraper.text import date_parsing
from scraper.text.markdown_structure import find_headings
from scraper.text.sanitize import clean, clean_line
from scraper.urls import join_url

MAX_ENTRIES = 500
"""Entries of one feed that are read."""
_MAX_FULL_TEXT = 4_000_000
"""Characters of the full texts of all entries: `documents.model.MAX_CHARACTERS`."""
_MAX_TITLE = 300
_MAX_SUMMARY = 600
_ROOTS = frozenset({"rss", "feed", "RDF"})
_DATE_TAGS = ("pubDate", "published", "updated", "date")
_SUMMARY_TAGS = ("description", "summary", "content", "encoded")
_FULL_TEXT_TAGS = ("encoded", "content", "description", "summary")
_NAMED_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31};|(?!#))")
_MEDIA_VOCABULARIES = ("{http://search.yahoo.com/mrss", "{http://www.itunes.com", "{http://www.georss")
"""Vocabularies whose `title`, `content` and `description` belong to pictures and sounds."""


def read(text: str, url: str, *, whole: bool = False) -> Document | None:
    """Return the feed in an XML text, or None if it is not a feed.

    With `whole`, entries contain their full text, up to `_MAX_FULL_TEXT`; otherwise a summary.
    """
    root = _parse(text, url)
    if root is None or _local_name(root) not in _ROOTS:
        return None
    channel = next((child for child in root if _local_name(child) == "channel"), root)
    children = chain(root, channel if channel is not root else ())
    entries = list(islice((child for child in children if _local_name(child) in ("item", "entry")), MAX_ENTRIES))
    title = _read_title(channel) or None
    addresses = UrlResolver(url)
    titles = (_read_title(entry).replace("[", "\\[").replace("]", "\\]") for entry in entries)
    links = [(addresses.absolute(_read_link(entry)), title) for entry, title in zip(entries, titles, strict=True)]
    parts = [f"# {title}"] if title else []
    left = _MAX_FULL_TEXT
    for entry, (link, name) in zip(entries, links, strict=True):
        parts.append(_format_entry(entry, link, name or link or "Untitled", whole=whole and left > 0))
        left -= len(parts[-1])
    body, controls = clean("\n\n".join(parts))
    return Document(
        url=url,
        title=title,
        page_type="feed",
        text=body,
        markdown=body,
        links=tuple(Link(link, label) for link, label in links if link),
        outline=find_headings(body),
        controls_removed=controls,
    )


def _parse(text: str, url: str) -> Element | None:
    """Parse XML at a URL without resolving entities or loading anything, which stops "billion laughs" attacks."""
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, recover=True, remove_comments=True
    )
    try:
        data = _NAMED_ENTITY.sub(_write_entity, text.strip()).encode("utf-8", "replace")
        root: Element | None = etree.fromstring(data, parser, base_url=url)
    except etree.XMLSyntaxError:
        return None
    return root


def _write_entity(match: re.Match[str]) -> str:
    """Return the character of an entity that only HTML has; those of XML stay, and a bare `&` is escaped."""
    character = html.unescape(match.group())
    return "&amp;" if match.group() == "&" else match.group() if character in "&<>\"'" else character


def _format_entry(entry: Element, link: str, title: str, *, whole: bool) -> str:
    """Return one entry below its title. Only `whole` entries have long texts."""
    rows = [f"## [{title}]({link})" if link else f"## {title}"]
    moment = date_parsing.parse_date(_child_text(entry, _DATE_TAGS))
    rows.append(", ".join(filter(None, (moment.date().isoformat() if moment else "", _read_author(entry)))))
    rows.append(_convert_text(entry, link, _MAX_FULL_TEXT if whole else _MAX_SUMMARY))
    for child in entry:
        url = child.get("url") if _local_name(child) == "enclosure" else None
        if _local_name(child) == "link" and child.get("rel") == "enclosure":
            url = child.get("href")
        if url and url.startswith(("http://", "https://")):
            rows.append(f"Attached: {clean_line(url, _MAX_SUMMARY)}")
    return "\n\n".join(filter(None, rows))


def _read_title(element: Element) -> str:
    title = html.unescape(_child_text(element, ("title",)))  # many sites escape titles twice
    root = parse_html(f"<p>{title}").root if "</" in title else None
    return title if root is None else text_of(root)


def _read_author(entry: Element) -> str:
    author = _child_text(entry, ("creator",))
    for child in entry:
        if not author and _local_name(child) == "author":
            author = _child_text(child, ("name",)) or clean_line(child.text or "", _MAX_TITLE)
    return author


def _convert_text(entry: Element, link: str, most: int) -> str:
    """Return the full text of an entry as Markdown, or the beginning of its summary if it is longer than `most`."""
    long, short = (next(_find_children(entry, names), None) for names in (_FULL_TEXT_TAGS, _SUMMARY_TAGS))
    # Podcasts and videos describe themselves in vocabularies of their own.
    others = (one for one in entry.iter("{*}summary", "{*}description") if text_of(one).strip())
    long = next(others, None) if long is None else long
    text = _convert(long, link).markdown if long is not None else ""
    return text if len(text) <= most or short is None else clean_line(_convert(short, link).text, most)


def _convert(child: Element, link: str) -> ConvertedMarkdown:
    """Convert the markup in an element; its links are relative to the `xml:base` around it, else to the entry."""
    url = child.getroottree().docinfo.URL or ""
    markup = html.escape(text_of(child)) if child.get("type") == "text" else _read_markup(child)
    root = parse_html(f"<html><body>{markup}</body></html>").root
    base = child.base if child.base and child.base != url else link or url
    return converter.convert(etree.Element("body") if root is None else root, base)


def _read_link(entry: Element) -> str:
    """Return the URL of an entry, joined with the `xml:base` around it; "" if it names none."""
    links = [child for child in entry if _local_name(child) in ("link", "guid", "origLink")]
    # A service that counts readers keeps the page's own link beside its own.
    for name in ("origLink", "link", "guid"):
        for link in links:
            is_page = name != "guid" or link.get("isPermaLink", "true") == "true"
            if _local_name(link) == name and is_page and (link.get("rel") or "alternate") == "alternate":
                address = (link.get("href") or link.text or "").strip()
                if name != "guid" or address.startswith(("http://", "https://")):
                    return join_url(link.base or "", address) if address else ""
    return ""


def _child_text(element: Element, names: tuple[str, ...]) -> str:
    return clean_line(next(map(_read_markup, _find_children(element, names)), ""), _MAX_TITLE)


def _find_children(element: Element, names: tuple[str, ...]) -> Iterator[Element]:
    """Yield the children with these names that have text, by the order of the names."""
    return (one for name in names for one in element if _local_name(one) == name and text_of(one).strip())


def _read_markup(child: Element) -> str:
    is_markup = len(child) and child.get("type") == "xhtml"  # an Atom element
    return "".join(etree.tostring(inner, encoding="unicode") for inner in child) if is_markup else text_of(child)


def _local_name(element: Element) -> str:
    """Return the tag without its namespace, or "" for other nodes and vocabularies."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) and not tag.startswith(_MEDIA_VOCABULARIES) else ""
