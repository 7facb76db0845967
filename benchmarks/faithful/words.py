"""Words of texts and spellings of dates, without regard to markup, case and punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date

_WORD = re.compile(r"[^\W_]+")
_TIME = re.compile(r"(?<=\d)[Tt](?=\d)")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.IGNORECASE)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONTHS = "January February March April May June July August September October November December".split()


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _WORD.findall(_ORDINAL.sub("", _TIME.sub(" ", plain)).lower())


def squash(text: str) -> str:
    """Return letters and digits of a text alone."""
    return "".join(words(text))


def find_words(needle: Sequence[str], text: Sequence[str], start: int = 0, end: int | None = None) -> int:
    """Return the position of a run of words between `start` and `end`, or -1."""
    if not needle:
        return -1
    limit = (len(text) if end is None else min(end, len(text))) - len(needle)
    first, wanted = needle[0], list(needle)
    for at in range(max(start, 0), limit + 1):
        if text[at] == first and text[at : at + len(wanted)] == wanted:
            return at
    return -1


def date_spellings(text: str) -> list[list[str]]:
    """Return the ways to write a date as words: as given, and those usual in English if it begins in ISO form."""
    found = _ISO_DATE.match(text)
    if not found:
        return [words(text)]
    year, month, day = (int(part) for part in found.groups())
    name = _MONTHS[month - 1]
    short = str(year)[2:]
    day_first = date(year, month, day).strftime("%d")
    days, months = {str(day), day_first}, {str(month), f"{month:02}"}
    names = {name, name[:3], "Sept" if month == 9 else name[:3]}
    spellings = [found[0], f"{year} {month} {day}"]
    for d in days:
        spellings += [f"{d} {n} {y}" for n in names for y in (year, short)]
        spellings += [f"{n} {d} {y}" for n in names for y in (year, short)]
        spellings += [f"{n} {d}, '{short}" for n in names]
        for m in months:
            spellings += [
                f"{d} {m} {year}",
                f"{m} {d} {year}",
                f"{m} {d} {short}",
                f"{d} {m} {short}",
                f"{year} {m} {d}",
            ]
    return [words(spelling) for spelling in spellings]


def has_date(accepted: Sequence[str], text: Sequence[str]) -> bool:
    """Return True if the words hold one of the dates in a usual spelling."""
    return any(find_words(spelling, text) >= 0 for each in accepted for spelling in date_spellings(each))
