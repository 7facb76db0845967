"""Stored pictures are limited, and a caller with many of them deletes none of another."""

from __future__ import annotations

from typing import Any, cast

import pytest

from browsers.model import Screenshot
from scraper import errors
from scraper.reading import screenshots
from scraper.reading.screenshots import ScreenshotReader


def _reader() -> ScreenshotReader:
    """Return a reader without a browser, which only stores files."""
    return ScreenshotReader(cast(Any, None))


def _picture(size: int) -> Screenshot:
    return Screenshot(bytes(size), "image/png")


def test_the_oldest_file_of_the_caller_with_most_bytes_is_deleted() -> None:
    reader = _reader()
    other = reader.keep_file(_picture(10_000_000), "other")
    own = [reader.keep_file(_picture(9_000_000), "caller") for _ in range(8)]
    assert reader.get_file(other, "other") is not None
    assert [reader.get_file(one, "caller") is not None for one in own] == [False] * 4 + [True] * 4
    assert reader.get_file(other, "caller") is None


def test_a_file_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screenshots, "MAX_FILES_BYTES", 1_000)
    with pytest.raises(errors.ContentTooLargeError, match="1,001 bytes, more than 1,000"):
        _reader().keep_file(_picture(1_001), "caller")
