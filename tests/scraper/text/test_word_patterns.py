"""A pattern of grouped alternatives finds what the plain alternatives find."""

from __future__ import annotations

import re

import pytest

from scraper.text.terms import compile_any_of

_ALTERNATIVES = (
    r"\bin stock\b",
    r"instant(?:ly|aneous)",
    r"sold[ -]?out",
    r"\bno\b",
    r"na (?:stanju|skladištu)",
    "нет в наличии",
    "売り切れ",
)


@pytest.mark.parametrize(
    "text",
    [
        "in stock",
        "now in stock!",
        "again in stocks",
        "xin stock",
        "\nin stock\n",
        "instantly sold-out",
        "sold  out",
        "no",
        "piano",
        "на складе: нет в наличии",
        "na skladištu",
        "本日売り切れ",
        "",
    ],
)
def test_grouped_alternatives_match_like_plain_ones(text: str) -> None:
    found = [match.span() for match in compile_any_of(_ALTERNATIVES).finditer(text)]

    assert found == [match.span() for match in re.finditer("|".join(_ALTERNATIVES), text)]
