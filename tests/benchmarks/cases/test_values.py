"""Comparison of values in different forms."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.cases import values
from benchmarks.cases.values import Value


@pytest.mark.parametrize(
    ("name", "expected", "found"),
    [
        ("price", 1299, 1299.0),
        ("price", None, None),
        ("currency", "$", "USD"),
        ("availability", "InStock", "https://schema.org/InStock"),
        ("sku", "AGM80", "agm80"),
        ("salary", "80000-120000 (any form)", "USD 80,000 to 120,000 a year"),
        ("hours", "Monday 11:00-22:00 (any form)", "Mo, Tu 11:00–22:00"),
        ("rating", "4.4", "4.4"),
        ("wage", "28.5", "28.5 EUR"),
        ("type", "FULL_TIME, CONTRACTOR", ["FULL_TIME", "CONTRACTOR"]),
    ],
)
def test_equal_values_match(name: str, expected: Any, found: Any) -> None:
    assert values.same_value(name, expected, Value(found))


@pytest.mark.parametrize(
    ("name", "expected", "found"),
    [
        ("price", 1299, 1299000),
        ("price", None, 5),
        ("price", 5, None),
        ("currency", "EUR", "USD"),
        ("availability", "OutOfStock", "InStock"),
        ("address", "Pier Lane 9, Quayton (any form)", "Pier Lane 9"),
        ("rating", "4.4", "4.45"),
        ("weight", "9 kg", "Weight: 9 kg"),
    ],
)
def test_other_values_do_not_match(name: str, expected: Any, found: Any) -> None:
    assert not values.same_value(name, expected, Value(found))


def test_dates_match_to_the_precision_of_the_expected_one() -> None:
    assert values.same_date("2024-03-04", "2024-03-04T10:00:00+00:00")
    assert values.same_date("2026-11-19T23:30:00-08:00", "2026-11-20T07:30:00+00:00")
    assert values.same_date("2024-03", "2024-03-01T00:00:00+00:00")
    assert not values.same_date("2024-03", "2024-03-15T00:00:00+00:00")
    assert not values.same_date("2024-03-04T10:00:00+00:00", None)


def test_authors_are_compared_one_by_one() -> None:
    assert values.same_names("ADA BERG and Bo Lund", "Bo Lund, Ada Berg")
    assert not values.same_names("Ada Berg", "Ada Berg, Bo Lund")


def test_an_amount_may_stand_beside_a_currency_and_no_other_number() -> None:
    assert values.same_amount("1 962", "1 962 kr/styck")
    assert not values.same_amount("$3.36", "$3.36 ($0.21/oz)")
