"""Parse durations of recipes: ISO 8601, a number of minutes, or words in a dozen languages."""

from __future__ import annotations

import re

from scraper.words.matcher import WordPattern

_UNITS = {"day": 1440.0, "hour": 60.0, "minute": 1.0, "second": 1 / 60}
"""Minutes of each unit."""
_ISO = re.compile(
    r"P(?:0+(?:\.0+)?Y)?(?:0+(?:\.0+)?M)?(?:(\d{1,3})W)?(?:(\d{1,6}(?:\.\d+)?)?D)?T?(?:(\d{1,6}(?:\.\d+)?)?H)?(?:(\d{1,6}(?:\.\d+)?)?M)?(?:(\d{1,6}(?:\.\d+)?)?S)?",
    re.IGNORECASE,
)
_WITH_UNITS = WordPattern(
    r"(\d{1,5}(?:[.,]\d{1,2})?)\s*(?:"
    + "|".join(f"(?P<{unit}>{{dates.{unit}|calendar.{unit}|dates.{unit}_in_durations}})" for unit in _UNITS)
    + r")(?![a-zà-ÿ])\.?"
)
_BETWEEN = WordPattern(r"[\s,.:&+]*{dates.and}?[\s,]*")
_BARE_MINUTES = re.compile(r"(?<=\d)(\s?h)\s?([0-5]?\d)(?![\d.,:]*\d|\s?[^\W\d_]|\s?['′])", re.IGNORECASE)
"""`1h30`: a number without a unit after hours is minutes."""
_NEGATIVE = re.compile(r"-\s*P[T\d]|P[TDHMSWY\d.]*-\d", re.IGNORECASE)
_HALF = re.compile(r"(\d+)\s*(?:½|1/2)|(½|\b1/2)")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")

_MAX_MINUTES = 100_000
"""Minutes: ten weeks. No recipe ferments longer."""
_LEAST_WITH_SECONDS = 5.0
"""Minutes. A shorter time with seconds, such as 45 seconds, has its minutes in the wrong field."""
_MAX_CHARACTERS = 100


def parse_minutes(text: str | None) -> int | None:
    """Return whole minutes, or None if the text names no duration.

    A number without a unit is minutes, `1:30` is hours and minutes. Negative durations, those over `_MAX_MINUTES`, and
    ISO 8601 durations with seconds below five minutes also return None.
    """
    text = (text or "").strip()[:_MAX_CHARACTERS]
    if not text or _NEGATIVE.match(text):
        return None
    text = _BARE_MINUTES.sub(r"\1\2M", text)
    iso = _ISO.fullmatch(text.replace(" ", ""))
    if iso is not None and any(iso.groups()):
        found = _sum_parts(*(float(part or 0) for part in iso.groups()))
    else:
        found = float(text) if text.isascii() and text.isdecimal() else _parse_units(text)
    return int(found) if found is not None and 0 <= found <= _MAX_MINUTES else None


def _sum_parts(weeks: float, days: float, hours: float, whole: float, seconds: float) -> float | None:
    total = (weeks * 7 + days) * 1440 + hours * 60 + whole + seconds / 60
    return None if seconds and total < _LEAST_WITH_SECONDS else total


def _parse_units(text: str) -> float | None:
    """Parse the first sequence of numbers with units, such as `1 hr 20 min`."""
    clock = _CLOCK.fullmatch(text)
    if clock:
        return int(clock.group(1)) * 60.0 + int(clock.group(2))
    text = _HALF.sub(lambda match: f"{match.group(1) or 0}.5", text)
    total: float | None = None
    end = 0
    for match in _WITH_UNITS.finditer(text):
        if total is not None and not _BETWEEN.fullmatch(text[end : match.start()]):
            break
        unit = next(name for name in _UNITS if match.group(name))
        total = (total or 0.0) + float(match.group(1).replace(",", ".")) * _UNITS[unit]
        end = match.end()
    return total
