"""RSS and Atom, by the reader of pages."""

from __future__ import annotations

from scraper.extract import feeds
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.text import decode_text, read_xml


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """The entries of a feed; the XML where it turns out to be none."""
    text, warnings = decode_text(data, request)
    feed = feeds.read(text, request.url or "http://feed.invalid/", whole=True)
    if feed is None:
        return read_xml(data, request)
    return ParsedDocument("feed", feed.markdown, title=feed.title, warnings=warnings)
