"""Amounts of money are found by the signs of all currencies."""

from __future__ import annotations

import pytest

from scraper.facts.fields.value_formats import find_price


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("now $12.50 each", "$12.50"),
        ("ab 85 Euro Bestellwert", "85 Euro"),
        ("129 ر.س", "129 ر.س"),
        ("一罐 27元/罐", "27元"),
        ("1 200 р", "1 200 р"),
        ("S/ 25", "S/ 25"),
        ("4 990 Ft", "4 990 Ft"),
        ("12 ft long", ""),
        ("uploads/2020/logo.png", ""),
        ("try 2 times", ""),
    ],
)
def test_the_first_amount_with_a_sign_or_code_of_a_currency_is_the_price(text: str, price: str) -> None:
    assert find_price(text) == price
