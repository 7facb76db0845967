"""Parse dates in machine formats, in texts and at the start of search snippets, in some fifty languages."""

import re
import unicodedata
from collections import defaultdict
from datetime import UTC, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from itertools import chain, product
from typing import NamedTuple

from scraper.text.terms import fold_text
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern, Words, load_once, read_topic

_MONTHS = "january february march april may june july august september october november december".split()
"""Names of the lists of month names in `calendar` and of more spellings in `dates`."""
MONTHS_AND_DAYS = (
    *(f"{topic}.{month}" for topic in ("calendar", "dates") for month in _MONTHS), "calendar.weekdays", "dates.weekday",
)  # fmt: skip
"""Lists of the names of months and days of the week."""


_MIN_ABBREVIATION, _MIN_STEM = 3, 4
"""Letters of an abbreviation, and of the part of a name that all its cases share."""
_MAX_ENDING, _MAX_CASE = 2, 4
"""Letters at the end of a name that another case replaces, and letters that replace them: `červenec`, `července`."""


class MonthNames(NamedTuple):
    """Number of each month by its names in all languages, and by their beginnings."""

    names: dict[str, int]
    abbreviations: dict[str, int]
    """Names and their beginnings."""
    stems: dict[str, int]
    """Names without their last letters, which depend on the case."""


@load_once
def read_month_names() -> MonthNames:
    """Return the names of months, also without accents. If languages share a name, the first of the table decides."""
    rows: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for topic, (number, month) in product(("calendar", "dates"), enumerate(_MONTHS, start=1)):
        for language, names in read_topic(topic)[month].items():
            rows[language] += ((number, name) for name in names)
    found = MonthNames({}, {}, {})
    for number, name in chain.from_iterable(rows.values()):
        for spelling in (name, fold_text(name)):
            found.names.setdefault(spelling, number)
    for name, number in found.names.items():
        for size in range(_MIN_ABBREVIATION, len(name)):
            found.abbreviations.setdefault(name[:size], number)
        for size in range(max(_MIN_STEM, len(name) - _MAX_ENDING), len(name) + 1):
            found.stems.setdefault(name[:size], number)
    found.abbreviations.update(found.names)
    return found


_FORMS = read_table(__package__, "date_forms.toml")
DATE_FORMS = tuple(
    (WordPattern(template.replace("NAME", r"([^\W\d_]{3,14})")), order) for order, template in _FORMS["forms"]
)
"""Written dates and the order of year, month and day; day and month of the last form may be exchanged."""
_ASCII_FORMS = tuple(form for form in DATE_FORMS if "{calendar.marked}" not in form[0].template)
"""Forms without the names of months that no ASCII text contains; their search takes a third of the time."""

_YEAR_DIGITS = re.compile(r"\d{4}")
"""Part of each of the forms."""

_EARLIEST, _LATEST = 1990, 2100
"""Years. Dates of pages outside of this range are placeholders or errors."""

_MAX_CHARS = 64
_MIDNIGHT = time()
_URL_DATE = re.compile(
    r"/(?:((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?=[/-]|$)|(20\d{2})(0[1-9]|1[0-2])([0-2]\d|3[01])(?=[/_.-]|$))"
)
_EPOCH_DIGITS = (10, 13)
"""Digits of seconds or milliseconds of the years 2001 to 2033, which begin with 1; a year begins with 20."""
_COMPACT = re.compile(r"(20\d\d)(\d\d)(\d\d)(?:\d{2}){0,3}", re.ASCII)
_YEAR_MONTH = re.compile(r"((?:19|20)\d\d)[-/.](0?[1-9]|1[0-2])", re.ASCII)
_DAY_BESIDE = re.compile(r"([^\W\d_]{2,})(?:-feira)?\W{0,3}\Z|\A\s*[(,]\s*([^\W\d_]{2,})\b")
"""A word at the end of the text before a date, or in brackets or after a comma at the start of the text behind it."""
_UNITED_STATES = re.compile(r"[1-9]\d?/[1-9]/\d{4},?\s\d{1,2}:\d\d(?::\d\d)?\s?[AaPp]\.?[Mm]\b")
"""Numbers as programs write them in the United States. Of the countries that write hours with AM or PM, only these
write months without a leading zero."""
_DRUPAL = re.compile(r"\d\d/\d\d/\d{4} - \d\d:\d\d")
"""The default format of Drupal behind a day of the week. Its month comes first."""
_ZONE_NAME = re.compile(r"\b(?:GMT|UTC)(?=[+-]\d)")
_MIN_BUDDHIST_YEAR, _BUDDHIST_OFFSET = 2400, 543
"""Years. Years above this are of the Buddhist era, which is ahead by the offset."""

_CROATIAN_OCTOBER = re.compile(r"\d\.\s*listopada", re.IGNORECASE)
"""In Polish, which writes no dot after the day, the word is November."""


def find_month(name: str) -> int | None:
    """Return the number of a month by its name, an abbreviation or another case of it, or None."""
    name = name.lower()
    months = read_month_names()
    if name in months.abbreviations:
        return months.abbreviations[name]
    beginnings = (name[:size] for size in range(len(name) - 1, max(_MIN_STEM, len(name) - _MAX_CASE) - 1, -1))
    return next((months.stems[beginning] for beginning in beginnings if beginning in months.stems), None)


def parse_date(text: str, *, earliest: int = _EARLIEST) -> datetime | None:
    """Return the moment in a text in UTC, or None. `earliest` is the first year of machine formats.

    A date without a time is midnight UTC, and so is midnight in any time zone. A time without a zone is in UTC.
    """
    text = text.strip()[:_MAX_CHARS]
    moment = _parse_standard(text) or _parse_digits(text)
    return _check_year(moment, earliest) if moment else find_date(text)


def find_date(text: str) -> datetime | None:
    """Return a date in a short text, or None. Numbers such as 3/4/2024 are ignored if nothing tells their order."""
    found = match_date(text)
    return _check_year(found[1]) if found else None


def match_date(text: str) -> tuple[re.Match[str], datetime] | None:
    """Return the match of the first form in `DATE_FORMS` that is a date, of any year, with its date, or None."""
    if _YEAR_DIGITS.search(text):
        for form, order in _ASCII_FORMS if text.isascii() else DATE_FORMS:
            match = form.search(text)
            if match and (moment := _build_date(match, order)):
                return match, moment
    return None


def find_url_date(url: str) -> datetime | None:
    """Return the date in a path such as /2024/05/17/ or /20240517/, or None."""
    match = _URL_DATE.search(url)
    return _make_date(*filter(None, match.groups())) if match else None


def _check_year(moment: datetime, earliest: int = _EARLIEST) -> datetime | None:
    return moment if earliest <= moment.year < _LATEST else None


def _parse_standard(text: str) -> datetime | None:
    """Parse ISO 8601, or the format of RFC 5322 and of feeds: Tue, 02 Jan 2024 10:00:00 GMT."""
    try:
        if text[:4].isdigit():
            return _to_utc(datetime.fromisoformat(text))
        return _to_utc(parsedate_to_datetime(_ZONE_NAME.sub("", text))) if ":" in text else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _parse_digits(text: str) -> datetime | None:
    """Parse digits only: seconds or milliseconds since 1970, a year with a month, or also a day without separators."""
    if match := _YEAR_MONTH.fullmatch(text):
        return _make_date(match[1], match[2], 1)
    if text.startswith("1") and len(text) in _EPOCH_DIGITS and text.isascii() and text.isdecimal():
        return datetime.fromtimestamp(int(text[:10]), UTC)
    match = _COMPACT.fullmatch(text)
    return _make_date(*match.groups()) if match else None


def _build_date(match: re.Match[str], order: str, *, day_first: bool = False) -> datetime | None:
    """Return the date of a match of one of `DATE_FORMS`, or None; `order` is the order of its groups.

    With `day_first`, 3/4/2024 is in April; otherwise the text beside it decides. 12/25/2024 and 25/12/2024 are never
    ambiguous.
    """
    parts = dict(zip(order.replace("??", "dm"), match.groups(), strict=True))
    name, day, year = parts["m"], int(parts["d"]), int(parts["y"])
    month = int(name) if name.isdecimal() else find_month(name) or 0
    month = 10 if _CROATIAN_OCTOBER.search(match[0]) else month
    if order == "??y" and not day_first and month != day and max(month, day) <= 12:
        return _resolve_order(match, _make_date(year, month, day), _make_date(year, day, month))
    if (order == "??y" or day_first) and month > 12 >= day:
        month, day = day, month
    return _make_date(year - _BUDDHIST_OFFSET if year > _MIN_BUDDHIST_YEAR else year, month, day)


def _resolve_order(match: re.Match[str], day_first: datetime | None, month_first: datetime | None) -> datetime | None:
    """Return the one of two readings of a date that the day of the week beside it or its format confirms, or None."""
    beside = [_DAY_BESIDE.search(part) for part in (match.string[: match.start()], match.string[match.end() :])]
    words = [(found[1] or found[2]).lower() for found in beside if found]
    weeks = read_topic("calendar")["weekdays"].values()
    named = {number for week in weeks for number, day in enumerate(week) for word in words if day.startswith(word)}
    fitting = [moment for moment in (day_first, month_first) if moment and moment.weekday() in named]
    if len(fitting) == 1:
        return fitting[0]
    if named and not fitting:
        return None
    return month_first if (_DRUPAL if fitting else _UNITED_STATES).match(match.string, match.start()) else None


def _make_date(year: str | int, month: str | int, day: str | int) -> datetime | None:
    try:
        return datetime(int(year), int(month), int(day), tzinfo=UTC)
    except ValueError:
        return None


def _to_utc(moment: datetime) -> datetime | None:
    if moment.tzinfo is None or moment.time() == _MIDNIGHT:
        # Midnight in any time zone stands for the day only, and conversion to UTC could change the day.
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None


_MAX_LEAD = 60
"""Characters. A date at the start of a snippet, with its separator, is shorter."""

_DAY = timedelta(days=1)
_UNITS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": _DAY,
    "week": 7 * _DAY,
    "month": 30 * _DAY,
    "year": 365 * _DAY,
}
AGE_WORDS = Words("dates.before_age", "dates.after_age")
AGE = WordPattern(
    r"(?:(?<![^\W\d_])({dates.before_age})\s+)?(?P<amount>\d{1,3}|{dates.one})\+?\s*"
    rf"(?:{'|'.join(f'(?P<{unit}>{{dates.{unit}|calendar.{unit}}})' for unit in _UNITS)})"
    r"(?(1)(?![^\W\d])|\s*{dates.after_age}(?![^\W\d_a-z]))",
    required=AGE_WORDS,
)
"""An age such as "2 days ago": the group `amount`, and a group with the name of the unit."""
_PAST_DAY = WordPattern(r"(?:(?P<yesterday>{dates.yesterday})|{dates.day_before_yesterday})(?!\w)")
_WITHOUT_YEAR = tuple(map(WordPattern, _FORMS["without_year"]))
_BEFORE_DATE = re.compile(r"\W{0,3}")
_NUMBER_GOES_ON = re.compile(r"[\d:.,]?\d")
_SEPARATOR = re.compile(r"\s*(?:[·•—–|:：-]|\.\.\.|…)?\s*")
_STRONG_SEPARATOR = re.compile(r"\s*(?:[·•—–|-](?=\s|$|[^\W\d])|\.\.\.|…)")


def split_date(snippet: str, now: datetime) -> tuple[datetime | None, str]:
    """Return the date at the start of a snippet, or None, and the text after it.

    A date that belongs to a sentence ("Jan 7, 2024 was a Sunday") stays. Only a date before a separator, an upper case
    letter or a letter of a script without case was added by the engine.
    """
    lead = unicodedata.normalize("NFC", snippet[:_MAX_LEAD])
    moment, end = parse_leading_date(lead, now)
    if moment is None or not lead[end:].strip():
        return (moment, "") if moment is not None else (None, snippet)
    rest = lead[end:] + snippet[_MAX_LEAD:]
    if _STRONG_SEPARATOR.match(rest):
        return moment, _SEPARATOR.sub("", rest, count=1)
    stripped = rest.lstrip()
    begins_text = stripped[:1].isalpha() and not stripped[:1].islower()
    return (moment, stripped) if begins_text or lead[end - 1] > "\u2e7f" else (None, snippet)


def parse_leading_date(text: str, now: datetime) -> tuple[datetime | None, int]:
    """Return the date at the start of a text and the offset of its end; a date without time is midnight UTC.

    Relative dates count back from `now`. A date without a year is the most recent one. Ambiguous numbers are read with
    the day first. Without a date, the result is None and 0.
    """
    lead = unicodedata.normalize("NFC", text[:_MAX_LEAD])
    start = len(_BEFORE_DATE.match(lead)[0])  # type: ignore[index]
    for form, order in DATE_FORMS:
        match = form.match(lead, start)
        if match and not _NUMBER_GOES_ON.match(lead, match.end()):
            moment = _build_date(match, order, day_first=True)
            if moment and 1900 <= moment.year < _LATEST:
                return moment, match.end()
    for age in (AGE, _PAST_DAY):
        if match := age.match(lead, start):
            return (now - read_age(match)[0]).astimezone(UTC), match.end()
    for short in _WITHOUT_YEAR:
        if (match := short.match(lead, start)) and not _NUMBER_GOES_ON.match(lead, match.end()):
            month = int(match[1]) if match[1].isdecimal() else find_month(match[1]) or 0
            recent = (_make_date(year, month, match[2]) for year in (now.year, now.year - 1))
            return next((moment for moment in recent if moment and moment <= now), None), match.end()
    return None, 0


def read_age(match: re.Match[str]) -> tuple[timedelta, timedelta]:
    """Return the age that `AGE` matched, and its unit."""
    found = match.groupdict()
    if "amount" not in found:
        return (_DAY if found["yesterday"] else 2 * _DAY), _DAY
    unit = next(unit for name, unit in _UNITS.items() if found[name])
    return unit * (int(found["amount"]) if found["amount"].isdigit() else 1), unit
