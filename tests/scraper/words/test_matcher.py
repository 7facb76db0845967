"""Patterns find the words of the tables, and prefilters reject no text with one of them."""

from __future__ import annotations

import re

import pytest

from scraper.words.matcher import WordPattern, Words, expand, join_alternatives, read_words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in stock", "in stock"),
        ("again in stocks", None),
        ("xin stock", None),
        ("\nin stock\n", "in stock"),
        ("lid sinds 2019", "lid sinds"),
        ("registreerde", "registreerde"),
        ("only 12 left", "only 12 left"),
        ("only few left", None),
        ("n’est pas encore disponible", "n’est pas encore disponible"),
        ("本日売り切れです", "売り切れ"),
    ],
)
def test_alternatives_match_whole_words_unless_their_script_has_no_spaces(text: str, found: str | None) -> None:
    words = ["in stock", "lid sinds", "registr*", "only # left", "n'est pas…disponible", "売り切れ"]
    pattern = re.compile(join_alternatives(words, starts=True, ends=True))

    match = pattern.search(text)

    assert (match and match[0]) == found


def test_the_longest_of_several_words_is_found() -> None:
    assert re.match(join_alternatives(["le", "les", "lesson"]), "lessons")[0] == "lesson"  # type: ignore[index]


def test_a_template_names_lists_of_words_and_keeps_its_quantifiers() -> None:
    pattern = re.compile(expand(r"\b{dates.yesterday}\b \d{1,2}"))

    assert pattern.search("gestern 12") is not None
    assert pattern.search("vorgestern 12") is None


def test_a_template_joins_several_lists() -> None:
    pattern = re.compile(expand(r"\d+ \b{dates.day|calendar.day}\b"))

    assert [pattern.fullmatch(text) is not None for text in ("2 dage", "2 dagen", "3 天", "2 hours")] == [
        True, True, True, False,
    ]  # fmt: skip


def test_words_of_one_language_can_be_selected() -> None:
    assert "gestern" in Words("dates.yesterday").all
    assert Words("dates.yesterday", language="en").all == {"yesterday"}


@pytest.mark.parametrize("name", ["dates.after_age", "date_labels.joined", "headings.kicker_class", "headings.others"])
def test_a_prefilter_accepts_a_text_with_any_of_the_words(name: str) -> None:
    words = Words(name)

    missed = [word for word in read_words(name) if not words.may_be_in(f"x {word.replace('*', 'x')}, 5")]

    assert missed == []
    assert not words.may_be_in("none of them 5")


def test_a_pattern_with_a_prefilter_finds_what_it_finds_without() -> None:
    template = r"\d+ days {dates.after_age}"
    filtered = WordPattern(template, required=Words("dates.after_age"))

    texts = ["5 days ago", "5 DAYS AGO", "5 days", "5 days önce"]

    assert [bool(filtered.search(text)) for text in texts] == [
        bool(WordPattern(template).search(text)) for text in texts
    ]
