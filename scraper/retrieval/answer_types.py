"""Determine which form of answer a question asks for, and if a sentence has it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from scraper.words.matcher import WordPattern

_QUESTION_FORMS = (
    (
        "number",
        r"\bhow (?:many|much|old|long|far|often|large|big|high|tall|deep)\b"
        r"|\bwhat (?:percent|percentage|number|amount|proportion|rate|age|size|dose)\b"
        r"|\b{search.how_many}\b",
    ),
    (
        "date",
        r"\b(?:when|what (?:year|date|day|month|century|time)|which year|in what year)\b"
        r"|\b{search.when}\b",
    ),
    ("name", r"\b(?:who|whom|whose)\b"),
    ("place", r"\bwhere\b|\b(?:what|which) (?:city|country|state|place|location|region)\b"),
    ("reason", r"\bwhy\b|\bwhat (?:caused|causes|is the reason|was the reason|reasons?)\b"),
    ("way", r"\bhow\b"),
    ("definition", r"\bwhat (?:is|are|does .{1,60} mean|was) (?:an? |the )?\w+\s*\w*\s*\?"),
)
_FORMS = tuple((name, WordPattern(form, re.NOFLAG)) for name, form in _QUESTION_FORMS)

_NUMERAL = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|half|dozen"
    r"|percent|several|few)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b1\d{3}\b|\b20\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b|\b\d{1,2}(?:st|nd|rd|th) century|\d{3,4}年"
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]+")
_PLACE = re.compile(r"\b(?:in|at|near|from|to|of|on)\s+(?:the\s+)?[A-Z][a-z]+")
_REASON = re.compile(
    r"\b(?:because|due to|since|in order to|so that|as a result|therefore|caused|leads? to|resulting|owing|thus"
    r"|reason)\b",
    re.IGNORECASE,
)
_WAY = re.compile(r"\b(?:by|using|through|via|with|use[sd]?|method|when you|may|can)\b", re.IGNORECASE)
_DEFINITION = re.compile(r"\b(?:is|are|means|refers to|called|known as|defined as)\b")


def find_answer_type(question: str) -> str:
    """Return the form of answer that a question asks for, such as `number` or `date`; "" if it is not known."""
    lower = question.lower()
    return next((name for name, form in _FORMS if form.search(lower)), "")


def rate_answer(answer_type: str, text: str) -> float:
    """Return a value from 1 (the text has this form of answer) to -1 (it is missing).

    Return 0 for `definition` and unknown forms.
    """
    rate = _RATES.get(answer_type)
    return rate(text) if rate else 0.0


def is_definition(text: str) -> bool:
    """Return True if a text has the form of a definition."""
    return _DEFINITION.search(text) is not None


def _rate_number(text: str) -> float:
    return 1.0 if any(map(str.isdecimal, text)) else 0.6 if _NUMERAL.search(text) else -1.0


def _rate_date(text: str) -> float:
    return 1.0 if _DATE.search(text) else 0.3 if any(map(str.isdecimal, text)) else -1.0


_RATES: Mapping[str, Callable[[str], float]] = {
    "number": _rate_number,
    "date": _rate_date,
    "name": lambda text: 0.5 if _NAME.search(text) else -1.0,
    "place": lambda text: 0.7 if _PLACE.search(text) else -0.5,
    "reason": lambda text: 1.0 if _REASON.search(text) else 0.0,
    "way": lambda text: 0.5 if _WAY.search(text) else 0.0,
}
