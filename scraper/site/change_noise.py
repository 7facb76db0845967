"""Recognize the parts of a page that change by themselves: ages, clocks, counts of visitors, ids of requests."""

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
_COUNTS = WordPattern(
    rf"{_COUNT}\s*{{noise.counted}}\b|"
    rf"\b(?:(?!points?\b|online\b){{noise.counted}}|{{noise.counted_label}})\s*[:(]\s*{_COUNT}\)?|"
    rf"{{noise.counted_unspaced}}\s*[:：(（]?\s*{_COUNT}[)）]?|{_COUNT}\s*{{noise.counter}}?\s*{{noise.counted_unspaced}}"
)
"""Numbers of visitors and their reactions, which change on each visit."""
_LIMIT = WordPattern(r"\b{noise.limit}\b")
_NOISE = WordPattern(
    "|".join(
        (
            rf"(?:about |over |almost )?(?:\d+|an?|one|a few)\s*{_UNIT}(?:\s+(?:and\s+)?\d+\s*{_UNIT})*\s+ago\b",
            r"\bjust now\b",
            rf"\b(?:yesterday|today) at {_CLOCK}",
            # A word for an update is noise only with its time.
            r"{noise.updated}(?:\s+{noise.before_time})?\s*[:：]?\s*"
            rf"(?:(?:{_DAY}|{_ANY_DATE})(?:[ ,]+(?:{{dates.at}} )?{_CLOCK})?|{_CLOCK})",
            r"{noise.duration}\s*:?\s*\d[\d.,]*\s*(?:ms|s|sec|seconds?|milliseconds?)?",
            r"\b{noise.id}\b\s*[:#]?\s*(?=[\w.-]*\d)[\w.-]{6,}",
            r"(?:©|\(c\)|copyright)\s*(?:\d{4}\s*[-–]\s*)?\d{4}",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)[0-9a-f]{16,}\b",
            rf"\b{_CLOCK}(?=\s*{{noise.countdown}})|\b{{noise.ends}} [\d :hms]+",
        )
    )
)
_NOISE_WORDS = Words(
    *(
        f"noise.{name}"
        for name in "counted counted_label counted_unspaced updated duration id countdown ends recent".split()
    ),
    *AGE_WORDS.names,
)
_NOISE_SIGN = re.compile(r"©|\(c\)|[0-9a-f]{16}|[0-9a-f]{8}-")
"""A word or a sign without which no text is noise. They are for text in lower case."""
_LONE = re.compile(rf"\W*(?:{_DAY}|{_CLOCK}|{_COUNT})(?:[ ,]+{_CLOCK})?\W*", re.IGNORECASE)
"""A block that is only a date, a time or a number."""
_BOILERPLATE = re.compile(
    r"(?:edit|improve) (?:this|on)\b.{0,40}|share (?:this|on)\b.{0,30}|follow us\b.{0,30}|subscribe\b.{0,40}|"
    r"sign up\b.{0,30}|(?:you (?:may|might) also|related|recommended|trending|most (?:read|popular)|popular|"
    r"read (?:more|next))\b.{0,40}|(?:advertisement|sponsored|promoted|previous|next|table of contents)\W*",
    re.IGNORECASE,
)
"""A short block of the page's frame."""


def remove_noise(text: str) -> str:
    """Return the text without ages, clocks, counts and ids."""
    lower = text.lower()
    if not _NOISE_WORDS.may_be_in(lower) and not _NOISE_SIGN.search(lower):
        return text
    text = _NOISE.sub(" ", text)
    if not _LIMIT.search(text):
        text = _COUNTS.sub(" ", text)
    return AGE.sub(" ", text) if AGE.search(text) else text


def is_lone_value(text: str) -> bool:
    """Return True if a block is only a date, a time or a number."""
    return _LONE.fullmatch(text) is not None


def is_boilerplate(text: str) -> bool:
    """Return True if a short block belongs to the frame of the page, such as "Share this"."""
    return _BOILERPLATE.fullmatch(text) is not None
