"""Terms are compared in every script, with or without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.text.terms import count_words, fold_text, split_markdown_terms, split_terms, stem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello, World! max_results=3.12", ["hello", "world", "max", "results", "3", "12"]),
        ("Über naïve Straße", ["uber", "naive", "strasse"]),
        ("機械学習とは2025年", ["機械", "械学", "学習", "習と", "とは", "2025", "年"]),
        ("한국어를 배우다", ["한국", "국어", "어를", "배우", "우다"]),
        ("สวัสดี โลก", ["สวั", "วัส", "ัสด", "สดี", "โลก"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("שָׁלוֹם", ["שלום"]),
        ("الكِتَاب", ["الكتاب"]),
        ("Ёлка ＡＢＣ ﬁne", ["елка", "abc", "fine"]),
        ("Đà Nẵng, Łódź, Tromsø, ışık", ["da", "nang", "lodz", "tromso", "isik"]),
        ("", []),
    ],
)
def test_text_of_every_script_is_split_into_terms(text: str, found: list[str]) -> None:
    assert split_terms(text) == found


@pytest.mark.parametrize(
    ("one", "other"), [("timetables", "timetable"), ("cats", "cat"), ("Lösungen", "Lösung"), ("политика", "политики")]
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(split_terms(one)[0]) == stem(split_terms(other)[0])


def test_different_words_have_different_stems() -> None:
    assert len({stem(word) for word in ("house", "horse", "mouse", "3", "12", "学習")}) == 6


def test_link_urls_are_not_terms() -> None:
    assert split_markdown_terms("see [the guide](https://example.org/a_(b)/c?x=1) now") == [
        "see", "the", "guide", "now",
    ]  # fmt: skip


@given(st.text())
def test_folding_is_idempotent(text: str) -> None:
    once = fold_text(text)
    assert fold_text(once) == once


def test_counting_words_may_stop_early() -> None:
    assert count_words("one two three", 3) == 3
    assert count_words("one two three four five", 3) == 4
