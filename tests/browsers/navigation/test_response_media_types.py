"""The media type of a body without a declared type."""

from __future__ import annotations

import pytest

from browsers.navigation.response import is_text_type, sniff_media_type


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"<!DOCTYPE html><p>", "text/html"),
        (b"\xef\xbb\xbf \n<HTML lang=en>", "text/html"),
        (b"<h1>Title</h1>", "text/html"),
        (b"<a href=/>link</a>", "text/html"),
        (b"<!-- made by hand -->", "text/html"),
        (b"<bogus>", "text/plain"),
        (b"<python>>> 1", "text/plain"),
        (b"words", "text/plain"),
        (b"%PDF-1.7", "application/pdf"),
        (b"words and \0", "application/octet-stream"),
        (b"", "application/octet-stream"),
    ],
)
def test_a_page_is_known_by_its_first_tag(body: bytes, media_type: str) -> None:
    assert sniff_media_type(body) == media_type


def test_text_data_is_text() -> None:
    assert is_text_type("application/ld+json") and is_text_type("image/svg+xml") and is_text_type("text/csv")
    assert not is_text_type("application/pdf") and not is_text_type("")
