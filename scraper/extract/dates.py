"""Dates as pages write them for machines, made aware."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["in_url", "parse"]

_EARLIEST, _LATEST = 1990, 2100
"""Outside of these years a date is a placeholder or a slip."""

_MAX_CHARS = 64
_NUMBERS = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_URL_DATE = re.compile(r"/((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?=[/-]|$)")
_DAY_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\.?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})")
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def parse(text: str) -> datetime | None:
    """The moment a text names; a bare date stands at midnight UTC, None is no date."""
    text = text.strip()[:_MAX_CHARS]
    moment = _iso(text) or _mail(text) or _numbers(text) or _words(text)
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
    name = month[:3].lower()
    return _day(year, str(_MONTHS.index(name) + 1), day) if name in _MONTHS else None


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
