"""Convert RSS and Atom feeds into a Markdown list of their entries."""

import html
import re
from itertools import chain, islice

from lxml import etree

from scraper.extract.markdown import converter
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
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
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
    title = _child_text(channel, ("title",)) or None
    base = join_url(url, root.get(_XML_BASE) or "")
    addresses = UrlResolver(base)
    links = [(addresses.absolute(_read_link(entry)), _read_title(entry)) for entry in entries]
    parts = [f"# {title}"] if title else []
    left = _MAX_FULL_TEXT
    for entry, (link, _) in zip(entries, links, strict=True):
        parts.append(_format_entry(entry, base if base != url else link or url, link, whole=whole and left > 0))
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


def _format_entry(entry: Element, base: str, link: str, *, whole: bool) -> str:
    """Return one entry below its title. `base` is the URL of its links. Only `whole` entries have long texts."""
    title = _read_title(entry) or link or "Untitled"
    rows = [f"## [{title}]({link})" if link else f"## {title}"]
    moment = date_parsing.parse_date(_child_text(entry, _DATE_TAGS))
    rows.append(", ".join(filter(None, (moment.date().isoformat() if moment else "", _read_author(entry)))))
    rows.append(_convert_text(entry, base, _MAX_FULL_TEXT if whole else _MAX_SUMMARY))
    for child in entry:
        url = child.get("url") if _local_name(child) == "enclosure" else None
        if _local_name(child) == "link" and child.get("rel") == "enclosure":
            url = child.get("href")
        if url and url.startswith(("http://", "https://")):
            rows.append(f"Attached: {clean_line(url, _MAX_SUMMARY)}")
    return "\n\n".join(filter(None, rows))


def _read_title(entry: Element) -> str:
    # Many sites escape titles twice.
    return html.unescape(_child_text(entry, ("title",))).replace("[", "\\[").replace("]", "\\]")


def _read_author(entry: Element) -> str:
    author = _child_text(entry, ("creator",))
    for child in entry:
        if not author and _local_name(child) == "author":
            author = _child_text(child, ("name",)) or clean_line(child.text or "", _MAX_TITLE)
    return author


def _convert_text(entry: Element, base: str, most: int) -> str:
    """Return the full text of an entry as Markdown, or the beginning of its summary if it is longer than `most`."""
    markups = (_raw_child_text(entry, names) for names in (_FULL_TEXT_TAGS, _SUMMARY_TAGS))
    long, short = (parse_html(f"<html><body>{one}</body></html>").root if one.strip() else None for one in markups)
    text = converter.convert(long, base).markdown if long is not None else ""
    if len(text) <= most or short is None:
        return text
    return clean_line(converter.convert(short, base).text, most)


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
    return clean_line(_raw_child_text(element, names), _MAX_TITLE)


def _raw_child_text(element: Element, names: tuple[str, ...]) -> str:
    for child in (child for name in names for child in element if _local_name(child) == name):
        is_markup = len(child) and child.get("type") == "xhtml"  # an Atom element
        text = "".join(etree.tostring(inner, encoding="unicode") for inner in child) if is_markup else text_of(child)
        if text.strip():
            return text
    return ""


def _local_name(element: Element) -> str:
    """Return the tag without its namespace, or "" for other nodes and vocabularies."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) and not tag.startswith(_MEDIA_VOCABULARIES) else ""
