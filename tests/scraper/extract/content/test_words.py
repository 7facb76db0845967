from __future__ import annotations

import re

from scraper.extract.content.words import split_words
from tests.scraper.extract.content.trees import measured


def test_words_are_told_in_every_script() -> None:
    assert split_words("Two Words, 3!") == ["two", "words", "3"]
    assert split_words("Ωμέγα и Ёлка") == ["ωμέγα", "и", "ёлка"]
    assert split_words("漢字とかな ab") == ["漢", "字", "と", "か", "な", "ab"]
    assert len(split_words("สวัสดี")) > 2


def test_words_in_ascii_are_parted_as_the_expression_for_all_scripts_parts_them() -> None:
    every = "".join(map(chr, range(128)))
    text = f"a_b c-d 3.5 {every} E"
    assert split_words(text) == re.findall(r"\w+", text.lower())


def test_a_passage_weighs_about_the_same_with_spaces_and_without() -> None:
    english = "The weather will be fine tomorrow in the whole country."
    japanese = "明日は全国的に良い天気になるでしょう。"
    page = measured(f"<p>{english}</p><p>{japanese}</p>")
    assert 0.5 < page.lengths[1] / page.lengths[0] < 2
