"""FictionBook reader (.fb2): sections with titles, poems, tables, and notes."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_markup import html_to_markdown, warm_up
from scraper.documents.office_xml import LINK
from scraper.documents.safe_zip import parse_xml
from scraper.html.dom.xpath import Element, text_of

__all__ = ["read", "warm_up"]

_MAX_DEPTH = 100
_MAX_LEVEL = 6
_TAGS = {
    "p": "p", "v": "p", "subtitle": "p><strong", "text-author": "p", "date": "p", "emphasis": "em", "strong": "strong",
    "strikethrough": "s", "sub": "sub", "sup": "sup", "code": "code", "cite": "blockquote", "epigraph": "blockquote",
    "poem": "blockquote", "table": "table", "tr": "tr", "th": "th", "td": "td",
}  # fmt: skip
"""Elements of HTML by those of FictionBook."""


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a book; pictures are left out.

    Raises:
        MalformedDocumentError: The book is damaged.
    """
    root = parse_xml(data, "FictionBook", recover=True)
    about = root.find("{*}description/{*}title-info")
    title = None if about is None else about.findtext("{*}book-title")
    author = None if about is None else about.find("{*}author")
    names = [] if author is None else [text_of(part).strip() for part in author if _name(part).endswith("name")]
    body = "".join(html for part in root.iterchildren("{*}body") for html in _blocks(part, 1))
    markdown = html_to_markdown(body, request.url)
    return ParsedDocument("fb2", markdown, title=title, author=" ".join(filter(None, names)) or None)


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _blocks(parent: Element, depth: int) -> Iterator[str]:
    """Yield the HTML of an element's content; `depth` counts the surrounding sections."""
    yield escape(parent.text or "")
    for element in parent if depth < _MAX_DEPTH else ():
        name = _name(element)
        inner = "".join(_blocks(element, depth + (name == "section")))
        if name == "title":
            level = min(depth, _MAX_LEVEL)
            yield f"<h{level}>{' '.join(escape(text_of(element)).split())}</h{level}>"
        elif name == "a" and (target := element.get(LINK)):
            yield f'<a href="{escape(target)}">{inner}</a>'
        elif name in _TAGS:
            tag = _TAGS[name]
            yield f"<{tag}>{inner}" + "".join(f"</{one}>" for one in reversed(tag.split("><")))
        elif name != "binary":
            yield inner
        yield escape(element.tail or "")
