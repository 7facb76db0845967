"""Parse dates in machine formats and in texts of some forty languages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time
from email.utils import parsedate_to_datetime

_MONTH_PREFIXES = (
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
"""Prefixes of month names, one row per month. If languages share a prefix, the longer one or `_AMBIGUOUS_MONTHS`
decides."""
_MONTH_BY_PREFIX = {
    beginning: number for number, row in reversed([*enumerate(_MONTH_PREFIXES, start=1)]) for beginning in row.split()
}
_AMBIGUOUS_MONTHS = {"marras": 11, "listop": 11, "lokak": 10}

_MARKED_MONTH_ROWS = (
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
MARKED_MONTHS = {name: number for number, row in enumerate(_MARKED_MONTH_ROWS, start=1) for name in row.split()}
r"""Months in Thai, Hindi and Bengali, whose vowel signs `\w` does not match."""


def find_month(name: str) -> int | None:
    """Return the number of a month by the longest known prefix of its name, or None.

    `juillet` is not `juin`, and `marraskuuta` is not March.
    """
    name = name.lower()
    whole = next((month for beginning, month in _AMBIGUOUS_MONTHS.items() if name.startswith(beginning)), None)
    return whole or next((_MONTH_BY_PREFIX[name[:size]] for size in (5, 4, 3) if name[:size] in _MONTH_BY_PREFIX), None)


_EARLIEST, _LATEST = 1990, 2100
"""Years. Dates outside of this range are placeholders or errors."""

_MAX_CHARS = 64
_MIDNIGHT = time()
_YEAR_FIRST_NUMBERS = re.compile(r"(\d{4})(?:[-/]|\.\s?)(\d{1,2})(?:[-/]|\.\s?)(\d{1,2})(?!\d)")
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
_YEAR_FIRST_NAME = re.compile(r"(?<!\d)(\d{4})(?:\.|\s?m\.)?\s+([^\W\d_]{3,12})\.?\s+(\d{1,2})(?!\d)")
_NAMED_MONTH_FORMS = ((_DAY_MONTH, (3, 2, 1)), (_MONTH_DAY, (3, 1, 2)), (_YEAR_FIRST_NAME, (1, 2, 3)))
"""Dates with a month name, and the groups of year, month and day."""
_VIETNAMESE = re.compile(r"(?<!\d)(\d{1,2})\s+tháng\s+(\d{1,2})(?:,|\s+năm)?\s+(\d{4})(?!\d)", re.IGNORECASE)
_MARKED_MONTH = re.compile(
    rf"(?<!\d)(\d{{1,2}})\s*({'|'.join(map(re.escape, sorted(MARKED_MONTHS, key=len, reverse=True)))})"
    r",?\s*(?:พ\.ศ\.\s*)?(\d{4})(?!\d)"
)
_EPOCH = re.compile(r"1\d{9}(?:\d{3})?", re.ASCII)
"""Seconds or milliseconds of the years 2001 to 2033; digits that begin with 20 are a year."""
_COMPACT = re.compile(r"(20\d\d)(\d\d)(\d\d)(?:\d{2}){0,3}", re.ASCII)
_ZONE_NAME = re.compile(r"\b(?:GMT|UTC)(?=[+-]\d)")
_MIN_BUDDHIST_YEAR, _BUDDHIST_OFFSET = 2400, 543
"""Years. Years above this are of the Buddhist era, which is ahead by the offset."""


def parse_date(text: str) -> datetime | None:
    """Return the moment in a text, or None. A date without a time is midnight UTC."""
    text = text.strip()[:_MAX_CHARS]
    moment = _parse_iso(text) or _parse_rfc5322(text) or _parse_digits(text) or _parse_written_date(text)
    return moment if moment and _EARLIEST <= moment.year < _LATEST else None


def find_date(text: str) -> datetime | None:
    """Return the first date in a short text, or None. Ambiguous numbers are ignored."""
    moment = _parse_written_date(text)
    return moment if moment and _EARLIEST <= moment.year < _LATEST else None


def find_url_date(url: str) -> datetime | None:
    """Return the date in a path such as /2024/05/17/ or /20240517/, or None."""
    match = _URL_DATE.search(url) or _URL_DIGITS.search(url)
    return _make_date(*match.groups()) if match else None


def _parse_iso(text: str) -> datetime | None:
    if not text[:4].isdigit():
        return None
    try:
        return _to_utc(datetime.fromisoformat(text))
    except ValueError:
        return None


def _parse_rfc5322(text: str) -> datetime | None:
    """Parse the format of RFC 5322 and of feeds: Tue, 02 Jan 2024 10:00:00 GMT."""
    if ":" not in text or text[:4].isdigit():
        return None
    try:
        return _to_utc(parsedate_to_datetime(_ZONE_NAME.sub("", text)))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _parse_digits(text: str) -> datetime | None:
    """Parse digits only: seconds since 1970, or year, month and day without separators."""
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    match = _COMPACT.fullmatch(text)
    return _make_date(*match.groups()) if match else None


def _parse_written_date(text: str) -> datetime | None:
    readings = (
        _parse_ideographic,
        _parse_vietnamese,
        _parse_marked_month,
        _parse_dotted,
        _parse_month_name,
        _parse_year_first,
        _parse_slashed,
    )
    return next(filter(None, (reading(text) for reading in readings)), None)


def _parse_year_first(text: str) -> datetime | None:
    match = _YEAR_FIRST_NUMBERS.search(text)
    return _make_date(*match.groups()) if match else None


def _parse_month_name(text: str) -> datetime | None:
    for form, (year, month, day) in _NAMED_MONTH_FORMS:
        match = form.search(text)
        number = find_month(match[month]) if match else None
        if match and number:
            return _make_date(match[year], str(number), match[day])
    return None


def _parse_vietnamese(text: str) -> datetime | None:
    match = _VIETNAMESE.search(text)
    return _make_date(match[3], match[2], match[1]) if match else None


def _parse_marked_month(text: str) -> datetime | None:
    match = _MARKED_MONTH.search(text)
    if match is None:
        return None
    year = int(match[3]) - (_BUDDHIST_OFFSET if int(match[3]) > _MIN_BUDDHIST_YEAR else 0)
    return _make_date(str(year), str(MARKED_MONTHS[match[2]]), match[1])


def _parse_ideographic(text: str) -> datetime | None:
    match = _IDEOGRAPHIC.search(text)
    return _make_date(*match.groups()) if match else None


def _parse_dotted(text: str) -> datetime | None:
    match = _DOTTED.search(text)
    return _make_date(match[3], match[2], match[1]) if match else None


def _parse_slashed(text: str) -> datetime | None:
    """Parse 12/25/2024 and 25/12/2024, which have one meaning. 3/4/2024 has two and gives None."""
    match = _SLASHED.search(text)
    if match is None:
        return None
    one, two = int(match[1]), int(match[2])
    if one > 12 or one == two:
        return _make_date(match[3], match[2], match[1])
    return _make_date(match[3], match[1], match[2]) if two > 12 else None


def _make_date(year: str, month: str, day: str) -> datetime | None:
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
