"""Prices and currencies as pages write them."""

from __future__ import annotations

import pytest

from scraper.facts import money
from scraper.facts.durations import parse_minutes


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("49.90", 49.9), ("1299", 1299.0), ("1,299.00", 1299.0), ("1.299,00", 1299.0), ("71,91 €", 71.91),
        ("499€ 499€", 499.0), ("24.990", 24990.0), ("24.990000", 24.99), ("Rs. 1,299", 1299.0),
    ],
)  # fmt: skip
def test_a_price_is_one_number(text: str, value: float) -> None:
    assert money.parse_machine_price(text) == value


def test_three_decimals_are_decimals_where_the_currency_has_them() -> None:
    assert money.parse_machine_price("4.250", "KWD") == 4.25


@pytest.mark.parametrize("text", ["free", "", "call us", "9" * 70, "-"])
def test_text_without_a_price_gives_none(text: str) -> None:
    assert money.parse_machine_price(text) is None


@pytest.mark.parametrize(
    ("text", "sign"),
    [("€ 12", "€"), ("270,00 Kn", "Kn"), ("44 890 тг.", "тг"), ("Legend 200", None), ("NT$ 390", "NT$")],
)
def test_currency_sign_must_be_a_separate_word(text: str, sign: str | None) -> None:
    amount = money.parse_visible_price(text)
    assert amount is not None and amount.sign == sign


@pytest.mark.parametrize(
    ("sign", "country", "code"),
    [("€", "", "EUR"), ("RUR", "", "RUB"), ("zł", "", "PLN"), ("usd", "", "USD"), ("$", "", None),
     ("$", "ca", "CAD"),
     ("kr", "se", "SEK"), ("kr", "", None), ("Rs.", "pk", "PKR"), (None, "us", None)],
)  # fmt: skip
def test_currency_code_of_a_sign_and_a_country(sign: str | None, country: str, code: str | None) -> None:
    assert money.currency_code(sign, country) == code


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("PT1H30M", 90), ("P1DT2H", 1560), ("45", 45), ("1 hr 20 min", 80), ("1½ hours", 90),
        ("2 Std. 15 Min.", 135),
        ("1 heure et 10 minutes", 70), ("30 минут", 30), ("1:30", 90),
        ("20 min, then 2 hours of rest", 20),
        ("PT1H30", 90), ("1h30", 90), ("1 h 05", 65), ("1h30-2h", 90), ("P0Y0M0DT1H30M0.000S", 90),
        ("PT-5M", None),
        ("Prep: 10-20 min", 20), ("soon", None), ("", None), ("PT", None), ("P999999D", None), ("P1W", 10080),
    ],
)  # fmt: skip
def test_spans_are_minutes(text: str, span: int | None) -> None:
    assert parse_minutes(text) == span
