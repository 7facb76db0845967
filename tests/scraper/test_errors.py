"""Texts of errors."""

from __future__ import annotations

import pytest

from scraper.errors import format_error


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
