"""Compare the values of an answer with those of a case, whatever their form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_ANY_FORM = "(any form)"
"""Mark of a value of which only the words and numbers count."""
_CENT = 0.005
_CODES = {"$": "USD"}
_THOUSANDS = re.compile(r"(?<=\d)[,.\u00a0 '](?=\d{3}(?!\d))")
_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_AMOUNT = re.compile(r"[#\d\s.,:'-]+")
_SEPARATORS = str.maketrans({";": ",", "|": ","})
_MIN_ABBREVIATION = 2


@dataclass(frozen=True, slots=True)
class Value:
    """A value of an answer."""

    value: Any
    confidence: float | None = None
    """None if values of this kind carry no confidence."""
    sign: str = ""
    """Currency sign that the page shows."""


def same_value(name: str, expected: Any, found: Value) -> bool:
    """Return True if a named value is the expected one; None means that there may be no value."""
    if expected in (None, "") or found.value in (None, "", [], {}):
        return expected in (None, "") and found.value in (None, "", [], {})
    return _BY_NAME.get(name, _same_text_or_amount)(expected, found)


def same_text(expected: object, found: object) -> bool:
    """Return True if two texts are equal but for case, spaces and the separators of lists; None is an empty text."""
    text = str(expected or "")
    if text.endswith(_ANY_FORM):
        return _same_tokens(text.removesuffix(_ANY_FORM), str(found or ""))
    return _fold(expected) == _fold(found)


def same_amount(expected: object, found: object) -> bool:
    """Return True if two amounts have the same text; a currency or unit may stand beside the found one."""
    wanted, text = _fold(expected), _fold(found)
    if wanted == text:
        return True
    before, part, after = text.partition(wanted)
    return bool(part) and not any(map(str.isdigit, before + after))


def same_names(expected: str, found: object) -> bool:
    """Return True if two texts name the same people."""
    return _names(expected) == _names(str(found or ""))


def same_date(expected: str, found: object) -> bool:
    """Return True if a date or moment is the expected one, to the precision of the expected one.

    The value of a month alone may be its first day.
    """
    text = found.isoformat() if isinstance(found, datetime) else str(found or "")
    if "T" in expected:
        try:
            return datetime.fromisoformat(expected) == datetime.fromisoformat(text)
        except (ValueError, TypeError):
            return False
    date = text.partition("T")[0]
    return date in (expected, f"{expected}-01")


def _same_tokens(expected: str, found: str) -> bool:
    """Return True if all words and numbers are found; a word may be abbreviated."""
    tokens = _tokens(found)
    return all(any(token == one or _abbreviates(token, one) for one in tokens) for token in _tokens(expected))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_THOUSANDS.sub("", text).casefold())


def _abbreviates(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= _MIN_ABBREVIATION and short.isalpha() and long.startswith(short)


def _names(text: str) -> frozenset[str]:
    parts = re.split(r"[,;&]|\band\b", text.casefold())
    return frozenset(" ".join(part.split()) for part in parts if part.strip())


def _fold(text: object) -> str:
    listed = ", ".join(map(str, text)) if isinstance(text, list) else str("" if text is None else text)
    return " ".join(listed.translate(_SEPARATORS).casefold().split())


def _same_text_or_amount(expected: Any, found: Value) -> bool:
    if _AMOUNT.fullmatch(str(expected)):
        return same_amount(expected, found.value)
    return same_text(expected, found.value)


def _same_number(expected: Any, found: Value) -> bool:
    try:
        return abs(float(expected) - float(found.value)) < _CENT
    except (TypeError, ValueError):
        return False


def _same_currency(expected: Any, found: Value) -> bool:
    return found.value in (expected, _CODES.get(expected)) or found.sign == expected


def _same_availability(expected: Any, found: Value) -> bool:
    return str(expected).casefold() == str(found.value).rpartition("/")[2].casefold()


_BY_NAME: Mapping[str, Callable[[Any, Value], bool]] = {
    "price": _same_number, "currency": _same_currency, "availability": _same_availability,
    "total_time": _same_number, "prep_time": _same_number, "cook_time": _same_number,
}  # fmt: skip
