"""EPUB reader: chapters in the order of the spine, converted like web pages."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from browsers.http.charset import decode
from scraper.errors import EncryptedDocumentError, MalformedDocumentError
from scraper.extract.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.extract.documents.office import remove_internal_links
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.dom.parsing import parse_html
from scraper.extract.dom.xpath import Element
from scraper.extract.markdown import converter

MAX_CHAPTERS = 2_000
_CONTAINER = "META-INF/container.xml"
_LOCK = "META-INF/encryption.xml"
_NOWHERE = "http://book.invalid/"
_NOTES = {"noteref": "doc-noteref", "footnote": "doc-footnote", "endnote": "doc-endnote", "rearnote": "doc-endnote"}
_TYPE = re.compile(r"<!DOCTYPE[^\[>]{0,500}(?:\[[^\]]{0,20000}\])?\s*>", re.IGNORECASE)
_LOCKS = ("http://www.w3.org/2001/04/xmlenc#aes", "http://ns.adobe.com/adept")
"""Encryption methods of locked books. Fonts use another one, which does not prevent reading."""
_TEXTS = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a book.

    Raises:
        MalformedDocumentError, ContentTooLargeError, EncryptedDocumentError: The book cannot be read.
    """
    parts = Parts(data)
    if _LOCK in parts and any(lock.encode() in parts.read(_LOCK) for lock in _LOCKS):
        raise EncryptedDocumentError(
            "The book is locked by its seller (DRM).", next_step="Look for an unlocked edition."
        )
    package_name = _package(parts)
    package = parts.xml_or_none(package_name) if package_name is not None else None
    names = _spine(package, package_name, parts) if package is not None and package_name else _texts(parts)
    if not names:
        raise MalformedDocumentError("The book holds no chapters.", next_step="Look for another copy.")
    chapters, size = [], 0
    for name in names[:MAX_CHAPTERS]:
        text = _chapter(parts, name)
        if text:
            chapters.append(text)
            size += len(text)
        if size > MAX_CHARACTERS:
            break
    warnings = () if package is not None else ("The book's list of chapters is damaged: they stand by name.",)
    return ParsedDocument(
        "epub",
        "\n\n".join(chapters),
        title=_said(package, "title"),
        author=_said(package, "creator"),
        warnings=warnings,
    )


def _package(parts: Parts) -> str | None:
    """Return the name of the package document."""
    container = parts.xml_or_none(_CONTAINER)
    for element in container.iter() if container is not None else ():
        path = element.get("full-path") if isinstance(element.tag, str) else None
        if path and (name := parts.resolve("", path)) in parts:
            return name
    return next((name for name in parts.names if name.lower().endswith(".opf")), None)


def _spine(package: Element, package_name: str, parts: Parts) -> list[str]:
    """Return the chapters in reading order, each once."""
    items = {
        str(item.get("id")): (str(item.get("href", "")), str(item.get("media-type", "")))
        for item in _elements(package, "item")
    }
    names: dict[str, None] = {}
    for reference in _elements(package, "itemref"):
        href, media_type = items.get(str(reference.get("idref")), ("", ""))
        name = parts.resolve(package_name, unquote(href.partition("#")[0]))
        if name in parts and (media_type in _TEXTS or not media_type):
            names[name] = None
    return list(names) or _texts(parts)


def _texts(parts: Parts) -> list[str]:
    """Return all parts that may be chapters, by their names."""
    endings = (".xhtml", ".html", ".htm")
    return [name for name in sorted(parts.names) if posixpath.splitext(name)[1].lower() in endings]


def _chapter(parts: Parts, name: str) -> str:
    try:
        text = decode(parts.read(name), "application/xhtml+xml")
        root = parse_html(_TYPE.sub("", text, count=1)).root
    except MalformedDocumentError:
        return ""
    body = None if root is None else root.find("body")
    if body is None:
        return ""
    _name_notes(body)
    return remove_internal_links(converter.convert(body, _NOWHERE + name).markdown, _NOWHERE)


def _name_notes(body: Element) -> None:
    """Rename note elements that only books use to those of web pages."""
    for element in body.iter():
        kind = str(element.get("epub:type", ""))
        role = next((role for name, role in _NOTES.items() if name in kind.split()), None)
        if role is not None:
            element.set("role", role)


def _said(package: Element | None, name: str) -> str | None:
    found = _elements(package, name) if package is not None else []
    return next((element.text for element in found if element.text), None)


def _elements(package: Element, name: str) -> list[Element]:
    return [
        element for element in package.iter() if isinstance(element.tag, str) and element.tag.rpartition("}")[2] == name
    ]
