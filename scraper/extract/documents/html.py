"""A web page that was request for as a document: read as `fetch` would read it."""

from __future__ import annotations

from browsers.http.charset import decode
from browsers.model import Snapshot
from scraper.extract import reader
from scraper.extract.documents.model import ParsedDocument, ParseRequest

_NOWHERE = "http://file.invalid/"
"""Base of the links in a local file: what is relative leads nowhere."""


def warm_up(request: ParseRequest | None = None) -> None:
    """Load what the reader of pages loads late."""
    read(
        b"<html><body><main><p>A page of a few words, and no more.</p></main></body></html>",
        request or ParseRequest(),
    )


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """The main content of a page."""
    url = request.url or _NOWHERE
    html = decode(data, request.media_type if "html" in request.media_type else "text/html")
    document = reader.read(Snapshot(url, url, 200, media_type="text/html", html=html))
    return ParsedDocument("html", document.markdown, title=document.title, author=document.author)
