"""RSS and Atom feeds as a list of their entries."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from scraper.extract import dates, outline
from scraper.extract.addresses import Addresses
from scraper.extract.characters import clean, line
from scraper.extract.markup import parse
from scraper.extract.xpath import Element, text_of
from scraper.model import Document, Link

__all__ = ["read"]

MAX_ENTRIES = 500
_MAX_TITLE = 300
_MAX_SUMMARY = 600
_ROOTS = frozenset({"rss", "feed", "RDF"})
_DATES = ("pubDate", "published", "updated", "date")
_SUMMARIES = ("description", "summary", "content", "encoded")


def read(text: str, url: str) -> Document | None:
    """The feed in an XML text; None when it is none."""
    root = _parsed(text)
    if root is None or _name(root) not in _ROOTS:
        return None
    channel = next((child for child in root if _name(child) == "channel"), root)
    entries = list(_entries(root, channel))
    title = _child_text(channel, ("title",)) or None
    addresses = Addresses(url)
    links = [(addresses.absolute(_link(entry)), _title(entry)) for entry in entries]
    parts = [f"# {title}"] if title else []
    parts += [_entry(entry, link) for entry, (link, _) in zip(entries, links, strict=True)]
    body, controls = clean("\n\n".join(parts))
    return Document(
        url=url,
        title=title,
        page_type="feed",
        text=body,
        markdown=body,
        links=tuple(Link(link, label) for link, label in links if link),
        outline=outline.of_markdown(body),
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


def _entry(entry: Element, link: str) -> str:
    title = _title(entry) or link or "Untitled"
    rows = [f"## [{title}]({link})" if link else f"## {title}"]
    moment = dates.parse(_child_text(entry, _DATES))
    if moment:
        rows.append(moment.date().isoformat())
    summary = _summary(entry)
    if summary:
        rows.append(summary)
    return "\n\n".join(rows)


def _title(entry: Element) -> str:
    return _child_text(entry, ("title",)).replace("[", "\\[").replace("]", "\\]")


def _summary(entry: Element) -> str:
    markup = parse(_raw_child_text(entry, _SUMMARIES)).root
    return line(text_of(markup), _MAX_SUMMARY) if markup is not None else ""


def _link(entry: Element) -> str:
    for child in entry:
        if _name(child) == "link" and (child.get("rel") or "alternate") == "alternate":
            return (child.get("href") or child.text or "").strip()
    return ""


def _child_text(element: Element, names: tuple[str, ...]) -> str:
    return line(_raw_child_text(element, names), _MAX_TITLE)


def _raw_child_text(element: Element, names: tuple[str, ...]) -> str:
    for name in names:
        for child in element:
            if _name(child) == name:
                return text_of(child)
    return ""


def _name(element: Element) -> str:
    """The tag without its namespace; empty for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
