"""Noise in changed texts."""

from __future__ import annotations

from scraper.site.page_changes import remove_noise
from tests.scraper.soon import soon


def test_a_long_number_is_searched_in_linear_time() -> None:
    with soon():
        assert remove_noise("views 1,200 comments " + "1," * 8_000).startswith("views")
