"""Dates as pages write them for machines, made aware."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["in_text", "in_url", "parse"]

_EARLIEST, _LATEST = 1990, 2100
"""Outside of these years a date is a placeholder or a slip."""

_MAX_CHARS = 64
_NUMBERS = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_URL_DATE = re.compile(r"/((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?=[/-]|$)")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º)?[.\-/]?\s*(?:de |of )?([^\W\d_]{3,12})"
    r"[.\-/]?,?\s*(?:de |del )?(\d{4})(?!\d)"
)
_MONTH_DAY = re.compile(r"(?<!\w)([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)")
_IDEOGRAPHIC = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_DOTTED = re.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\.?\d)")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?![\d/])")
_BEGINNINGS = (
    "jan ene gen янв sty led tam oca ιαν",
    "feb fév fev fevr lut úno hel şub фев φεβ",
    "mar mär mrt maa мар bře μαρ",
    "apr abr avr ápr апр kwi dub huh nis απρ",
    "may mai maj mei mag máj мая май kvě tou μαϊ μάι",
    "jun jui giu jún июн cze čer kes haz ιουν",
    "jul juil lug júl июл lip hei tem ιουλ",
    "aug ago aoû aou avg авг sie srp elo ağu αυγ",
    "sep set syy сен wrz zář eyl szept σεπ",
    "oct okt ott out oca окт paź říj lok eki οκτ",
    "nov ноя lis mar kas νοε",
    "dec dez dic dez déc des дек gru pro jou ara δεκ",
)
"""How months begin, in some twenty languages; where two share a beginning the longer one decides."""
_MONTHS = {
    beginning: number
    for number, row in reversed([*enumerate(_BEGINNINGS, start=1)])
    for beginning in row.split()
}


def parse(text: str) -> datetime | None:
    """The moment a text names; a bare date stands at midnight UTC, None is no date."""
    text = text.strip()[:_MAX_CHARS]
    moment = _iso(text) or _mail(text) or _numbers(text) or _words(text)
    return moment if moment and _EARLIEST <= moment.year < _LATEST else None


def in_text(text: str) -> datetime | None:
    """The first date in a short text for people; numbers that may be read in two ways are none."""
    moment = _ideographic(text) or _dotted(text) or _words(text) or _numbers(text) or _slashed(text)
    return moment if moment and _EARLIEST <= moment.year < _LATEST else None


def in_url(url: str) -> datetime | None:
    """The date in a path such as /2024/05/17/."""
    match = _URL_DATE.search(url)
    return _day(*match.groups()) if match else None


def _iso(text: str) -> datetime | None:
    if not text[:4].isdigit():
        return None
    try:
        return _aware(datetime.fromisoformat(text))
    except ValueError:
        return None


def _mail(text: str) -> datetime | None:
    """As RFC 5322 and feeds have it: Tue, 02 Jan 2024 10:00:00 GMT."""
    if ":" not in text or text[:4].isdigit():
        return None
    try:
        return _aware(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _numbers(text: str) -> datetime | None:
    match = _NUMBERS.search(text)
    return _day(*match.groups()) if match else None


def _words(text: str) -> datetime | None:
    match = _DAY_MONTH.search(text)
    if match:
        day, month, year = match.groups()
    else:
        match = _MONTH_DAY.search(text)
        if match is None:
            return None
        month, day, year = match.groups()
    number = _month(month.lower())
    return _day(year, str(number), day) if number else None


def _month(name: str) -> int | None:
    """By the longest beginning that is known; `juillet` is not `juin`, nor `marraskuuta` March."""
    if name.startswith(("marras", "listop", "lokak")):
        return 10 if name.startswith("lok") else 11
    return next((_MONTHS[name[:size]] for size in (5, 4, 3) if name[:size] in _MONTHS), None)


def _ideographic(text: str) -> datetime | None:
    match = _IDEOGRAPHIC.search(text)
    return _day(*match.groups()) if match else None


def _dotted(text: str) -> datetime | None:
    match = _DOTTED.search(text)
    return _day(match[3], match[2], match[1]) if match else None


def _slashed(text: str) -> datetime | None:
    """12/25/2024 and 25/12/2024 can be read in one way only, 3/4/2024 in two."""
    match = _SLASHED.search(text)
    if match is None:
        return None
    one, two = int(match[1]), int(match[2])
    if one > 12 or one == two:
        return _day(match[3], match[2], match[1])
    return _day(match[3], match[1], match[2]) if two > 12 else None


def _day(year: str, month: str, day: str) -> datetime | None:
    try:
        return datetime(int(year), int(month), int(day), tzinfo=UTC)
    except ValueError:
        return None


def _aware(moment: datetime) -> datetime | None:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None
