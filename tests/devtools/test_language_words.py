"""Words of human languages in the texts of a program."""

from __future__ import annotations

import pytest

from devtools.language_words import find_languages


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("by|von|par|przez", {"German", "French", "Polish"}),
        ("Gestern, 12:30", {"German"}),
        ("続きを読む もっと", {"CJK"}),
        ("читать далее / 더 보기", {"CYRILLIC", "HANGUL"}),
        ("年|월", {"CJK", "HANGUL"}),
        ("Σ and β are signs", set()),
        (r"[ぁ-ヿ一-鿿가-힯а-яЁ]", set()),
        ("The next page by its author", set()),
    ],
)
def test_the_languages_of_a_text_are_found(text: str, languages: set[str]) -> None:
    assert find_languages([text]) == languages
