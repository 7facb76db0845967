"""Find dates as pages write them: absolute, relative or without a year, in some fifty languages, and what they date."""

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from scraper.html.dom.parsing import Element, text_of
from scraper.text import date_parsing
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern, Words

_MAX_CHARS = 120
_MAX_SPACED = 3 * _MAX_CHARS
"""Characters of a text with the line breaks and spaces of its markup."""
_NUMBERS = re.compile(r"\d(?:\d{3}|[./-]\d{1,2}[./-]\d\d)")
_NAMED_DAYS = Words("dates.today", "dates.yesterday", "dates.day_before_yesterday", "dates.now")
_RELATIVE_WORDS = Words("dates.before_age", "dates.after_age", *_NAMED_DAYS.names)
"""A text without the numbers of a date is a date only with one of these words."""
_HINTED_WORDS = Words("dates.one", *_NAMED_DAYS.names)
"""A declared date without digits has one of these words."""
_TIME_AFTER = WordPattern(r"(?:[\s,|·•@-]*(?:{dates.at}|,|-)?\s*\d{1,2}[:.h]\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?)")
_WORD_BEFORE = re.compile(r"(?<![\w-])([^\W\d_][\w-]{1,13})[.,]?\s+\Z")
_WEEKDAYS = Words("calendar.weekdays", "dates.weekday")
_ENGLISH_WEEKDAYS = Words("calendar.weekdays", "dates.weekday", language="en")
_AMBIGUOUS = re.compile(r"(?<![\d./-])\d{1,4}([./-])\d{1,2}\1\d{2,4}(?![\d./-]*\d)")
_NAMED_DAY = WordPattern(
    r"(?<!\w)(?:{dates.today}|{dates.yesterday}|{dates.day_before_yesterday}|{dates.now}|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?=\W+(?:at\s)?\d))(?!\w)"
)
_SHORT_AGE = re.compile(r"(?<!\w)\d{1,3}\s?(?:s|m|h|d|w|y|mo|min|hr|yr)\.?(?:\s+ago)?(?!\w)", re.IGNORECASE)
_DAY_MONTH = re.compile(
    r"(?<!\w)(?:(\d{1,2})\.?\s+([^\W\d_]{3,12})|([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?)(?!\w)"
)


@lru_cache(maxsize=1_024)
def find_written_date(text: str, *, is_hinted: bool = False) -> tuple[str, datetime | None] | None:
    """Return a date in a short text as it is written, with its time if that is known, or None.

    The time of a relative date, a date without a year and 3/4/2024 is unknown. With `is_hinted`, markup declares a
    date: then forms without a year such as "May 3" and "5h" count too.
    """
    may_be_hinted = is_hinted and (any(map(str.isdigit, text)) or _HINTED_WORDS.may_be_in(text.lower()))
    if len(text) > _MAX_CHARS or not (may_be_hinted if is_hinted else may_hold_date(text)):
        return None
    if written := date_parsing.match_date(text):
        return _with_time(text, written[0]), written[1]
    if match := _AMBIGUOUS.search(text) or date_parsing.AGE.search(text) or _NAMED_DAY.search(text):
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
    """Return False for most texts in which `find_written_date` finds no date without a hint."""
    if not text or len(text) > _MAX_SPACED or text.isspace():
        return False
    return _NUMBERS.search(text) is not None or _RELATIVE_WORDS.may_be_in(text.lower())


def _with_time(text: str, match: re.Match[str]) -> str:
    """Return the matched date with the day of the week before it and the time of day after it."""
    time = _TIME_AFTER.match(text, match.end())
    start = match.start()
    # Before a month, only English writes the day of the week; the word may also be the name of an author.
    weekdays = _ENGLISH_WEEKDAYS if text[start].isalpha() else _WEEKDAYS
    word = _WORD_BEFORE.search(text[:start])
    if word and word[1].lower() in weekdays.all:
        start = word.start()
    return text[start : time.end() if time else match.end()].strip()


DATE_TAGS = frozenset({"time", "relative-time", "time-ago", "local-time", "faceplate-timeago", "abbr"})
DATE_ROLES = frozenset({"datePublished", "dateCreated"})
NAMES = read_table(__package__, "names.toml")
"""Names by which pages mark authors and dates."""
_DATE_CLASS = WordPattern("|".join(NAMES["date_class"]), re.NOFLAG)
_DATE_ATTRIBUTES = (
    "datetime", "content", "title", "data-time", "data-timestamp", "data-date", "data-tippy-content", "ts",
)  # fmt: skip
_KIND_ATTRIBUTES = ("class", "title", "itemprop")
_JOINED = WordPattern(r"\b{date_labels.joined}\b")
_CHANGED = WordPattern(r"\b{date_labels.changed}\b|datemodified")
_PUBLISHED = WordPattern(r"{date_labels.published}")
_LABEL_TAGS = frozenset("dt span b strong em label i th".split())
_MAX_LABEL = 40
_MAX_PARTS = 12


class DateKind(enum.Enum):
    """What a date is the date of."""

    PUBLISHED = enum.auto()
    CHANGED = enum.auto()
    JOINED = enum.auto()
    """Beginning of a membership."""


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a page: its text, its time if that is known, and what it dates."""

    text: str
    moment: datetime | None
    kind: DateKind


@lru_cache(maxsize=4_096)
def names_date(classes: str) -> bool:
    """Return True if a value of `class` names a date."""
    return _DATE_CLASS.search(f" {classes.lower()} ") is not None


def read_date(element: Element, *, is_dated: bool) -> WrittenDate | None:
    """Return the date that an element states or displays outside of its parts, or None.

    With `is_dated`, tag, class or role of the element declare a date.
    """
    stated, moment = _read_stated(element) if is_dated else ("", None)
    for text, inner in _own_texts(element):
        found = find_written_date(text, is_hinted=is_dated)
        published = _PUBLISHED.search(text) if found else None
        own = find_written_date(text[published.end() :], is_hinted=is_dated) if published else None
        is_label = own is not None and published is not None and not published.start()
        if found is None or (not is_dated and not is_label and len(text) > len(found[0]) + _MAX_LABEL):
            continue
        written, known = own or found
        title = (element.get("title") or "")[:_MAX_CHARS]
        kind = DateKind.PUBLISHED if own else _kind_of(element, f"{inner} {text}")
        return WrittenDate(_complete(written, element), moment or known or _parse_stated(title), kind)
    if moment is None:
        return None
    text = " ".join(text_of(element).split()) if len(element) < _MAX_PARTS else ""
    found = find_written_date(text, is_hinted=True)
    return WrittenDate(found[0] if found else stated, moment, _kind_of(element, text))


def _own_texts(element: Element) -> Iterator[tuple[str, str]]:
    """Yield the short texts of an element outside of its parts, each with the end of the part before it."""
    pieces: list[tuple[Element | None, str | None]] = [(None, element.text)]
    if len(element) < _MAX_PARTS:
        pieces += [(child, child.tail) for child in element]
    for child, piece in pieces:
        if piece and len(piece) <= _MAX_SPACED and (text := " ".join(piece.split())) and len(text) <= _MAX_CHARS:
            yield text, text_of(child)[-_MAX_LABEL:] if child is not None and len(child) < 3 else ""


def _complete(written: str, element: Element) -> str:
    if not len(element) or len(whole := " ".join(text_of(element).split())) > _MAX_CHARS // 2:
        return written
    longer = find_written_date(whole, is_hinted=True)
    return longer[0] if longer and longer[0].startswith(written) else written


def _read_stated(element: Element) -> tuple[str, datetime | None]:
    """Return the first date in the attributes of an element, as written and as a time, or an empty text and None."""
    for attribute in _DATE_ATTRIBUTES:
        value = element.get(attribute)
        if not value and attribute == "title" and len(element) == 1 and element[0].tag == "span":
            value = element[0].get(attribute)
        if value and len(value) < _MAX_CHARS and (moment := _parse_stated(value)):
            return value, moment
    return "", None


def _parse_stated(value: str) -> datetime | None:
    """Return the time in an attribute. Some contain seconds since 1970 after the date."""
    first, _, rest = value.partition(" ")
    moment = date_parsing.parse_date(first if rest.isdigit() else value)
    return moment or (date_parsing.parse_date(first) if rest and " " not in rest else None)


def _kind_of(element: Element, text: str) -> DateKind:
    """Return what a date is the date of, by the words in an element and by the label before it."""
    words = " | ".join([text, *(element.get(name) or "" for name in _KIND_ATTRIBUTES), *_labels_before(element)])
    if _JOINED.search(words):
        return DateKind.JOINED
    return DateKind.CHANGED if _CHANGED.search(words) else DateKind.PUBLISHED


def _labels_before(element: Element) -> Iterator[str]:
    before, around = element.getprevious(), element.getparent()
    if before is None:
        if around is not None:
            yield (around.text or "")[-_MAX_LABEL:]
            yield around.get("class") or ""
        return
    tail = (before.tail or "").strip()
    yield tail[-_MAX_LABEL:]
    if not tail and len(before) < 3:
        yield from (part.get("title") or part.get("aria-label") or "" for part in before.iter())
        label = text_of(before) if before.tag in _LABEL_TAGS else ""
        # A text with a date of its own labels that date.
        yield "" if find_written_date(label) else label[-_MAX_LABEL:]
