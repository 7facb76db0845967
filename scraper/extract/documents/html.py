"""A web page that was asked for as a document: read as `fetch` would read it."""

from __future__ import annotations

from browsers.http.charset import decode
from browsers.model import Snapshot
from scraper.extract import reader
from scraper.extract.documents.model import ParsedDocument, ParseRequest

_NOWHERE = "http://file.invalid/"
"""Base of the links in a local file: what is relative leads nowhere."""


def warm_up(asked: ParseRequest | None = None) -> None:
    """Load what the reader of pages loads late."""
    read(
        b"<html><body><main><p>A page of a few words, and no more.</p></main></body></html>",
        asked or ParseRequest(),
    )


def read(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """The main content of a page."""
    url = asked.url or _NOWHERE
    html = decode(data, asked.media_type if "html" in asked.media_type else "text/html")
    document = reader.read(Snapshot(url, url, 200, media_type="text/html", html=html))
    return ParsedDocument("html", document.markdown, title=document.title, author=document.author)
