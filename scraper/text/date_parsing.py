"""Parse dates in machine formats, in texts and at the start of search snippets, in some fifty languages."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, time, timedelta
from email.utils import parsedate_to_datetime

_MONTH_PREFIXES = (
    "jan jän ene gen ian jaa янв яну січ јан led sty siječ tam oca ιαν ינו ינוא sau בינו ينا იან հունվ қаң "
    "yanv xan студз",
    "feb fév fev fevr vee lut úno uno hel şub sub velj фев лют φεβ vas פבר בפבר فبر شبا თებ փետ ақп shku феб pebr",
    "mar már mär mae mrt maa мар бер бре bře bre ožu μαρ kov מרץ במרץ مار آذا მარ մար нау сака",
    "apr abr avr ápr апр кві kwi dub huh nis travn απρ bal אפר באפר أبر ابر نيس აპრ ապր сәу pril крас",
    "may mai maj mei mag máj maí мая май мај тра kvě kve tou svib μαϊ μάι μαΐ geg במאי ماي أيا მაი մայ мам",
    "jun jui giu jún iun juun июн јун юни чер cze čer cer kes haz lipnj ιουν jūn birž יונ ביונ يون حزي ივნ հունի мау "
    "iyun iyn xuñ qers huny чэр",
    "jul juil lug júl iul juul июл јул юли лип lip hei tem srpnj ιουλ jūl liep יול ביול يول تمو ივლ հուլ шіл "
    "iyul iyl xul korr huly ліп",
    "aug ago aoû aou avg agu ágú авг сер sie srp elo ağu kol αυγ rugpj אוג באוג أغس اغس აგვ օգո там avq ogos gush жні",
    "sep set syy сен сеп вер wrz zář zar eyl ruj szept σεπ rugsė ספט בספט سبت أيل სექ սեպ қыр sent shta",
    "oct okt ott out oca окт жов paź paz říj rij lok eki οκτ spal אוק באוק أكت اكت ოქტ հոկ қаз teto кас",
    "nov noi noe ноя ное лис lis mar kas stud νοε lapk נוב בנוב نوف ნოე նոյ қар nóv нове noya nën nobye ліст",
    "dec dez dic dez det des déc дек дец гру gru pro jou ara δεκ דצמ בדצמ ديس დეკ դեկ жел dek dhj dise disy снеж",
)
"""Prefixes of month names, one row per month. If languages share a prefix, the longer prefix or `_AMBIGUOUS_MONTHS`
decides."""
_MONTH_BY_PREFIX = {
    beginning: number for number, row in reversed([*enumerate(_MONTH_PREFIXES, start=1)]) for beginning in row.split()
}
_AMBIGUOUS_MONTHS = {"marras": 11, "listop": 11, "lokak": 10, "červenc": 7, "červenec": 7, "cervenc": 7}

_MARKED_MONTH_ROWS = (
    "มกราคม ม.ค. जनवरी জানুয়ারি ژانویه جنوری ஜனவரி జనవరి जानेवारी જાન્યુઆરી ਜਨਵਰੀ ಜನವರಿ ജനുവരി",
    "กุมภาพันธ์ ก.พ. फरवरी फ़रवरी ফেব্রুয়ারি فوریه فروری பிப்ரவரி ఫిబ్రవరి फेब्रुवारी ફેબ્રુઆરી ਫ਼ਰਵਰੀ ಫೆಬ್ರವರಿ ഫെബ്രുവരി",
    "มีนาคม มี.ค. मार्च মার্চ مارس مارچ மார்ச் మార్చి માર્ચ ਮਾਰਚ ಮಾರ್ಚ್ മാർച്ച്",
    "เมษายน เม.ย. अप्रैल এপ্রিল آوریل اپریل ஏப்ரல் ఏప్రిల్ एप्रिल એપ્રિલ ਅਪ੍ਰੈਲ ಏಪ್ರಿಲ್ ഏപ്രിൽ",
    "พฤษภาคม พ.ค. मई মে مه می مئی மே మే मे મે ਮਈ ಮೇ മേയ്",
    "มิถุนายน มิ.ย. जून জুন ژوئن جون ஜூன் జూన్ જૂન ਜੂਨ ಜೂನ್ ജൂൺ",
    "กรกฎาคม ก.ค. जुलाई জুলাই ژوئیه جولائی ஜூலை జులై జూలై जुलै જુલાઈ ਜੁਲਾਈ ಜುಲೈ ജൂലൈ",
    "สิงหาคม ส.ค. अगस्त আগস্ট اوت اگست ஆகஸ்ட் ఆగస్టు ऑगस्ट ઑગસ્ટ ਅਗਸਤ ಆಗಸ್ಟ್ ഓഗസ്റ്റ്",
    "กันยายน ก.ย. सितंबर सितम्बर সেপ্টেম্বর سپتامبر ستمبر செப்டம்பர் సెప్టెంబర్ सप्टेंबर સપ્ટેમ્બર ਸਤੰਬਰ ಸೆಪ್ಟೆಂಬರ್ സെപ്റ്റംബർ",
    "ตุลาคม ต.ค. अक्टूबर अक्तूबर অক্টোবর اکتبر اکتوبر அக்டோபர் అక్టోబర్ ऑक्टोबर ઑક્ટોબર ਅਕਤੂਬਰ ಅಕ್ಟೋಬರ್ ഒക്ടോബർ",
    "พฤศจิกายน พ.ย. नवंबर नवम्बर নভেম্বর نوامبر نومبر நவம்பர் నవంబర్ नोव्हेंबर નવેમ્બર ਨਵੰਬਰ ನವೆಂಬರ್ നവംബർ",
    "ธันวาคม ธ.ค. दिसंबर दिसम्बर ডিসেম্বর دسامبر دسمبر டிசம்பர் డిసెంబర్ डिसेंबर ડિસેમ્બર ਦਸੰਬਰ ಡಿಸೆಂಬರ್ ഡിസംബർ",
)
_MARKED_MONTHS = {name: number for number, row in enumerate(_MARKED_MONTH_ROWS, start=1) for name in row.split()}
"""Whole names of months in Persian, Urdu and in scripts of South and Southeast Asia, which have vowel signs."""

_MARKED_MONTH = "|".join(map(re.escape, sorted(_MARKED_MONTHS, key=len, reverse=True)))
_NAME = r"([^\W\d_]{3,14})"
DATE_FORMS = tuple(
    (re.compile(pattern, re.IGNORECASE), order)
    for pattern, order in (
        (r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号일]", "ymd"),
        (r"(?<!\d)(?:ngày\s+)?(\d{1,2})\s+(?:thg|tháng)\s+(\d{1,2})(?:,|,?\s+năm)?\s+(\d{4})(?!\d)", "dmy"),
        (rf"(?<!\d)(\d{{1,2}})\s*({_MARKED_MONTH})[,،]?\s*(?:[พค]\.ศ\.\s*)?(\d{{4}})(?!\d)", "dmy"),
        (rf"({_MARKED_MONTH})\s*(\d{{1,2}}),?\s*(\d{{4}})(?!\d)", "mdy"),
        (rf"(?<!\d)(\d{{4}}),?\s*({_MARKED_MONTH})\s*(\d{{1,2}})(?!\d)", "ymd"),
        (rf"(?<!\d)(\d{{4}})(?:\.\s?g(?:ada|\.)|\s?ж\.)\s+(\d{{1,2}})\.?\s?{_NAME}", "ydm"),
        (r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\.?\d)", "dmy"),
        (
            rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|º)?[.\-/]?\s*(?:de |of |d['’])?{_NAME}"
            r"[.\-/׳]?,?\s*(?:de |del )?(\d{4})(?!\d)(?:\s*г\.)?",
            "dmy",
        ),
        (rf"(?<!\w){_NAME}\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})(?!\d)", "mdy"),
        (
            rf"(?<!\w){_NAME}\s+(\d{{1,2}})\s+\d\d:\d\d(?::\d\d)?"
            r"(?:\s+[A-Z]{2,5}|\s+[+-]\d{4})?\s+(\d{4})(?!\d)",
            "mdy",
        ),
        (rf"(?<!\d)(\d{{4}})(?:\.|\s?[mթ]\.)?\s+{_NAME}\.?\s+(\d{{1,2}})(?!\d)", "ymd"),
        (
            r"(\d{4})(?:[-/]|\.\s?)(\d{1,2})(?:[-/]|\.\s?)(\d{1,2})(?!\d)"
            r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?",
            "ymd",
        ),
        (r"(?<![\d/])(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?![\d/])", "??y"),
    )
)
"""Written dates and the order of year, month and day; day and month of the last form may be exchanged."""
_ASCII_FORMS = tuple(form for form in DATE_FORMS if _MARKED_MONTH not in form[0].pattern)
"""Forms without the names of months that no ASCII text contains; their search takes a third of the time."""

_YEAR_DIGITS = re.compile(r"\d{4}")
"""Part of each of the forms."""

_EARLIEST, _LATEST = 1990, 2100
"""Years. Dates of pages outside of this range are placeholders or errors."""

_MAX_CHARS = 64
_MIDNIGHT = time()
_URL_DATE = re.compile(r"/((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?=[/-]|$)")
_URL_DIGITS = re.compile(r"/(20\d{2})(0[1-9]|1[0-2])([0-2]\d|3[01])(?=[/_.-]|$)")
_EPOCH = re.compile(r"1\d{9}(?:\d{3})?", re.ASCII)
"""Seconds or milliseconds of the years 2001 to 2033; digits that begin with 20 are a year."""
_COMPACT = re.compile(r"(20\d\d)(\d\d)(\d\d)(?:\d{2}){0,3}", re.ASCII)
_ZONE_NAME = re.compile(r"\b(?:GMT|UTC)(?=[+-]\d)")
_MIN_BUDDHIST_YEAR, _BUDDHIST_OFFSET = 2400, 543
"""Years. Years above this are of the Buddhist era, which is ahead by the offset."""

_CROATIAN_OCTOBER = re.compile(r"\d\.\s*listopada", re.IGNORECASE)
"""In Polish, which writes no dot after the day, the word is November."""


def find_month(name: str) -> int | None:
    """Return the number of a month by the longest known prefix of its name, or None.

    `juillet` is not `juin`, and `marraskuuta` is not March.
    """
    name = name.lower()
    whole = next((month for beginning, month in _AMBIGUOUS_MONTHS.items() if name.startswith(beginning)), None)
    return whole or next((_MONTH_BY_PREFIX[name[:size]] for size in (5, 4, 3) if name[:size] in _MONTH_BY_PREFIX), None)


def parse_date(text: str, *, earliest: int = _EARLIEST) -> datetime | None:
    """Return the moment in a text in UTC, or None. `earliest` is the first year of machine formats.

    A date without a time is midnight UTC, and so is midnight in any time zone. A time without a zone is in UTC.
    """
    text = text.strip()[:_MAX_CHARS]
    moment = _parse_iso(text) or _parse_rfc5322(text) or _parse_digits(text)
    return _check_year(moment, earliest) if moment else find_date(text)


def find_date(text: str) -> datetime | None:
    """Return a date in a short text, or None. Ambiguous numbers such as 3/4/2024 are ignored."""
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
    match = _URL_DATE.search(url) or _URL_DIGITS.search(url)
    return _make_date(*match.groups()) if match else None


def _check_year(moment: datetime, earliest: int = _EARLIEST) -> datetime | None:
    return moment if earliest <= moment.year < _LATEST else None


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
    """Parse digits only: seconds or milliseconds since 1970, or year, month and day without separators."""
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    match = _COMPACT.fullmatch(text)
    return _make_date(*match.groups()) if match else None


def _build_date(match: re.Match[str], order: str, *, day_first: bool = False) -> datetime | None:
    """Return the date of a match of one of `DATE_FORMS`, or None; `order` is the order of its groups.

    With `day_first`, 3/4/2024 is in April; otherwise it is ambiguous. 12/25/2024 and 25/12/2024 are never ambiguous.
    """
    parts = dict(zip(order.replace("??", "dm"), match.groups(), strict=True))
    name, day, year = parts["m"], int(parts["d"]), int(parts["y"])
    month = int(name) if name.isdecimal() else _MARKED_MONTHS.get(name) or find_month(name) or 0
    month = 10 if _CROATIAN_OCTOBER.search(match[0]) else month
    if order == "??y" and not day_first and month != day and max(month, day) <= 12:
        return None
    if (order == "??y" or day_first) and month > 12 >= day:
        month, day = day, month
    return _make_date(year - _BUDDHIST_OFFSET if year > _MIN_BUDDHIST_YEAR else year, month, day)


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
_UNITS: tuple[tuple[str, timedelta], ...] = (
    (
        r"sec(?:ond)?s?|Sekunden?|secondes?|segundos?|secondi|seconden|секунд\w*|秒鐘?前?|秒钟|giây",
        timedelta(seconds=1),
    ),
    (
        r"mins?|minutes?|Minuten?|minutos?|minut[io]|minuten|minut[yę]?|минут\w*|хвилин\w*|dakika|分鐘|分钟|分|분|phút|minuut",
        timedelta(minutes=1),
    ),
    (
        r"hours?|hrs?|Stunden?|heures?|horas?|or[ae]|uur|uren|godzin\w*|час\w*|годин\w*|saat|小时|小時|个小时|時間|시간|giờ|timmar|timer|tuntia",
        timedelta(hours=1),
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
_AMOUNT = r"(\d{1,3}|a|an|one|un|una|une|uno|um|uma|ein(?:e[mnr]?)?|een|один|одну|bir|一)\+?"
_RELATIVE = (
    *(
        (
            rf"(?:(?<![^\W\d_])(?:vor|il y a|hace|há|ha|atrás|przed)\s+{_AMOUNT}\s*(?:{unit})(?![^\W\d])"
            rf"|{_AMOUNT}\s*(?:{unit})\s*(?:ago|fa|geleden|temu|назад|тому|önce|trước|之?前|전|sedan|siden|sitten|atrás|zpět)(?![^\W\d_a-z]))",
            size,
        )
        for unit, size in _UNITS
    ),
    (r"(?:yesterday|gestern|hier|ayer|ontem|ieri|gisteren|wczoraj|вчера|вчора|dün|昨天|昨日|어제|hôm qua)(?!\w)", _DAY),
    (r"(?:前天|vorgestern|avant-hier|anteayer)(?!\w)", 2 * _DAY),
)
RELATIVE_FORMS = tuple((re.compile(pattern, re.IGNORECASE), size) for pattern, size in _RELATIVE)
"""Patterns of relative dates such as "2 days ago", and the duration of one unit."""
AGE_FORMS = tuple(form for form, _ in RELATIVE_FORMS[: len(_UNITS)])
"""Forms with an amount, without words such as "yesterday"."""
_WITHOUT_YEAR = tuple(
    re.compile(pattern)
    for pattern in (r"(\d{1,2})\s?月\s?(\d{1,2})\s?日", rf"{_NAME}\.?\s+(\d{{1,2}})(?=\s*(?:[·—–|-]|\.\.\.|…))")
)
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
    for form, size in RELATIVE_FORMS:
        if match := form.match(lead, start):
            amount = next(filter(None, match.groups()), "1")
            return (now - size * (int(amount) if amount.isdigit() else 1)).astimezone(UTC), match.end()
    for form in _WITHOUT_YEAR:
        if (match := form.match(lead, start)) and not _NUMBER_GOES_ON.match(lead, match.end()):
            month = int(match[1]) if match[1].isdecimal() else find_month(match[1]) or 0
            recent = (_make_date(year, month, match[2]) for year in (now.year, now.year - 1))
            return next((moment for moment in recent if moment and moment <= now), None), match.end()
    return None, 0
