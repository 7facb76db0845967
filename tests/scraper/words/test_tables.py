"""The tables of words are well formed, used and up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel import Locale, UnknownLocaleError

import scraper
from devtools import calendar_words
from scraper.words.matcher import read_topic

_PACKAGE = Path(scraper.__file__).parent
_TOPICS = sorted(file.stem for file in (_PACKAGE / "words").glob("*.toml"))
_MONTHS = {f"{topic}.{month}" for topic in ("calendar", "dates") for month in calendar_words.MONTHS}
_UNITS = {f"dates.{unit}" for unit in "second minute hour day week month year".split()}


@pytest.mark.parametrize("topic", _TOPICS)
def test_each_list_has_different_words_by_known_languages(topic: str) -> None:
    for table in read_topic(topic).values():
        for language, words in table.items():
            assert language == "any" or _is_language(language)
            assert len(set(words)) == len(words)
            assert all(word.strip() == word != "" for word in words)


def test_each_list_is_used_and_each_used_list_exists() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in _PACKAGE.rglob("*.py"))
    lists = {f"{topic}.{table}" for topic in _TOPICS for table in read_topic(topic)}

    named = set(re.findall(rf"[\"{{]((?:{'|'.join(_TOPICS)})\.\w+)[\"}}]", sources)) | _MONTHS | _UNITS

    assert named == lists


def test_the_names_of_months_and_days_are_those_of_the_cldr() -> None:
    assert calendar_words.FILE.read_text(encoding="utf-8") == calendar_words.build_tables()


def _is_language(code: str) -> bool:
    try:
        return Locale.parse(code).language == code
    except (ValueError, UnknownLocaleError):
        return False
