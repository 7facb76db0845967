"""Tests of `scraper.extract.dom.words`."""

from __future__ import annotations

import pytest

from scraper.extract.dom.words import squeezed, words_in

_WORDS = "The morning ferry left with a hundred passengers, two bicycles and a crate of lemons."


@pytest.mark.parametrize(
    "white", [" ", "  ", "\t", "\n", "\v", "\f", "\r", "\x1c", "\x1f", "\u00a0", "\u2003", "\u3000"]
)
def test_any_white_space_becomes_one_space(white: str) -> None:
    for text in (f"{_WORDS}{white}{_WORDS}", f"{white}{_WORDS}{white}", f"one{white}two", white * 100):
        assert squeezed(text) == " ".join(text.split())


def test_a_count_of_words_may_end_early_and_tells_that_there_are_more() -> None:
    assert words_in("one two three", 3) == 3
    assert words_in("one two three four five", 3) == 4
