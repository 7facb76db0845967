"""What a body is that came without a type."""

from __future__ import annotations

import pytest

from browsers.http.media_types import is_text, sniffed


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
    assert sniffed(body) == media_type


def test_data_in_letters_are_text() -> None:
    assert is_text("application/ld+json") and is_text("image/svg+xml") and is_text("text/csv")
    assert not is_text("application/pdf") and not is_text("")
