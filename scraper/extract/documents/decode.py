"""Bytes of a text document to letters."""

from __future__ import annotations

from browsers.http.charset import decode
from scraper.extract.documents.model import CUT_OFF, MAX_CHARACTERS, ParseRequest
from scraper.extract.text.sanitize import clean


def letters(data: bytes, asked: ParseRequest) -> tuple[str, tuple[str, ...]]:
    """The text without invisible characters, and a warning where it was cut off."""
    text = decode(data[: 4 * MAX_CHARACTERS], asked.media_type)
    text, _ = clean(text.removeprefix("\ufeff"))
    if len(text) > MAX_CHARACTERS or len(data) > 4 * MAX_CHARACTERS:
        return text[:MAX_CHARACTERS], (CUT_OFF,)
    return text, ()
