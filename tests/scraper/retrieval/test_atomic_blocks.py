"""Where blocks of code and tables stand in a text."""

from __future__ import annotations

import pytest

from scraper.retrieval.atomic_blocks import fences, is_row


@pytest.mark.parametrize("marker", ["", "- ", "12. ", ":   "])
def test_a_fence_is_known_behind_the_marker_of_an_item(marker: str) -> None:
    inset = " " * len(marker)
    markdown = f"{marker}```py\n{inset}x = 1\n{inset}```\n\nWords.\n"
    found = fences(markdown, len(markdown))
    assert [markdown[one.start : one.end] for one in found] == [markdown.split("\n\n")[0]]
    assert found[0].opening == f"{inset}```py\n"


def test_a_row_is_known_behind_the_marker_of_a_term() -> None:
    assert is_row(":   | a | b |")
