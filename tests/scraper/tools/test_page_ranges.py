"""Pages as people name them."""

from __future__ import annotations

import pytest

from scraper.errors import InvalidArgumentError
from scraper.tools.page_ranges import page_numbers


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        (None, ()),
        ("3", (3,)),
        ("3-5,9", (3, 4, 5, 9)),
        (" 2 , 1;1–2 ", (1, 2)),
        ("4..6", (4, 5, 6)),
        ("2 to 3", (2, 3)),
        ("1, 7-", (1, *range(7, 1_006))),
        ("99999-", (99_999, 100_000)),
    ],
)
def test_numbers_and_ranges_are_understood(text: str | None, pages: tuple[int, ...]) -> None:
    assert page_numbers(text) == pages


@pytest.mark.parametrize("text", ["", "0", "5-3", "a", "0-", "-2", "1--2", "1-99999999", "1-2000", ","])
def test_what_is_no_selection_is_told(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="pages must"):
        page_numbers(text)
