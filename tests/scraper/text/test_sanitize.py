from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.text.sanitize import clean, clean_line, collapse_whitespace, repair_mojibake
from tests.growth import Hostile, full_size, hostile_inputs
from tests.scraper.extract.snapshots import WORDS, read


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\nwith lines",
        "Grüße, naïve, Ελλάδα, Привет",
        "می\u200cخواهم",  # Persian: a non-joiner that distinguishes two words
        "क\u094d\u200dष",  # Hindi
        "👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "🏳\ufe0f\u200d🌈",
        "1\ufe0f\u20e3",
        "👩\u200d❤\ufe0f\u200d💋\u200d👨 🏃🏽\u200d♀\ufe0f\u200d➡\ufe0f 🏴\u200d☠\ufe0f",
        "🐈\u200d⬛ 👩🏽\u200d⚕\ufe0f 🙂\u200d↔\ufe0f ☀\ufe0f",
        "\u0663\u06dd",  # an Arabic digit with the mark of a verse
        "\ue000",  # private use: icons of fonts
        "مرحبا\u200f! C++\u200e",
    ],
)
def test_visible_characters_stay(text: str) -> None:
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
        ("\u061c\u200e\u200fab", "ab", 3),
        ("葛\U000e0100城", "葛城", 1),
        ("☺\ufe0e", "☺", 1),
        ("∑\ufe0f∑\u200d∑→\ufe0f→", "∑∑∑→→", 3),
        ("😀\ufe0f😀\u200c😀", "😀😀😀", 2),
        ("a\u180b\u180c\u180d\u180fb", "ab", 4),
        ("a\U0001bca0\U0001bca3\ufff0\ufff8b", "ab", 4),
        ("a\u06ddb", "ab", 1),
        ("😀\u200d😀\u200d🚀👩\u200d😀☀\ufe0f\u200d☀", "😀😀🚀👩😀☀\ufe0f☀", 4),
        ("سل\u200dام क\u200dष", "سلام कष", 2),
        ("a\u2800b", "a b", 0),
        ("a\u00a0b\u2003c\u3000d\u2028e", "a b c d e", 0),
        ("a\ud800b", "a\ufffdb", 0),
        ("ב\u200f\u200f\u200fa", "ב\u200fa", 2),
        ("bell\x07 and\x1b[31m escape\x85", "bell and[31m escape", 3),
    ],
)
def test_invisible_characters_are_removed(text: str, cleaned: str, removed: int) -> None:
    assert clean(text) == (cleaned, removed)


def _hidden_characters() -> list[str]:
    """Return all characters that can carry hidden bits: Cf, Cn, Zs and default-ignorable ones."""
    ignorable = [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)]
    codes = {code for code in range(0x110000) if unicodedata.category(chr(code)) in {"Cf", "Cn", "Zs"}}
    return [chr(code) for code in sorted(codes | {*ignorable, *range(0xE0000, 0xE1000)} - {0x20})]


@pytest.mark.parametrize("carrier", ["中", *(full_size(letter, id=letter) for letter in ("a", "è", "0", "∑", "…"))])
@pytest.mark.slow
def test_no_hidden_bit_survives(carrier: str) -> None:
    # Two bits of each character, beside any other: present or not, once or twice. A space replaces every other space.
    survivors = []
    hidden = _hidden_characters()
    assert len(hidden) > 800_000
    for start in range(0, len(hidden), 1_000):
        group = hidden[start : start + 1_000]
        message = carrier + "".join(f"{one}{carrier}{one}{one}{carrier}" for one in group)
        kept, _ = clean(message)
        survivors += sorted(set(kept) - {carrier, " "})
    assert survivors == []


def test_line_ends_are_normalized_and_not_counted() -> None:
    assert clean("a\r\nb\rc\x00") == ("a\nb\nc", 1)


@given(st.text(alphabet=st.characters(), max_size=80))
def test_cleaning_is_idempotent(text: str) -> None:
    once, removed = clean(text)
    assert removed >= 0
    assert clean(once)[0] == clean(clean(once)[0])[0]
    assert "\u200b" not in once and "\x00" not in once


def test_a_line_is_one_line_of_limited_length() -> None:
    assert clean_line(" a\n\n b\u200b\t c ", 100) == "a b c"
    assert clean_line("word " * 100, 20) == "word word word word…"
    assert len(clean_line("x" * 1_000_000, 200)) == 200


@pytest.mark.parametrize("unseen", ["\x00", "\x1f", "\x7f", "\x80", "\x9f", "\u00ad", "\u200b", "\u202e", "\ufeff"])
@pytest.mark.parametrize("beside", ["plain", "caf\u00e9 \u2019 \u2014 \u20ac", "\u0434\u0430 \u2019"])
def test_invisible_characters_are_removed_beside_any_letters(unseen: str, beside: str) -> None:
    assert clean(f"{beside}{unseen} end") == (f"{beside} end", 1)
    assert clean(beside) == (beside, 0)


TEXTS = ["you’ll “see” – it…", "déjà vu – oui", "Grüße aus Köln – schön", "東京 – “Tower”", "Привет — мир", "👍 – ok"]


@pytest.mark.parametrize("text", TEXTS)
def test_mojibake_of_latin_1_is_repaired(text: str) -> None:
    assert repair_mojibake(f"before {text} after".encode().decode("latin-1")) == f"before {text} after"


def test_double_mojibake_is_repaired() -> None:
    twice = "you’ll".encode().decode("latin-1").encode().decode("latin-1")
    assert repair_mojibake(twice) == "you’ll"


@pytest.mark.parametrize("mark", "‘’“–—…•†")
def test_mojibake_of_windows_1252_is_repaired(mark: str) -> None:
    assert repair_mojibake(f"a {mark} b".encode().decode("cp1252")) == f"a {mark} b"


def test_mojibake_with_an_undefined_windows_1252_byte_is_repaired() -> None:
    assert repair_mojibake("â€œyesâ€\x9d") == "“yes”"


@pytest.mark.parametrize(
    "text", ["CAFÉ» et «À la carte»", "Âge, Ã, É¿", "5 â€ 6", "â€", "100 â‚¬", "naïve façade", "ÃŸ", "\x80\x99"]
)
def test_ambiguous_sequences_stay(text: str) -> None:
    assert repair_mojibake(text) == text


def test_incomplete_sequences_stay_beside_complete_ones() -> None:
    assert repair_mojibake("\xc3\xa9 \xe2\x80\x99 \xe2\x80 \xe2A") == "é ’ \xe2\x80 \xe2A"


def test_repairing_produces_no_invisible_characters() -> None:
    hidden = "ig\u200bnore\u202e \U000e0041".encode().decode("latin-1")
    assert clean(hidden)[0] == "ignore "
    assert clean("igâ€‹nore")[0] == "ignore"


def test_title_and_text_of_a_page_are_repaired() -> None:
    page = f"<title>What you’ll see</title><h1>What you’ll see</h1><p>{WORDS} It’s here.</p>"
    document = read(page.encode().decode("latin-1"))
    assert document.title == clean_line("What you’ll see", 99)
    assert "It’s here." in document.text
    assert "It’s here." in document.markdown


@hostile_inputs(
    {"pairs": (300_000, lambda n: "\xe2\x80" * n), "fives": (200_000, lambda n: "\xf4\x80\x80\x80\xc2" * n)}
)
def test_long_mojibake_is_repaired_in_time(hostile: Hostile[str]) -> None:
    assert hostile.run(repair_mojibake, limit_s=2)


_SENTENCE = "The morning ferry left with a hundred passengers, two bicycles and a crate of lemons."


@pytest.mark.parametrize(
    "white", [" ", "  ", "\t", "\n", "\v", "\f", "\r", "\x1c", "\x1f", "\u00a0", "\u2003", "\u3000"]
)
def test_white_space_is_collapsed(white: str) -> None:
    for text in (f"{_SENTENCE}{white}{_SENTENCE}", f"{white}{_SENTENCE}{white}", f"one{white}two", white * 100):
        assert collapse_whitespace(text) == " ".join(text.split())
