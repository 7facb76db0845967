"""EPUB reader: chapters in the order of the spine, converted like web pages."""

from __future__ import annotations

import re
from urllib.parse import unquote

from browsers.http.charset import decode
from scraper.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.documents.office_markup import remove_internal_links
from scraper.documents.safe_zip import ZipParts, first_text
from scraper.errors import EncryptedDocumentError, MalformedDocumentError
from scraper.extract.markdown import converter
from scraper.html.dom.parsing import parse_html
from scraper.html.dom.xpath import Element, text_of

_MAX_CHAPTERS = 2_000
_ENCRYPTION = "META-INF/encryption.xml"
_BASE_URL = "http://book.invalid/"
_NOTE_ROLES = {
    "noteref": "doc-noteref",
    "footnote": "doc-footnote",
    "endnote": "doc-endnote",
    "rearnote": "doc-endnote",
}
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]{0,500}(?:\[[^\]]{0,20000}\])?\s*>", re.IGNORECASE)
_DRM_METHODS = ("http://www.w3.org/2001/04/xmlenc#aes", "http://ns.adobe.com/adept")
"""Encryption methods of locked books. Fonts use another one, which does not prevent reading."""
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a book.

    Raises:
        EncryptedDocumentError: The book is protected by DRM.
        MalformedDocumentError: The book has no chapters.
    """
    parts = ZipParts(data)
    if _ENCRYPTION in parts and any(method.encode() in parts.read(_ENCRYPTION) for method in _DRM_METHODS):
        raise EncryptedDocumentError(
            "The book is locked by its seller (DRM).", next_step="Look for an unlocked edition."
        )
    package_name = _find_package(parts)
    package = parts.xml_or_none(package_name)
    names = (_spine(package, package_name, parts) if package is not None else []) or _chapters_by_name(parts)
    if not names:
        raise MalformedDocumentError("The book contains no chapters.", next_step="Look for another copy.")
    chapters, size = [], 0
    for name in names[:_MAX_CHAPTERS]:
        text = _convert_chapter(parts, name)
        if text:
            chapters.append(text)
            size += len(text)
        if size > MAX_CHARACTERS:
            break
    return ParsedDocument(
        "epub",
        "\n\n".join(chapters),
        title=first_text(package, "{*}title"),
        author=first_text(package, "{*}creator"),
        warnings=() if package is not None else ("The book's list of chapters is damaged: they stand by name.",),
    )


def _find_package(parts: ZipParts) -> str:
    """Return the name of the package document; empty if there is none."""
    container = parts.xml_or_none("META-INF/container.xml")
    for element in container.iter("*") if container is not None else ():
        path = element.get("full-path")
        if path and (name := parts.resolve("", path)) in parts:
            return name
    return next((name for name in parts.names if name.lower().endswith(".opf")), "")


def _spine(package: Element, package_name: str, parts: ZipParts) -> list[str]:
    """Return the chapters in reading order, each once."""
    items = {
        str(item.get("id")): (str(item.get("href", "")), str(item.get("media-type", "")))
        for item in package.iter("{*}item")
    }
    names: dict[str, None] = {}
    for reference in package.iter("{*}itemref"):
        href, media_type = items.get(str(reference.get("idref")), ("", ""))
        name = parts.resolve(package_name, unquote(href.partition("#")[0]))
        if name in parts and (media_type in _CHAPTER_TYPES or not media_type):
            names[name] = None
    return list(names)


def _chapters_by_name(parts: ZipParts) -> list[str]:
    return sorted(name for name in parts.names if name.lower().endswith((".xhtml", ".html", ".htm")))


def _convert_chapter(parts: ZipParts, name: str) -> str:
    try:
        text = decode(parts.read(name), "application/xhtml+xml")
        root = parse_html(_DOCTYPE.sub("", text, count=1)).root
    except MalformedDocumentError:
        return ""
    body = None if root is None else root.find("body")
    if body is None:
        return ""
    for media in list(body.iter("video", "audio")):
        _replace_media(media)
    for element in body.iter():  # Mark notes like those of web pages.
        types = str(element.get("epub:type", "")).split()
        role = next((role for name, role in _NOTE_ROLES.items() if name in types), None)
        if role is not None:
            element.set("role", role)
    return remove_internal_links(converter.convert(body, _BASE_URL + name).markdown, _BASE_URL)


def _replace_media(media: Element) -> None:
    """Replace a player by the text that a book shows without it, or by its title or file."""
    kind, sources = str(media.tag), [media, *media.iter("source")]
    media.tag = "div"
    if not text_of(media).strip():
        files = (str(source.get("src", "")).rpartition("/")[2] for source in sources)
        name = media.get("title") or media.get("aria-label") or next(filter(None, files), "")
        media[:] = []
        media.text = f"({kind}: {name})" if name else ""
