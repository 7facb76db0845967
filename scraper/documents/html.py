"""Reader of web pages that were requested as documents; same result as `fetch`."""

from __future__ import annotations

from browsers.http.charset import decode
from browsers.model import Snapshot
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_markup import remove_internal_links
from scraper.extract import reader

_BASE_URL = "http://file.invalid/"
"""Base URL for links in a local file; relative links lead nowhere."""
_DEGRADED_WARNING = "The page is larger or more complex than the limits: its end may be missing."


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the modules and the data that the page reader loads late."""
    reader.warm_up()


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the main content of a page."""
    html = decode(data, request.media_type if "html" in request.media_type else "text/html")
    return read_page(html, request.url or _BASE_URL)


def read_page(html: str, url: str) -> ParsedDocument:
    """Return the main content of a page at this URL."""
    document = reader.read(Snapshot(url, url, 200, media_type="text/html", html=html), without={"read_key_facts"})
    markdown = remove_internal_links(document.markdown, _BASE_URL) if url == _BASE_URL else document.markdown
    warnings = (_DEGRADED_WARNING,) if document.degraded else ()
    return ParsedDocument("html", markdown, title=document.title, author=document.author, warnings=warnings)
