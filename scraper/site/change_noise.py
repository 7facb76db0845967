"""Recognize the lines of a page that change by themselves: clocks, ages, counts of views and likes, ids of requests."""

from __future__ import annotations

import re

from scraper.text.date_parsing import AGE, AGE_WORDS, DATE_FORMS
from scraper.words.matcher import WordPattern, Words

_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_UNIT = r"(?:s|m|h|d|sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?|weeks?|months?|years?)"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?(?:\s*(?:utc|gmt|ces?t|es?t|ps?t|edt|pdt|z))?"
_DAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?"
    rf"(?:\d{{4}}-\d\d-\d\d(?:t[\d:.]+(?:z|[+-]\d\d:?\d\d)?)?|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?\s+{_MONTH},?\s+\d{{4}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}})"
)
_COUNT = r"\d[\d.,\u00a0]{0,30}+(?:[km]|bn)?\+?"
"""A number. Possessive and bounded: eight thousand digits took 45 s."""
_ANY_DATE = "|".join(form.template for form, _ in DATE_FORMS)
"""A date in one of forty languages."""
_NOISE_PARTS = WordPattern(
    "|".join(
        (
            rf"(?:about |over |almost )?(?:\d+|an?|one|a few)\s*{_UNIT}(?:\s+(?:and\s+)?\d+\s*{_UNIT})*\s+ago\b",
            r"\bjust now\b",
            rf"\b(?:yesterday|today) at {_CLOCK}",
            r"(?:©|\(c\)|copyright)\s*(?:\d{4}\s*[-–]\s*)?\d{4}",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)[0-9a-f]{16,}\b",
        )
    )
)
"""Parts of a sentence that are noise anywhere: ages, the year of a copyright, random ids."""
_NOISE_LINE = WordPattern(
    "|".join(
        (
            rf"{_COUNT}\s*{{noise.counted}}\b|\b(?:{{noise.counted}}|{{noise.counted_label}})\s*[:(]\s*{_COUNT}\)?",
            rf"{{noise.counted_unspaced}}\s*[:：(（]?\s*{_COUNT}[)）]?",
            rf"{_COUNT}\s*{{noise.counter}}?\s*{{noise.counted_unspaced}}",
            r"{noise.updated}(?:\s+{noise.before_time})?\s*[:：]?\s*"
            rf"(?:(?:{_DAY}|{_ANY_DATE})(?:[ ,]+(?:{{dates.at}} )?{_CLOCK})?|{_CLOCK}|\W*$)",
            r"{noise.duration}\s*:?\s*\d[\d.,]*\s*(?:milliseconds?|ms|seconds?|sec|s)?\b",
            r"\b{noise.id}\b\s*[:#]?\s*(?=[\w.-]*\d)[\w.-]{6,}",
        )
    )
)
"""Noise if a line has nothing else: in a sentence, such a count may be a rule, a price or a result."""
_NOISE_WORDS = Words(
    *(f"noise.{name}" for name in "counted counted_label counted_unspaced updated duration id recent".split()),
    *AGE_WORDS.names,
)
_NOISE_SIGN = re.compile(r"©|\(c\)|[0-9a-f]{16}|[0-9a-f]{8}-")
"""A word or a sign without which no text is noise. They are for text in lower case."""
_LONE_CLOCK = re.compile(r"\W*(\d{1,2}):(\d{2})(?::\d{2})?\W*(?:[ap]\.?m\.?)?\W*", re.IGNORECASE)
_HALF_DAY_MIN = 12 * 60
_CLOCK_TOLERANCE_MIN = 3.0
"""Minutes by which a clock on a page may be late, because servers cache pages."""


def remove_noise(text: str) -> str:
    """Return a text without ages, copyright years and random ids; an empty one if it is only noise."""
    lower = text.lower()
    if not _NOISE_WORDS.may_be_in(lower) and not _NOISE_SIGN.search(lower):
        return text
    text = _NOISE_PARTS.sub(" ", text)
    text = AGE.sub(" ", text) if AGE.search(text) else text
    rest = _NOISE_LINE.sub(" ", text)
    return text if any(character.isalnum() for character in rest) else ""


def is_clock(old: str, new: str, elapsed_s: float) -> bool:
    """Return True if two lines are only a time of the day, and it went on as long as the time between them."""
    one, two = _LONE_CLOCK.fullmatch(old), _LONE_CLOCK.fullmatch(new)
    if one is None or two is None:
        return False
    went_min = 60 * (int(two[1]) - int(one[1])) + int(two[2]) - int(one[2])
    late_min = (went_min - elapsed_s / 60) % _HALF_DAY_MIN
    return min(late_min, _HALF_DAY_MIN - late_min) <= _CLOCK_TOLERANCE_MIN
