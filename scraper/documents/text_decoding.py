"""Decode the bytes of text formats."""

from __future__ import annotations

from browsers.http.charset import decode
from scraper.documents.model import MAX_CHARACTERS, TRUNCATION_WARNING, ParseRequest
from scraper.text.sanitize import clean


def decode_text(data: bytes, request: ParseRequest) -> tuple[str, tuple[str, ...]]:
    """Return the text without invisible characters, and a warning if it was truncated."""
    text = decode(data[: 4 * MAX_CHARACTERS], request.media_type)
    text, _ = clean(text.removeprefix("\ufeff"))
    if len(text) > MAX_CHARACTERS or len(data) > 4 * MAX_CHARACTERS:
        return text[:MAX_CHARACTERS], (TRUNCATION_WARNING,)
    return text, ()
