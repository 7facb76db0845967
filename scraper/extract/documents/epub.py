"""EPUB: the chapters of the book in the order of its spine, by the converter of pages."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from browsers.charset import decode
from scraper.errors import Encrypted, Malformed
from scraper.extract import markdown
from scraper.extract.documents.model import MAX_CHARACTERS, Asked, Parsed
from scraper.extract.documents.zips import Parts
from scraper.extract.markup import parse
from scraper.extract.xpath import Element

__all__ = ["read"]

MAX_CHAPTERS = 2_000
_CONTAINER = "META-INF/container.xml"
_LOCK = "META-INF/encryption.xml"
_NOWHERE = "http://book.invalid/"
_LOCKS = ("http://www.w3.org/2001/04/xmlenc#aes", "http://ns.adobe.com/adept")
"""Ways of locking a book; fonts are garbled in another way, which keeps nobody from reading."""
_TEXTS = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})


def read(data: bytes, asked: Asked) -> Parsed:
    """The text of a book.

    Raises:
        Malformed, TooLarge, Encrypted: it cannot be read.
    """
    parts = Parts(data)
    if _LOCK in parts and any(lock.encode() in parts.read(_LOCK) for lock in _LOCKS):
        raise Encrypted("The book is locked by its seller (DRM).", next_step="Look for an unlocked edition.")
    package_name = _package(parts)
    package = parts.xml(package_name)
    chapters, size = [], 0
    for name in _spine(package, package_name, parts)[:MAX_CHAPTERS]:
        text = _chapter(parts, name)
        if text:
            chapters.append(text)
            size += len(text)
        if size > MAX_CHARACTERS:
            break
    return Parsed(
        "epub", "\n\n".join(chapters), title=_said(package, "title"), author=_said(package, "creator")
    )


def _package(parts: Parts) -> str:
    """Where the list of the book's parts lies."""
    container = parts.xml_if_there(_CONTAINER)
    for element in container.iter() if container is not None else ():
        path = element.get("full-path") if isinstance(element.tag, str) else None
        if path and (name := parts.resolve("", path)) in parts:
            return name
    found = next((name for name in parts.names if name.lower().endswith(".opf")), None)
    if found is None:
        raise Malformed("The book has no list of its parts.")
    return found


def _spine(package: Element, package_name: str, parts: Parts) -> list[str]:
    """The chapters that are read one after the other, each once."""
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
    if not names:
        names = dict.fromkeys(
            name
            for name in sorted(parts.names)
            if posixpath.splitext(name)[1].lower() in (".xhtml", ".html", ".htm")
        )
    return list(names)


def _chapter(parts: Parts, name: str) -> str:
    try:
        root = parse(decode(parts.read(name), "application/xhtml+xml")).root
    except Malformed:
        return ""
    body = None if root is None else root.find("body")
    if body is None:
        return ""
    return markdown.convert(body, _NOWHERE + name).markdown


def _said(package: Element, name: str) -> str | None:
    return next((element.text for element in _elements(package, name) if element.text), None)


def _elements(package: Element, name: str) -> list[Element]:
    return [
        element
        for element in package.iter()
        if isinstance(element.tag, str) and element.tag.rpartition("}")[2] == name
    ]
