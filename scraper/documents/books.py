"""Readers of books: EPUB, with its chapters converted like web pages, and FictionBook (.fb2)."""

import re
from collections.abc import Iterator
from html import escape
from urllib.parse import unquote

from browsers.http.charset import decode
from scraper.documents.media import svg_text
from scraper.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.documents.office_markup import html_to_markdown, remove_internal_links, warm_up
from scraper.documents.office_xml import LINK
from scraper.documents.safe_zip import ZipParts, first_text, parse_xml
from scraper.errors import EncryptedDocumentError, MalformedDocumentError
from scraper.extract.markdown import converter
from scraper.html.dom.parsing import Element, parse_html, text_of
from scraper.values.text import read_table

__all__ = ["read_epub", "read_fiction_book", "warm_up"]

_MAX_CHAPTERS = 2_000
_ENCRYPTION = "META-INF/encryption.xml"
_BASE_URL = "http://book.invalid/"
_TABLE = read_table(__package__, "books.toml")
_NOTE_ROLES: dict[str, str] = _TABLE["note_roles"]
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]{0,500}(?:\[[^\]]{0,20000}\])?\s*>", re.IGNORECASE)
_DRM_METHODS = (b"http://www.w3.org/2001/04/xmlenc#aes", b"http://ns.adobe.com/adept")
"""Encryption methods of locked books. Fonts use another one, which does not prevent reading."""
_CHAPTER_TYPES = frozenset(
    {"", "application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document", "image/svg+xml"}
)
_OTHER_NAMES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".pdf", ".mp3", ".mp4", ".css", ".js", ".ncx")
_MAX_FALLBACKS, _MAX_LISTED = 5, 10
_PREFIX = re.compile(r"\sxmlns:([\w.-]{1,40})\s*=\s*[\"']http://www\.w3\.org/1999/xhtml[\"']")
"""Prefix of the elements of a page, which the parser of HTML does not know."""


def read_epub(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a book, its chapters in the order of the spine.

    Raises:
        EncryptedDocumentError: The book is protected by DRM.
        MalformedDocumentError: The book has no chapters.
    """
    parts = ZipParts(data)
    if _ENCRYPTION in parts and any(method in parts.read(_ENCRYPTION) for method in _DRM_METHODS):
        raise EncryptedDocumentError(
            "The book is locked by its seller (DRM).", next_step="Look for an unlocked edition."
        )
    package_name = _find_package(parts)
    package = parts.xml_or_none(package_name)
    names = [] if package is None else _spine(package, package_name, parts)
    names = names or sorted(name for name in parts.names if name.lower().endswith((".xhtml", ".html", ".htm")))
    if not any(name in parts for name in names):
        raise MalformedDocumentError("The book contains no chapters.", next_step="Look for another copy.")
    chapters, size = [], 0
    unread = names[_MAX_CHAPTERS:]
    for name in names[:_MAX_CHAPTERS]:
        try:
            text = _convert_chapter(parts, name)
        except MalformedDocumentError:
            unread.append(name)
            continue
        if text:
            chapters.append(text)
            size += len(text)
        if size > MAX_CHARACTERS:
            break
    warnings = [] if package is not None else ["The book's list of chapters is damaged: they stand by name."]
    if unread:
        listed = ", ".join(unread[:_MAX_LISTED])
        warnings.append(
            f"{len(unread):,} of {len(names):,} chapters are missing, damaged or of another format: {listed}."
        )
    title, author = first_text(package, "{*}title"), first_text(package, "{*}creator")
    return ParsedDocument("epub", "\n\n".join(chapters), title=title, author=author, warnings=tuple(warnings))


def _find_package(parts: ZipParts) -> str:
    container = parts.xml_or_none("META-INF/container.xml")
    paths = (element.get("full-path") for element in (container.iter("*") if container is not None else ()))
    declared = (parts.resolve("", path) for path in paths if path)
    named = (name for name in parts.names if name.lower().endswith(".opf"))
    return next(filter(parts.__contains__, declared), "") or next(named, "")


def _spine(package: Element, package_name: str, parts: ZipParts) -> list[str]:
    """Return the chapters in reading order, each once, also those that the book lacks."""
    items = {str(item.get("id")): item for item in package.iter("{*}item")}
    names: dict[str, None] = {}
    for reference in package.iter("{*}itemref"):
        item = items.get(str(reference.get("idref")))
        for _ in range(_MAX_FALLBACKS):  # A page in another format may have one that is read.
            if item is not None and item.get("media-type", "") not in _CHAPTER_TYPES and item.get("fallback") in items:
                item = items[str(item.get("fallback"))]
        href = str(reference.get("idref")) if item is None else str(item.get("href", ""))
        names[parts.resolve(package_name, unquote(href.partition("#")[0]))] = None
    return list(names)


def _convert_chapter(parts: ZipParts, name: str) -> str:
    data = parts.read(name)
    if name.lower().endswith(".svg"):
        return svg_text(parse_xml(data, name, recover=True))
    if name.lower().endswith(_OTHER_NAMES):
        raise MalformedDocumentError("not a page")
    text = decode(data, "application/xhtml+xml")
    for prefix in dict.fromkeys(_PREFIX.findall(text)):
        text = text.replace(f"<{prefix}:", "<").replace(f"</{prefix}:", "</")
    root = parse_html(_DOCTYPE.sub("", text, count=1)).root
    body = None if root is None else root.find("body")
    if body is None:
        return ""
    for drawing in list(body.iter("svg")):
        if words := svg_text(drawing):
            drawing.tag, drawing[:], drawing.text = "div", [], words
    for media in list(body.iter("video", "audio")):
        kind, sources = str(media.tag), [media, *media.iter("source")]
        media.tag = "div"
        if not text_of(media).strip():  # Nothing that a book shows in place of its player.
            files = (str(source.get("src", "")).rpartition("/")[2] for source in sources)
            title = media.get("title") or media.get("aria-label") or next(filter(None, files), "")
            media[:] = []
            media.text = f"({kind}: {title})" if title else ""
    for element in body.iter():  # Mark notes like those of web pages.
        types = str(element.get("epub:type", "")).split()
        role = next((role for name, role in _NOTE_ROLES.items() if name in types), None)
        if role is not None:
            element.set("role", role)
    return remove_internal_links(converter.convert(body, _BASE_URL + name).markdown, _BASE_URL)


_MAX_DEPTH = 100
_MAX_LEVEL = 6
_TAGS: dict[str, str] = _TABLE["tags"]


def read_fiction_book(data: bytes, request: ParseRequest) -> ParsedDocument:
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
