"""Find a date as it is written in a label of a page: absolute, relative or without a year, in some fifty languages."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from scraper.text import date_parsing

_MAX_CHARS = 120
_MAX_SPACED = 3 * _MAX_CHARS
"""Characters of a text with the line breaks and spaces of its markup."""
_DAY_WORDS = (
    r"yesterday|today|just now|moments? ago|gestern|heute|hier|ayer|hoy|ontem|hoje|ieri|oggi|gisteren|vandaag|wczoraj|"
    r"dzisiaj|dziś|вчера|сегодня|вчора|сьогодні|dün|bugün|昨天|今天|昨日|今日|어제|오늘|hôm"
)
_DATE_LIKE = re.compile(rf"\d|\b(?:an?|one|un[ae]?|einem|einer)\b|{_DAY_WORDS}")
_NUMBERS = re.compile(r"\d(?:\d{3}|[./-]\d{1,2}[./-]\d\d)")
_SMALL_LETTERS = bytes(code if ord("a") <= code <= ord("z") else ord(" ") for code in range(256))
"""Letters a to z in UTF-8, and spaces for all else."""
_SURE_WORDS = frozenset(
    b"yesterday today now moment moments gestern vorgestern heute hier ayer anteayer hoy ontem hoje ieri oggi hui "
    b"gisteren vandaag wczoraj dzisiaj ago vor il hace ha przed fa geleden temu sedan siden sitten".split()
)
_OTHER_SURE_WORDS = tuple(
    "日 일 昨 今 어제 오늘 前 전 há назад тому önce trước atrás zpět dziś вчера сегодня вчора сьогодні "
    "dün bugün hôm".split()
)
"""A text without the numbers of a date is a date only with one of these words."""
_RELATIVE_FORMS = tuple(form for form, _ in date_parsing.RELATIVE_FORMS)
_RELATIVE_WORDS = tuple(
    "vor il hace há ha atrás przed ago fa geleden temu назад тому önce trước 前 전 sedan siden sitten zpět yesterday "
    "gestern hier ayer ontem ieri gisteren wczoraj вчера вчора dün 昨天 昨日 어제 hôm".split()
)
"""Each match of a relative form contains one of them."""
_TIME_AFTER = re.compile(
    r"(?:[\s,|·•@-]*(?:at|um|à|a las|às|alle|om|o|в|kl\.?|klo|ore|saat|,|-)?\s*"
    r"\d{1,2}[:.h]\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?)",
    re.IGNORECASE,
)
_WORD_BEFORE = re.compile(r"(?<![\w-])([^\W\d_][\w-]{1,13})[.,]?\s+\Z")
_ENGLISH_WEEKDAYS = frozenset(
    "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday".split()
)
_WEEKDAYS = _ENGLISH_WEEKDAYS.union(
    "mo montag di dienstag mi mittwoch do donnerstag fr freitag sa samstag sonnabend so sonntag "
    "lun lundi mar mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche "
    "lunes martes mié miércoles miercoles jue jueves vie viernes sáb sab sábado sabado dom domingo "
    "seg segunda segunda-feira ter terça terça-feira qua quarta quarta-feira qui quinta quinta-feira sex sexta "
    "sexta-feira lunedì martedì mercoledì gio giovedì venerdì sabato domenica "
    "ma maandag dinsdag wo woensdag donderdag vr vrijdag za zaterdag zo zondag "
    "man mandag tir tirsdag ons onsdag tor torsdag fre fredag lør lørdag søn søndag mån måndag tis tisdag tors lör "
    "lördag sön söndag ti tiistai ke keskiviikko torstai pe perjantai lauantai su sunnuntai maanantai "
    "pon poniedziałek wt wtorek śr środa czw czwartek pt piątek sob sobota ndz niedz niedziela "
    "пн вт ср чт пт сб вс пон втор сре чет пят суб вос понедельник вторник среда четверг пятница суббота "
    "воскресенье понеділок вівторок середа четвер п’ятниця субота неділя".split()
)
_AMBIGUOUS = re.compile(r"(?<![\d./-])\d{1,4}([./-])\d{1,2}\1\d{2,4}(?![\d./-]*\d)")
_NAMED_DAY = re.compile(
    r"(?<!\w)(?:today|yesterday|heute|gestern|aujourd.hui|hier|hoy|ayer|hoje|ontem|oggi|ieri|vandaag|gisteren|dzisiaj|"
    r"dziś|wczoraj|сегодня|вчера|сьогодні|вчора|bugün|dün|今天|昨天|今日|昨日|오늘|어제|hôm nay|hôm qua|just now|"
    r"a moment ago|(?:mon|tues|wednes|thurs|fri|satur|sun)day(?=\W+(?:at\s)?\d))(?!\w)",
    re.IGNORECASE,
)
_SHORT_AGE = re.compile(r"(?<!\w)\d{1,3}\s?(?:s|m|h|d|w|y|mo|min|hr|yr)\.?(?:\s+ago)?(?!\w)", re.IGNORECASE)
_DAY_MONTH = re.compile(
    r"(?<!\w)(?:(\d{1,2})\.?\s+([^\W\d_]{3,12})|([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?)(?!\w)"
)


@lru_cache(maxsize=1_024)
def find_post_date(text: str, *, is_hinted: bool = False) -> tuple[str, datetime | None] | None:
    """Return a date in a short text as it is written, with its time if that is known, or None.

    The time of a relative date, a date without a year and 3/4/2024 is unknown. With `is_hinted`, markup declares a
    date: then forms without a year such as "May 3" and "5h" count too.
    """
    lowered = text.lower()
    if len(text) > _MAX_CHARS or not (_DATE_LIKE.search(lowered) if is_hinted else may_hold_date(text)):
        return None
    if written := date_parsing.match_date(text):
        return _with_time(text, written[0]), written[1]
    is_relative = any(word in lowered for word in _RELATIVE_WORDS)
    for pattern in (_AMBIGUOUS, *(_RELATIVE_FORMS if is_relative else ()), _NAMED_DAY):
        if match := pattern.search(text):
            return _with_time(text, match), None
    if not is_hinted:
        return None
    if match := _DAY_MONTH.search(text):
        name = match[2] or match[3]
        if date_parsing.find_month(name):
            return _with_time(text, match), None
    match = _SHORT_AGE.fullmatch(text.strip())
    return (match[0], None) if match else None


def may_hold_date(text: str | None) -> bool:
    """Return False for most texts in which `find_post_date` finds no date without a hint."""
    if not text or len(text) > _MAX_SPACED or text.isspace():
        return False
    if _NUMBERS.search(text):
        return True
    lowered = text.lower()
    # Splitting with a table takes a third of the time of a regular expression.
    if not _SURE_WORDS.isdisjoint(lowered.encode("utf-8", "replace").translate(_SMALL_LETTERS).split()):
        return True
    return not text.isascii() and any(word in lowered for word in _OTHER_SURE_WORDS)


def _with_time(text: str, match: re.Match[str]) -> str:
    """Return the matched date with the day of the week before it and the time of day after it."""
    time = _TIME_AFTER.match(text, match.end())
    start = match.start()
    # Before a month, only English writes the day of the week; the word may also be the name of an author.
    weekdays = _ENGLISH_WEEKDAYS if text[start].isalpha() else _WEEKDAYS
    word = _WORD_BEFORE.search(text[:start])
    if word and word[1].lower() in weekdays:
        start = word.start()
    return text[start : time.end() if time else match.end()].strip()
