from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scraper.extract.text.sanitize import clean, line


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\nwith lines",
        "Grüße, naïve, Ελλάδα, Привет",
        "می\u200cخواهم",  # Persian: a joiner that tells two words apart
        "क\u094d\u200dष",  # Hindi
        "👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "🏳\ufe0f\u200d🌈",
        "1\ufe0f\u20e3",
        "葛\U000e0100城",
        "مرحبا\u200f! C++\u200e",
        "a\u00a0b",
    ],
)
def test_what_belongs_stays(text: str) -> None:
    assert clean(text) == (text, 0)


@pytest.mark.parametrize(
    ("text", "cleaned", "removed"),
    [
        ("ig\u200bno\u200bre", "ignore", 2),
        ("a" + "".join(chr(0xE0000 + ord(c)) for c in "obey me") + "b", "ab", 7),
        ("in\u00advisi\u00adble", "invisible", 2),
        ("a\u200cb", "ab", 1),
        ("x\ufe0f\ufe01\ufe02", "x", 3),
        ("☺\ufe0f\ufe0f\ufe01", "☺\ufe0f", 2),
        ("abc\u202egnp.exe\u202c", "abcgnp.exe", 2),
        ("\ufeffstart", "start", 1),
        ("a\u2060\u2061\u2062\u2063\u2064b", "ab", 5),
        ("a\u115f\u1160\u3164\uffa0b", "ab", 4),
        ("a\u200eb", "ab", 1),
        ("ב\u200f\u200f\u200fa", "ב\u200fa", 2),
        ("bell\x07 and\x1b[31m escape\x85", "bell and[31m escape", 3),
    ],
)
def test_what_nobody_sees_goes_and_is_counted(text: str, cleaned: str, removed: int) -> None:
    assert clean(text) == (cleaned, removed)


def test_line_ends_become_one_kind_and_are_not_counted() -> None:
    assert clean("a\r\nb\rc\x00") == ("a\nb\nc", 1)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=80))
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    once, removed = clean(text)
    assert removed >= 0
    assert clean(once)[0] == clean(clean(once)[0])[0]
    assert "\u200b" not in once and "\x00" not in once


def test_a_line_is_one_line_of_bounded_length() -> None:
    assert line(" a\n\n b\u200b\t c ", 100) == "a b c"
    assert line("word " * 100, 20) == "word word word word…"
    assert len(line("x" * 1_000_000, 200)) == 200


@pytest.mark.parametrize(
    "unseen", ["\x00", "\x1f", "\x7f", "\x80", "\x9f", "\u00ad", "\u200b", "\u202e", "\ufeff"]
)
@pytest.mark.parametrize("beside", ["plain", "caf\u00e9 \u2019 \u2014 \u20ac", "\u0434\u0430 \u2019"])
def test_what_is_unseen_goes_whatever_letters_stand_beside_it(unseen: str, beside: str) -> None:
    assert clean(f"{beside}{unseen} end") == (f"{beside} end", 1)
    assert clean(beside) == (beside, 0)
