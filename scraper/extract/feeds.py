"""RSS and Atom feeds as a list of their entries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from scraper.extract.dom.parsing import parse_html
from scraper.extract.dom.urls import UrlResolver
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.markdown import converter
from scraper.extract.metadata import date_parsing
from scraper.extract.text import markdown_structure
from scraper.extract.text.sanitize import clean, clean_line
from scraper.model import Document, Link

MAX_ENTRIES = 500
MAX_WHOLE = 4_000_000
"""Characters of all whole texts together: `documents.model.MAX_CHARACTERS`."""
_MAX_TITLE = 300
_MAX_SUMMARY = 600
_ROOTS = frozenset({"rss", "feed", "RDF"})
_DATES = ("pubDate", "published", "updated", "date")
_SUMMARIES = ("description", "summary", "content", "encoded")
_WHOLE = ("encoded", "content", "description", "summary")
_OTHERS = re.compile(r"\{http://(?:search\.yahoo\.com/mrss|www\.itunes\.com|www\.georss)[^}]*\}")
"""Vocabularies whose `title`, `content` and `description` are those of pictures and sounds."""


def read(text: str, url: str, *, whole: bool = False) -> Document | None:
    """The feed in an XML text; None when it is none. `whole`: entries with all of their text."""
    root = _parsed(text)
    if root is None or _name(root) not in _ROOTS:
        return None
    channel = next((child for child in root if _name(child) == "channel"), root)
    entries = list(_entries(root, channel))
    title = _child_text(channel, ("title",)) or None
    addresses = UrlResolver(url)
    links = [(addresses.absolute(_link(entry)), _title(entry)) for entry in entries]
    parts = [f"# {title}"] if title else []
    left = MAX_WHOLE
    for entry, (link, _) in zip(entries, links, strict=True):
        parts.append(_entry(entry, link, url if whole and left > 0 else None))
        left -= len(parts[-1])
    body, controls = clean("\n\n".join(parts))
    return Document(
        url=url,
        title=title,
        page_type="feed",
        text=body,
        markdown=body,
        links=tuple(Link(link, label) for link, label in links if link),
        outline=markdown_structure.find_headings(body),
        controls_removed=controls,
    )


def _parsed(text: str) -> Element | None:
    """No entity is resolved and nothing is loaded: a billion laughs stay one."""
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, recover=True, remove_comments=True
    )
    try:
        root: Element | None = etree.fromstring(text.strip().encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
    return root


def _entries(root: Element, channel: Element) -> Iterator[Element]:
    seen = 0
    for parent in {id(root): root, id(channel): channel}.values():
        for child in parent:
            if _name(child) in ("item", "entry") and seen < MAX_ENTRIES:
                seen += 1
                yield child


def _entry(entry: Element, link: str, base: str | None) -> str:
    """One entry under its title; `base`: with all of its text, whose links are relative to it."""
    title = _title(entry) or link or "Untitled"
    rows = [f"## [{title}]({link})" if link else f"## {title}"]
    moment = date_parsing.parse_date(_child_text(entry, _DATES))
    rows.append(", ".join(filter(None, (moment.date().isoformat() if moment else "", _author(entry)))))
    rows.append(_summary(entry) if base is None else _text(entry, link or base))
    rows += [f"Attached: {url}" for url in _attached(entry)]
    return "\n\n".join(filter(None, rows))


def _title(entry: Element) -> str:
    return _child_text(entry, ("title",)).replace("[", "\\[").replace("]", "\\]")


def _author(entry: Element) -> str:
    said = _child_text(entry, ("creator",))
    for child in entry:
        if not said and _name(child) == "author":
            said = _child_text(child, ("name",)) or clean_line(child.text or "", _MAX_TITLE)
    return said


def _attached(entry: Element) -> Iterator[str]:
    """Sounds and files that come with an entry."""
    for child in entry:
        url = child.get("url") if _name(child) == "enclosure" else None
        if _name(child) == "link" and child.get("rel") == "enclosure":
            url = child.get("href")
        if url and url.startswith(("http://", "https://")):
            yield clean_line(url, _MAX_SUMMARY)


def _summary(entry: Element) -> str:
    markup = parse_html(_raw_child_text(entry, _SUMMARIES)).root
    return clean_line(text_of(markup), _MAX_SUMMARY) if markup is not None else ""


def _text(entry: Element, base: str) -> str:
    """All that an entry says, as Markdown."""
    said = _raw_child_text(entry, _WHOLE)
    root = parse_html(f"<html><body>{said}</body></html>").root if said.strip() else None
    return converter.convert(root, base).markdown if root is not None else ""


def _link(entry: Element) -> str:
    for child in entry:
        if _name(child) == "link" and (child.get("rel") or "alternate") == "alternate":
            return (child.get("href") or child.text or "").strip()
    return ""


def _child_text(element: Element, names: tuple[str, ...]) -> str:
    return clean_line(_raw_child_text(element, names), _MAX_TITLE)


def _raw_child_text(element: Element, names: tuple[str, ...]) -> str:
    """The first of the named children that says something."""
    for name in names:
        for child in element:
            if _name(child) == name and (said := _said(child)).strip():
                return said
    return ""


def _said(child: Element) -> str:
    """The text of an element; where its markup is no text but elements, that markup."""
    if len(child) and child.get("type") == "xhtml":
        return "".join(etree.tostring(inner, encoding="unicode") for inner in child)
    return text_of(child)


def _name(element: Element) -> str:
    """The tag without its namespace; empty for what is no element, or one of another vocabulary."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) and not _OTHERS.match(tag) else ""
