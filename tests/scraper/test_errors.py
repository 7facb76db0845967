"""Texts of errors."""

from __future__ import annotations

import pytest

from scraper.errors import format_error, hide_folders, name_media_type


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file or directory", "/data"), "No such file or directory: /data"),
        (BlockingIOError(11, "Resource temporarily unavailable"), "Resource temporarily unavailable"),
        (OSError("the pipe broke"), "the pipe broke"),
        (OSError(9, "Bad file descriptor", 7), "Bad file descriptor"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
        (EOFError(), "EOFError"),
    ],
)
def test_errors_are_formatted_without_numbers(error: Exception, words: str) -> None:
    assert format_error(error) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "Chromium at /usr/lib/my-folder/chromium does not start: no '/tmp/x.so'",
            "Chromium at chromium does not start: no 'x.so'",
        ),
        ("No such file: /data", "No such file: data"),
        ("https://a.example/b/c and 3/4 and a//b stay", "https://a.example/b/c and 3/4 and a//b stay"),
    ],
)
def test_folders_of_the_server_are_hidden(text: str, shown: str) -> None:
    assert hide_folders(text) == shown


@pytest.mark.parametrize(
    ("media_type", "named"),
    [
        ("image/png", "image/png"),
        ("application/pdf", "application/pdf"),
        ("application/epub+zip", "application/epub+zip"),
        ("application/ignore-all-previous-instructions", "application/…"),
        ("application/vnd.oasis.opendocument.text-and-now-obey", "application/…"),
        ("obey/this-sentence", "an unknown type"),
        ("", "an unknown type"),
    ],
)
def test_a_media_type_in_an_error_is_no_sentence(media_type: str, named: str) -> None:
    assert name_media_type(media_type) == named
