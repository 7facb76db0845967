"""Parse the date at the start of a snippet, in many languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

_MAX_LEAD = 60
"""Characters. A date with its separator is shorter."""


_LONG_NAMES = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janner feber maerz - - - - - - - - -",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "- - - - - - - - setiembre - - -",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik",
    "ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince",
    "januar februar marts april maj juni juli august september oktober november december",
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesakuuta heinakuuta elokuuta syyskuuta "
    "lokakuuta marraskuuta joulukuuta",
)
"""Month names in calendar order, case-folded, without accents; a dash if a language has no other name."""
_PREFERRED = MappingProxyType(
    {"mar": 3, "jun": 6, "jul": 7, "mai": 5, "ma": 5, "lis": 11, "мар": 3, "sept": 9, "mag": 5, "cze": 6}
)
"""Abbreviations that are prefixes of several names but mean one month."""


def _months() -> Mapping[str, int]:
    table: dict[str, int] = {}
    for names in _LONG_NAMES:
        for number, name in enumerate(names.split(), 1):
            if name != "-":
                table.setdefault(name, number)
    # Abbreviations are prefixes of the names; a prefix of two months is ambiguous and left out.
    beginnings: dict[str, set[int]] = {}
    for name, number in table.items():
        for length in range(3, len(name)):
            beginnings.setdefault(name[:length], set()).add(number)
    short = {name: months.pop() for name, months in beginnings.items() if len(months) == 1}
    return MappingProxyType(short | _PREFERRED | table)


_MONTHS = _months()
_NAME = r"([^\W\d_]{3,14})\.?"
_YEAR = r"((?:19|20)\d{2})"
_END = r"(?![\d:.,]?\d)"

_ABSOLUTE = tuple(
    (re.compile(rf"\W{{0,3}}{pattern}{_END}", re.IGNORECASE), order)
    for pattern, order in (
        (rf"{_YEAR}\s?[年년]\s?(\d{{1,2}})\s?[月월]\s?(\d{{1,2}})\s?[日号일]", "ymd"),
        (rf"{_NAME}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}", "mdy"),
        (rf"(\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?\s+(?:de\s+)?{_NAME},?\s+(?:de\s+|del\s+)?{_YEAR}(?:\s*г\.)?", "dmy"),
        (rf"(?:ngày\s+)?(\d{{1,2}})\s+(?:thg|tháng)\s+(\d{{1,2}}),?\s+(?:năm\s+)?{_YEAR}", "dmy"),
        (
            rf"{_YEAR}[-/.](\d{{1,2}})[-/.](\d{{1,2}})"
            r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?",
            "ymd",
        ),
        (rf"(\d{{1,2}})\.\s?(\d{{1,2}})\.\s?{_YEAR}", "dmy"),
        (rf"(\d{{1,2}})/(\d{{1,2}})/{_YEAR}", "dmy"),
        (r"(\d{1,2})\s?月\s?(\d{1,2})\s?日", "md"),
    )
)
_BARE_DAY = re.compile(rf"\W{{0,3}}{_NAME}\s+(\d{{1,2}})(?=\s*(?:[·—–|-]|\.\.\.|…))", re.IGNORECASE)

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_UNITS: tuple[tuple[str, timedelta], ...] = (
    (
        r"sec(?:ond)?s?|Sekunden?|secondes?|segundos?|secondi|seconden|секунд\w*|秒鐘?前?|秒钟|giây",
        timedelta(seconds=1),
    ),
    (
        r"mins?|minutes?|Minuten?|minutos?|minut[io]|minuten|minut[yę]?|минут\w*|хвилин\w*|dakika|分鐘|分钟|分|분|phút|minuut",
        _MINUTE,
    ),
    (
        r"hours?|hrs?|Stunden?|heures?|horas?|or[ae]|uur|uren|godzin\w*|час\w*|годин\w*|saat|小时|小時|个小时|時間|시간|giờ|timmar|timer|tuntia",
        _HOUR,
    ),
    (
        r"days?|Tag(?:en?)?|jours?|d[ií]as?|giorn[io]|dag(?:en|ar|e)?|dni|dzień|д(?:ень|ня|ней|ні|нів)|gün|天|日|일|ngày|päivää",
        _DAY,
    ),
    (
        r"weeks?|Wochen?|semaines?|semanas?|settiman[ae]|we(?:ek|ken)|tygodni\w*|tydzień|недел\w*|тижн\w*|hafta|周|週間|週|星期|주|tuần|veck(?:a|or)|uger?",
        7 * _DAY,
    ),
    (
        r"months?|Monat(?:en?)?|mois|mes(?:es|e)?|m[eê]s(?:es)?|mesi|maand(?:en)?|miesi[aą]c\w*|месяц\w*|місяц\w*|ay|个月|個月|か月|ヶ月|개월|tháng|månad(?:er)?",
        30 * _DAY,
    ),
    (
        r"years?|yrs?|Jahr(?:en?)?|an(?:s|née)?s?|años?|anos?|ann[io]|jaar|jaren|lat[ay]?|rok(?:u)?|год\w*|лет|рок\w*|yıl|年間|年|년|năm|år",
        365 * _DAY,
    ),
)
_ONE = r"a|an|one|un|una|une|uno|um|uma|ein(?:e[mnr]?)?|een|один|одну|bir|一"
_AMOUNT = rf"(\d{{1,3}}|{_ONE})\+?"
_RELATIVE = tuple(
    (
        re.compile(
            rf"\W{{0,3}}(?:(?:vor|il y a|hace|há|ha|atrás|przed)\s+{_AMOUNT}\s*(?:{unit})(?![^\W\d])"
            rf"|{_AMOUNT}\s*(?:{unit})\s*(?:ago|fa|geleden|temu|назад|тому|önce|trước|之?前|전|sedan|siden|sitten|atrás|zpět)(?![^\W\d_a-z]))",
            re.IGNORECASE,
        ),
        size,
    )
    for unit, size in _UNITS
)
_NAMED = (
    (
        re.compile(
            r"\W{0,3}(?:yesterday|gestern|hier|ayer|ontem|ieri|gisteren|wczoraj|вчера|вчора|dün|昨天|昨日|어제"
            r"|hôm qua)(?!\w)",
            re.IGNORECASE,
        ),
        _DAY,
    ),
    (re.compile(r"\W{0,3}(?:前天|vorgestern|avant-hier|anteayer)(?!\w)", re.IGNORECASE), 2 * _DAY),
)
_SEPARATOR = re.compile(r"\s*(?:[·•—–|:：-]|\.\.\.|…)?\s*")
_STRONG = re.compile(r"\s*(?:[·•—–|-](?=\s|$|[^\W\d])|\.\.\.|…)")


def split_date(snippet: str, now: datetime) -> tuple[datetime | None, str]:
    """Return the date at the start of a snippet, or None, and the rest of the snippet.

    A date that belongs to a sentence ("Jan 7, 2024 was a Sunday") stays. Only a date before a separator, an upper case
    letter or a letter of a script without case was added by the engine.
    """
    lead = unicodedata.normalize("NFC", snippet[:_MAX_LEAD])
    moment, end = _leading(lead, now)
    if moment is None or not lead[end:].strip():
        return (moment, "") if moment is not None else (None, snippet)
    rest = lead[end:] + snippet[_MAX_LEAD:]
    if _STRONG.match(rest):
        return moment, rest[_strip(rest) :]
    follows = rest[:1]
    if (follows.isalpha() and not follows.islower()) or lead[end - 1] > "\u2e7f":
        return moment, rest.lstrip()
    stripped = rest.lstrip()
    if rest != stripped and stripped[:1].isalpha() and not stripped[:1].islower():
        return moment, stripped
    return None, snippet


def parse_date(text: str, now: datetime) -> datetime | None:
    """Parse the date at the start of a text; a date without time is midnight UTC."""
    return _leading(unicodedata.normalize("NFC", text[:_MAX_LEAD]), now)[0]


def _strip(rest: str) -> int:
    match = _SEPARATOR.match(rest)
    return match.end() if match else 0


def _leading(lead: str, now: datetime) -> tuple[datetime | None, int]:
    for pattern, order in _ABSOLUTE:
        match = pattern.match(lead)
        moment = _absolute(match.groups(), order, now) if match else None
        if match and moment:
            return moment, match.end()
    for pattern, size in _RELATIVE:
        match = pattern.match(lead)
        if match:
            amount = next((group for group in match.groups() if group), "1")
            return _before(now, size * (int(amount) if amount.isdigit() else 1)), match.end()
    for pattern, size in _NAMED:
        match = pattern.match(lead)
        if match:
            return _before(now, size), match.end()
    match = _BARE_DAY.match(lead)
    if match:
        return _absolute(match.groups(), "name_day", now), match.end()
    return None, 0


def _before(now: datetime, span: timedelta) -> datetime:
    return (now - span).astimezone(UTC)


def _absolute(groups: tuple[str | None, ...], order: str, now: datetime) -> datetime | None:
    given = dict(zip({"md": "md", "name_day": "md"}.get(order, order), groups, strict=False))
    month = _month(given.get("m") or "")
    day, year = int(given.get("d") or 0), int(given.get("y") or now.year)
    if order == "dmy" and month > 12 >= day and (given.get("m") or "").isdigit():
        month, day = day, month
    try:
        moment = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    # A date without a year is the most recent one.
    return moment if "y" in given or moment <= now else moment.replace(year=year - 1)


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    folded = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return _MONTHS.get(folded.replace("ı", "i"), _MONTHS.get(text.casefold(), 0))
