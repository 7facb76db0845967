"""Letters that were read in the wrong way before they came to us."""

from __future__ import annotations

import pytest

from scraper.extract.text.mojibake import mended
from scraper.extract.text.sanitize import clean, line
from tests.scraper.extract.snapshots import WORDS, read
from tests.scraper.soon import soon

TEXTS = [
    "you’ll “see” – it…",
    "déjà vu – oui",
    "Grüße aus Köln – schön",
    "東京 – “Tower”",
    "Привет — мир",
    "👍 – ok",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_was_misread_as_latin_is_mended(text: str) -> None:
    assert mended(f"before {text} after".encode().decode("latin-1")) == f"before {text} after"


def test_what_was_misread_twice_is_mended() -> None:
    twice = "you’ll".encode().decode("latin-1").encode().decode("latin-1")
    assert mended(twice) == "you’ll"


@pytest.mark.parametrize("mark", "‘’“–—…•†")
def test_marks_that_were_misread_as_windows_latin_are_mended(mark: str) -> None:
    assert mended(f"a {mark} b".encode().decode("cp1252")) == f"a {mark} b"


def test_the_mark_whose_last_byte_windows_latin_does_not_have_is_mended() -> None:
    assert mended("â€œyesâ€\x9d") == "“yes”"


@pytest.mark.parametrize(
    "text",
    ["CAFÉ» et «À la carte»", "Âge, Ã, É¿", "5 â€ 6", "â€", "100 â‚¬", "naïve façade", "ÃŸ", "\x80\x99"],
)
def test_what_may_be_meant_so_stays(text: str) -> None:
    assert mended(text) == text


def test_broken_pieces_of_letters_stay_beside_whole_ones() -> None:
    assert mended("\xc3\xa9 \xe2\x80\x99 \xe2\x80 \xe2A") == "é ’ \xe2\x80 \xe2A"


def test_a_character_that_nobody_sees_is_no_gain_of_mending() -> None:
    hidden = "ig\u200bnore\u202e \U000e0041".encode().decode("latin-1")
    assert clean(hidden)[0] == "ignore "
    assert clean("igâ€‹nore")[0] == "ignore"


def test_title_and_text_of_a_page_are_mended() -> None:
    page = f"<title>What you’ll see</title><h1>What you’ll see</h1><p>{WORDS} It’s here.</p>"
    document = read(page.encode().decode("latin-1"))
    assert document.title == line("What you’ll see", 99)
    assert "It’s here." in document.text
    assert "It’s here." in document.markdown


def test_long_texts_of_such_letters_come_to_an_end() -> None:
    with soon():
        assert mended("\xe2\x80" * 300_000)
    with soon():
        assert mended("\xf4\x80\x80\x80\xc2" * 200_000)
