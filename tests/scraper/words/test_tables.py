"""The tables of words are well formed, used and up to date."""

from __future__ import annotations

import gc
import importlib
import re
from pathlib import Path

import pytest
from babel import Locale, UnknownLocaleError

import scraper
from devtools import calendar_words
from devtools.language_gaps import NOT_BY_LANGUAGE, list_topics
from scraper.words.matcher import WordPattern, Words, read_topic

_PACKAGE = Path(scraper.__file__).parent
_TOPICS = list_topics()
_READ_BY_LANGUAGE = {
    *(f"{topic}.{month}" for topic in ("calendar", "dates") for month in calendar_words.MONTHS),
    "language.latin",
    "language.cyrillic",
    "language.name",
    *NOT_BY_LANGUAGE,
}


@pytest.mark.parametrize("topic", _TOPICS)
def test_each_list_has_different_words_by_known_languages(topic: str) -> None:
    for name, table in read_topic(topic).items():
        for language, words in table.items():
            assert language == "any" or _is_language(language) or f"{topic}.{name}" in NOT_BY_LANGUAGE
            assert len(set(words)) == len(words)
            assert all(word.strip() == word != "" for word in words)


def test_each_list_is_used_and_each_used_list_exists() -> None:
    lists = {f"{topic}.{table}" for topic in _TOPICS for table in read_topic(topic)}
    modules = [".".join(file.relative_to(_PACKAGE.parent).with_suffix("").parts) for file in _PACKAGE.rglob("*.py")]
    for module in modules:
        if not module.endswith("__main__"):
            importlib.import_module(module)
    gc.unfreeze()
    users = [one for one in gc.get_objects() if isinstance(one, Words | WordPattern)]
    templates = [one.template if isinstance(one, WordPattern) else f"{{{'}{'.join(one.names)}}}" for one in users]
    files = [*_PACKAGE.rglob("*.py"), *_PACKAGE.rglob("*.toml")]
    sources = "".join(file.read_text(encoding="utf-8") for file in files)

    references = [names for template in templates for names in re.findall(r"\{(\w+\.[\w.|]+)\}", template)]
    used = {name for names in references for name in names.split("|")}
    named = set(re.findall(r"read_words\(\"([\w.]+)|\{(\w+\.\w+)\}", sources))

    assert used <= lists
    assert lists <= used | {name for pair in named for name in pair} | _READ_BY_LANGUAGE


def test_the_names_of_months_and_days_are_those_of_the_cldr() -> None:
    assert calendar_words.FILE.read_text(encoding="utf-8") == calendar_words.build_tables()


def _is_language(code: str) -> bool:
    try:
        return bool(Locale.parse(code))
    except (ValueError, UnknownLocaleError):
        return False
