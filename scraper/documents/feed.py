"""RSS and Atom reader, which uses the feed parser for pages."""

from __future__ import annotations

from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.text_decoding import decode_text
from scraper.documents.text_formats import read_xml
from scraper.extract import feeds


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the entries of a feed, or the XML if it is not a feed."""
    text, warnings = decode_text(data, request)
    feed = feeds.read(text, request.url or "http://feed.invalid/", whole=True)
    if feed is None:
        return read_xml(data, request)
    return ParsedDocument("feed", feed.markdown, title=feed.title, warnings=warnings)
