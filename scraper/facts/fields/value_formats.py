"""Recognize formats of values: prices, dates, phone numbers, email addresses, URLs, numbers and ISBNs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from scraper.facts.money import SIGN
from scraper.text.date_parsing import find_date
from scraper.words.matcher import WordPattern

MONEY = WordPattern(rf"{SIGN}\.?\s*\d(?:[\d.,\s']*\d)?|\d(?:[\d.,\s']*\d)?(?:,-|:-)?\s*{SIGN}\.?")
"""An amount with a currency sign or code before or after it."""
_AMOUNT = re.compile(r"[\d.,\s']+")
_DATE = re.compile(
    r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b|"
    r"\b[^\W\d_]{3,9}\.?\s+(?:\d{1,2}(?:st|nd|rd|th)?,?\s+)?(?:19|20)\d\d\b|"
    r"\b\d{1,2}(?:st|nd|rd|th)?\.?\s+[^\W\d_]{3,9}\.?,?\s+(?:19|20)\d\d\b|\A(?:19|20)\d\d\Z|"
    r"\b\d+\s+(?:minute|hour|day|week|month|year)s?\s+ago\b",
    re.IGNORECASE,
)
_PHONE = re.compile(
    r"(?<!\d)(?:\+\d{1,3}[\s./-]?|\d{1,3}(?:[\s./-]|(?=\()))?(?:\(\d{2,4}\)|\d{2,4})[\s./-]+"
    r"\d{2,4}[\s./-]?\d{2,5}(?:[\s./-]?\d{2,4})?(?!\d)"
)
_ISBN = re.compile(r"(?:97[89][\s-]?)?(?:\d[\s-]?){9}[\dXx]")
_ISBN_13 = re.compile(r"97[89][\s-]?(?:\d[\s-]?){9}\d")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
_SITE = re.compile(r"(?:https?://|www\.)[^\s<>]+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|de|uk|fr|info)\b\S*")
_NUMBER = re.compile(r"\d[\d.,]*")

_PATTERNS: Mapping[str, tuple[re.Pattern[str] | WordPattern, float]] = MappingProxyType(
    {
        "date": (_DATE, 0.4),
        "email": (_EMAIL, 0.5),
        "isbn": (_ISBN, 0.5),
        "isbn_13": (_ISBN_13, 0.5),
        "money": (MONEY, 0.5),
        "phone": (_PHONE, 0.5),
        "site": (_SITE, 0.9),
    }
)
"""Pattern of each format, and the minimum share of the text that a match must cover."""


def rate_format(kind: str, text: str) -> float:
    """Return the fit of a text to a format, from -1 (does not contain it) to 1 (is a value of it).

    Return 0 for an unknown format.
    """
    if kind == "number":
        return 0.6 if _NUMBER.search(text) and len(text) < 40 else -0.8
    if kind == "title":
        return 0.1 if 2 < len(text) < 200 and not MONEY.fullmatch(text) else -0.5
    if kind not in _PATTERNS:
        return 0.0
    pattern, share = _PATTERNS[kind]
    match = pattern.search(text[:400])
    if match is None:
        return 0.1 if kind == "money" and _AMOUNT.fullmatch(text) else -1.0
    return 1.0 if len(match[0]) >= share * len(text) else 0.4


def find_value(kind: str, text: str) -> str:
    """Return the letters and digits of the first value of a format in a text; empty if there is none."""
    match = _PATTERNS[kind][0].search(text[:400])
    return re.sub(r"\W", "", match[0]).lower() if match else ""


def find_price(text: str) -> str:
    """Return the first price in a text, or an empty string."""
    match = MONEY.search(text)
    return match[0].strip() if match else ""


def find_day(text: str) -> str:
    """Return the first text in the form of a date as written there; empty if there is none or it is not a date."""
    match = _DATE.search(text)
    return match[0] if match and (find_date(match[0]) or "ago" in match[0].lower()) else ""
