"""Dates as pages write them for machines, made aware."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time
from email.utils import parsedate_to_datetime

_BEGINNINGS = (
    "jan ene gen ian jaa янв яну січ јан led sty siječ tam oca ιαν ינו ינוא sau בינו ينا",
    "feb fév fev fevr vee lut úno hel şub velj фев лют φεβ vas פבר בפבר فبر شبا",
    "mar mär mrt maa мар бер бре bře ožu μαρ kov מרץ במרץ مار آذا",
    "apr abr avr ápr апр кві kwi dub huh nis travn απρ bal אפר באפר أبر ابر نيس",
    "may mai maj mei mag máj maí мая май мај тра kvě tou svib μαϊ μάι μαΐ geg במאי ماي أيا",
    "jun jui giu jún iun juun июн јун юни чер cze čer kes haz lipnj ιουν jūn birž יונ ביונ يون حزي",
    "jul juil lug júl iul juul июл јул юли лип lip hei tem srpnj ιουλ jūl liep יול ביול يول تمو",
    "aug ago aoû aou avg agu ágú авг сер sie srp elo ağu kol αυγ rugpj אוג באוג أغس اغس",
    "sep set syy сен сеп вер wrz zář eyl ruj szept σεπ rugsė ספט בספט سبت أيل",
    "oct okt ott out oca окт жов paź říj lok eki οκτ spal אוק באוק أكت اكت",
    "nov noi noe ноя ное лис lis mar kas stud νοε lapk נוב בנוב نوف",
    "dec dez dic dez det des déc дек дец гру gru pro jou ara δεκ דצמ בדצמ ديس",
)
"""In some languages two share a beginning; there the longer one decides, or the names below."""
_MONTHS = {
    beginning: number
    for number, row in reversed([*enumerate(_BEGINNINGS, start=1)])
    for beginning in row.split()
}
_WHOLE = {"marras": 11, "listop": 11, "lokak": 10}

_MARKED = (
    "มกราคม ม.ค. जनवरी জানুয়ারি",
    "กุมภาพันธ์ ก.พ. फरवरी फ़रवरी ফেব্রুয়ারি",
    "มีนาคม มี.ค. मार्च মার্চ",
    "เมษายน เม.ย. अप्रैल এপ্রিল",
    "พฤษภาคม พ.ค. मई মে",
    "มิถุนายน มิ.ย. जून জুন",
    "กรกฎาคม ก.ค. जुलाई জুলাই",
    "สิงหาคม ส.ค. अगस्त আগস্ট",
    "กันยายน ก.ย. सितंबर सितम्बर সেপ্টেম্বর",
    "ตุลาคม ต.ค. अक्टूबर अक्तूबर অক্টোবর",
    "พฤศจิกายน พ.ย. नवंबर नवम्बर নভেম্বর",
    "ธันวาคม ธ.ค. दिसंबर दिसम्बर ডিসেম্বর",
)
MARKED_MONTHS = {name: number for number, row in enumerate(_MARKED, start=1) for name in row.split()}
"""Thai, Hindi, Bengali: their vowels are no letters to a regular expression."""


def find_month(name: str) -> int | None:
    """The month by the longest beginning that is known; `juillet` is not `juin`, nor `marraskuuta` March."""
    name = name.lower()
    whole = next((month for beginning, month in _WHOLE.items() if name.startswith(beginning)), None)
    return whole or next((_MONTHS[name[:size]] for size in (5, 4, 3) if name[:size] in _MONTHS), None)


_EARLIEST, _LATEST = 1990, 2100
"""Outside of these years a date is a placeholder or a slip."""

_MAX_CHARS = 64
_MIDNIGHT = time()
_NUMBERS = re.compile(r"(\d{4})(?:[-/]|\.\s?)(\d{1,2})(?:[-/]|\.\s?)(\d{1,2})(?!\d)")
_URL_DATE = re.compile(r"/((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?=[/-]|$)")
_URL_DIGITS = re.compile(r"/(20\d{2})(0[1-9]|1[0-2])([0-2]\d|3[01])(?=[/_.-]|$)")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º)?[.\-/]?\s*(?:de |of )?([^\W\d_]{3,12})"
    r"[.\-/]?,?\s*(?:de |del )?(\d{4})(?!\d)"
)
_MONTH_DAY = re.compile(r"(?<!\w)([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)")
_IDEOGRAPHIC = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_DOTTED = re.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\.?\d)")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?![\d/])")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})(?:\.|\s?m\.)?\s+([^\W\d_]{3,12})\.?\s+(\d{1,2})(?!\d)")
_FORMS = ((_DAY_MONTH, (3, 2, 1)), (_MONTH_DAY, (3, 1, 2)), (_YEAR_FIRST, (1, 2, 3)))
"""Dates with the name of a month, and which groups hold year, month and day."""
_VIETNAMESE = re.compile(r"(?<!\d)(\d{1,2})\s+tháng\s+(\d{1,2})(?:,|\s+năm)?\s+(\d{4})(?!\d)", re.IGNORECASE)
_MARKED_MONTH = re.compile(
    rf"(?<!\d)(\d{{1,2}})\s*({'|'.join(map(re.escape, sorted(MARKED_MONTHS, key=len, reverse=True)))})"
    r",?\s*(?:พ\.ศ\.\s*)?(\d{4})(?!\d)"
)
_EPOCH = re.compile(r"1\d{9}(?:\d{3})?", re.ASCII)
"""Seconds or milliseconds of the years 2001 to 2033; what begins with 20 is a year."""
_COMPACT = re.compile(r"(20\d\d)(\d\d)(\d\d)(?:\d{2}){0,3}", re.ASCII)
_ZONE_NAME = re.compile(r"\b(?:GMT|UTC)(?=[+-]\d)")
_BUDDHIST, _BUDDHIST_AHEAD = 2400, 543
"""Years above the one are counted from the death of the Buddha, by so many more."""


def parse_date(text: str) -> datetime | None:
    """The moment a text names; a bare date stands at midnight UTC, None is no date."""
    text = text.strip()[:_MAX_CHARS]
    moment = _iso(text) or _mail(text) or _digits(text) or _for_people(text)
    return moment if moment and _EARLIEST <= moment.year < _LATEST else None


def find_date(text: str) -> datetime | None:
    """The first date in a short text for people; numbers that may be read in two ways are none."""
    moment = _for_people(text)
    return moment if moment and _EARLIEST <= moment.year < _LATEST else None


def find_url_date(url: str) -> datetime | None:
    """The date in a path such as /2024/05/17/ or /20240517/."""
    match = _URL_DATE.search(url) or _URL_DIGITS.search(url)
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
        return _aware(parsedate_to_datetime(_ZONE_NAME.sub("", text)))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _digits(text: str) -> datetime | None:
    """Digits alone: seconds since 1970, or year, month and day without marks between them."""
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    match = _COMPACT.fullmatch(text)
    return _day(*match.groups()) if match else None


def _for_people(text: str) -> datetime | None:
    readings = (_ideographic, _vietnamese, _marked, _dotted, _words, _numbers, _slashed)
    return next(filter(None, (reading(text) for reading in readings)), None)


def _numbers(text: str) -> datetime | None:
    match = _NUMBERS.search(text)
    return _day(*match.groups()) if match else None


def _words(text: str) -> datetime | None:
    for form, (year, month, day) in _FORMS:
        match = form.search(text)
        number = find_month(match[month]) if match else None
        if match and number:
            return _day(match[year], str(number), match[day])
    return None


def _vietnamese(text: str) -> datetime | None:
    match = _VIETNAMESE.search(text)
    return _day(match[3], match[2], match[1]) if match else None


def _marked(text: str) -> datetime | None:
    match = _MARKED_MONTH.search(text)
    if match is None:
        return None
    year = int(match[3]) - (_BUDDHIST_AHEAD if int(match[3]) > _BUDDHIST else 0)
    return _day(str(year), str(MARKED_MONTHS[match[2]]), match[1])


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
    if moment.tzinfo is None or moment.time() == _MIDNIGHT:
        # Midnight of any zone says no more than the day, which would be another one in UTC.
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None
