"""A web page that was asked for as a document: read as `fetch` would read it."""

from __future__ import annotations

from browsers.charset import decode
from browsers.model import Snapshot
from scraper.extract import reader
from scraper.extract.documents.model import Asked, Parsed

__all__ = ["read"]

_NOWHERE = "http://file.invalid/"
"""Base of the links in a local file: what is relative leads nowhere."""


def read(data: bytes, asked: Asked) -> Parsed:
    """The main content of a page."""
    url = asked.url or _NOWHERE
    html = decode(data, asked.media_type if "html" in asked.media_type else "text/html")
    document = reader.read(Snapshot(url, url, 200, media_type="text/html", html=html))
    return Parsed("html", document.markdown, title=document.title, author=document.author)
