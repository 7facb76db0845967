"""Find a date as it is written in a label of a page: absolute, relative or without a year, in some fifty languages."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from scraper.text import date_parsing
from scraper.words.matcher import WordPattern, Words

_MAX_CHARS = 120
_MAX_SPACED = 3 * _MAX_CHARS
"""Characters of a text with the line breaks and spaces of its markup."""
_NUMBERS = re.compile(r"\d(?:\d{3}|[./-]\d{1,2}[./-]\d\d)")
_NAMED_DAYS = Words("dates.today", "dates.yesterday", "dates.day_before_yesterday", "dates.now")
_RELATIVE_WORDS = Words("dates.before_age", "dates.after_age", *_NAMED_DAYS.names)
"""A text without the numbers of a date is a date only with one of these words."""
_HINTED_WORDS = Words("dates.one", *_NAMED_DAYS.names)
"""A declared date without digits has one of these words."""
_TIME_AFTER = WordPattern(r"(?:[\s,|·•@-]*(?:{dates.at}|,|-)?\s*\d{1,2}[:.h]\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?)")
_WORD_BEFORE = re.compile(r"(?<![\w-])([^\W\d_][\w-]{1,13})[.,]?\s+\Z")
_WEEKDAYS = Words("calendar.weekdays", "dates.weekday")
_ENGLISH_WEEKDAYS = Words("calendar.weekdays", "dates.weekday", language="en")
_AMBIGUOUS = re.compile(r"(?<![\d./-])\d{1,4}([./-])\d{1,2}\1\d{2,4}(?![\d./-]*\d)")
_NAMED_DAY = WordPattern(
    r"(?<!\w)(?:{dates.today}|{dates.yesterday}|{dates.day_before_yesterday}|{dates.now}|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?=\W+(?:at\s)?\d))(?!\w)"
)
_SHORT_AGE = re.compile(r"(?<!\w)\d{1,3}\s?(?:s|m|h|d|w|y|mo|min|hr|yr)\.?(?:\s+ago)?(?!\w)", re.IGNORECASE)
_DAY_MONTH = re.compile(
    r"(?<!\w)(?:(\d{1,2})\.?\s+([^\W\d_]{3,12})|([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?)(?!\w)"
)


@lru_cache(maxsize=1_024)
def find_post_date(text: str, *, is_hinted: bool = False) -> tuple[str, datetime | None] | None:
    """Return a date in a short text as it is written, with its time if that is known, or None.

    The time of a relative date, a date without a year and 3/4/2024 is unknown. With `is_hinted`, markup declares a
    date: then forms without a year such as "May 3" and "5h" count too.
    """
    if len(text) > _MAX_CHARS or not (_may_be_hinted(text) if is_hinted else may_hold_date(text)):
        return None
    if written := date_parsing.match_date(text):
        return _with_time(text, written[0]), written[1]
    if match := _AMBIGUOUS.search(text) or date_parsing.AGE.search(text) or _NAMED_DAY.search(text):
        return _with_time(text, match), None
    if not is_hinted:
        return None
    if match := _DAY_MONTH.search(text):
        name = match[2] or match[3]
        if date_parsing.find_month(name):
            return _with_time(text, match), None
    match = _SHORT_AGE.fullmatch(text.strip())
    return (match[0], None) if match else None


def may_hold_date(text: str | None) -> bool:
    """Return False for most texts in which `find_post_date` finds no date without a hint."""
    if not text or len(text) > _MAX_SPACED or text.isspace():
        return False
    return _NUMBERS.search(text) is not None or _RELATIVE_WORDS.may_be_in(text.lower())


def _may_be_hinted(text: str) -> bool:
    return any(map(str.isdigit, text)) or _HINTED_WORDS.may_be_in(text.lower())


def _with_time(text: str, match: re.Match[str]) -> str:
    """Return the matched date with the day of the week before it and the time of day after it."""
    time = _TIME_AFTER.match(text, match.end())
    start = match.start()
    # Before a month, only English writes the day of the week; the word may also be the name of an author.
    weekdays = _ENGLISH_WEEKDAYS if text[start].isalpha() else _WEEKDAYS
    word = _WORD_BEFORE.search(text[:start])
    if word and word[1].lower() in weekdays.all:
        start = word.start()
    return text[start : time.end() if time else match.end()].strip()
