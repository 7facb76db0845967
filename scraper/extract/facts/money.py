"""Prices and currencies as pages write them, for machines and for people."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType

from price_parser import Price

_MAX_CHARACTERS = 80
_MAX_AMOUNT = 1e12

_PLAIN = re.compile(r"\d{1,12}(?:\.\d{1,2}|\.\d{4,10})?")
"""As schema.org asks for it. Three digits behind a point are thousands on pages, whatever the rule."""
_EITHER = re.compile(r"\d{1,3}\.\d{3}", re.ASCII)
_CODE = re.compile(r"[A-Z]{3}")
_THREE_DECIMALS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())

_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "US$": "USD", "$US": "USD", "CA$": "CAD", "C$": "CAD", "AU$": "AUD", "A$": "AUD", "NZ$": "NZD",
        "HK$": "HKD", "NT$": "TWD", "S$": "SGD", "SG$": "SGD", "R$": "BRL", "MX$": "MXN", "€": "EUR",
        "£": "GBP", "₹": "INR", "₽": "RUB", "руб": "RUB", "р.": "RUB", "₴": "UAH", "грн": "UAH",
        "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "lei": "RON", "лв": "BGN", "₺": "TRY", "TL": "TRY",
        "₪": "ILS", "₩": "KRW", "원": "KRW", "円": "JPY", "₫": "VND", "đ": "VND", "฿": "THB", "₱": "PHP",
        "₸": "KZT", "тг": "KZT", "₾": "GEL", "₦": "NGN", "R": "ZAR", "RM": "MYR", "Rp": "IDR", "ر.س": "SAR",
        "د.إ": "AED", "ج.م": "EGP", "د.ك": "KWD", "ر.ق": "QAR", "дин": "RSD", "ден": "MKD",
        "RUR": "RUB", "Fr.": "CHF", "SFr.": "CHF", "евро": "EUR", "euro": "EUR",
        "S/": "PEN", "S/.": "PEN", "Bs": "BOB", "kn": "HRK", "€.": "EUR", "US $": "USD", "U.S. $": "USD",
        "J$": "JMD", "RD$": "DOP", "TT$": "TTD", "CL$": "CLP", "AR$": "ARS", "CO$": "COP", "RMB": "CNY",
        "CN¥": "CNY", "৳": "BDT", "บาท": "THB", "KSh": "KES", "KM": "BAM", "₡": "CRC", "₲": "PYG",
        "₼": "AZN", "₮": "MNT", "₭": "LAK", "៛": "KHR", "؋": "AFN", "֏": "AMD", "GH₵": "GHS", "₵": "GHS",
        "SFr": "CHF",
    }
)  # fmt: skip
"""Signs that stand for one currency. `$`, `kr`, `¥`, `Rs` do not, and stay as they are."""
_BY_LOWER = {sign.lower().rstrip("."): code for sign, code in _SIGNS.items()}

_LOCAL_SIGN = re.compile(
    r"S/(?=\.?\s?\d)|(?-i:(?<![^\W_])(?:R|S?Fr\.?|KSh|RMB))(?=\s?\d)|บาท|(?-i:(?<=\d)\s?KM(?![^\W_]))|"
    r"(?<![^\W\d_])(?:тг|kn|ден|дин|лв|元|円|ر\.س|د\.إ|ج\.م|د\.ك|ر\.ق)(?![^\W\d_])|"
    r"(?<=\d)\s?(?::-|[,.]\s?-)(?![\w-])",
    re.IGNORECASE,
)
"""Signs that the library does not know."""

_PLAIN_MARKS = str.maketrans(
    "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹０１２３４５６７８９٫٬，．’–—", "0123456789" * 3 + ".,,.'--"
)
"""Digits of other scripts and the marks among them, as the library knows them."""

ROUND = frozenset({":-", ",-", ".-"})
"""What stands for no cents in some countries: a sign of a price, not of a currency."""

_PENCE = re.compile(r"(?:now |only )?(\d{1,2})p(?: each)?", re.IGNORECASE)
_AMBIGUOUS = re.compile(r"[$¥￥]|kr\.?|rs\.?|元", re.IGNORECASE)
_BY_COUNTRY: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "$": {
            "ar": "ARS", "au": "AUD", "ca": "CAD", "cl": "CLP", "co": "COP", "hk": "HKD", "mx": "MXN",
            "nz": "NZD", "sg": "SGD", "tw": "TWD", "uy": "UYU", "us": "USD", "do": "DOP", "jm": "JMD",
            "tt": "TTD", "bb": "BBD", "bs": "BSD", "bz": "BZD", "fj": "FJD",
        },
        "kr": {"dk": "DKK", "is": "ISK", "no": "NOK", "se": "SEK"},
        "¥": {"cn": "CNY", "jp": "JPY"},
        "元": {"cn": "CNY", "hk": "HKD", "tw": "TWD"},
        "rs": {"in": "INR", "lk": "LKR", "np": "NPR", "pk": "PKR"},
        ":-": {"no": "NOK", "se": "SEK"},
        ",-": {"dk": "DKK", "no": "NOK"},
        ".-": {"ch": "CHF"},
    }
)  # fmt: skip
_CODES_BESIDE: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        sign: re.compile(rf"(?<![A-Za-z])(?:{'|'.join(codes.values())})(?![A-Za-z])|U\.?S\.? \$")
        for sign, codes in _BY_COUNTRY.items()
    }
)
"""What beside a sign that several currencies share says which one it is: `$12 MXN`, `US $12`."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A price as a person reads it; `sign` is what stands beside the number."""

    value: float
    sign: str | None = None


def stated(text: str, currency: str | None = None) -> float | None:
    """A price that is written for machines; None where there is no number in it."""
    text = text.strip()[:_MAX_CHARACTERS].translate(_PLAIN_MARKS)
    decimals = (currency or "").upper() in _THREE_DECIMALS
    if _PLAIN.fullmatch(text) or (decimals and re.fullmatch(r"\d+\.\d{3}", text)):
        return _bounded(float(text))
    amount = seen(text)
    return None if amount is None else amount.value


def with_decimals(text: str) -> float | None:
    """The other reading of `19.999`, which may be nineteen or nineteen thousand; None where there is one."""
    return float(text) if _EITHER.fullmatch(text.strip()) else None


def seen(text: str) -> Amount | None:
    """The first price in a short text."""
    text = text[:_MAX_CHARACTERS].translate(_PLAIN_MARKS)
    if not any(map(str.isdigit, text)):
        return None
    pence = _PENCE.fullmatch(text.strip())
    if pence:
        return Amount(int(pence.group(1)) / 100, "£")
    price = Price.fromstring(text)
    value = None if price.amount is None else _bounded(float(price.amount))
    return None if value is None else Amount(value, _sign_in(text, price.currency))


def _sign_in(text: str, sign: str | None) -> str | None:
    """The sign beside the number; letters count only as a word of their own, `Le` of `Legend` does not."""
    beside = _CODES_BESIDE.get(_shared(sign))
    if beside and (told := beside.search(text)):
        return told.group()
    if sign and (not sign[0].isalpha() or re.search(rf"(?<![^\W\d_]){re.escape(sign)}(?![^\W\d_])", text)):
        return sign
    other = _LOCAL_SIGN.search(text)
    return "".join(other.group().split()) if other else None


def number(value: float) -> float | int:
    """Whole amounts without a point."""
    return int(value) if value == int(value) else round(value, 4)


def code_of(sign: str | None, country: str = "") -> str | None:
    """The ISO 4217 code of a currency's code or sign; of a sign that several share, only with the country."""
    word = (sign or "").strip()
    if not word:
        return None
    known = _BY_LOWER.get(word.lower().rstrip("."))
    if known:
        return known
    if _CODE.fullmatch(word.upper()) and word.isascii() and not _AMBIGUOUS.fullmatch(word):
        return word.upper()
    return _BY_COUNTRY.get(_shared(word), {}).get(country)


def currency(sign: str | None) -> str | None:
    """The code that a sign stands for, else the sign; None for one that only says: this is a price."""
    return code_of(sign) or (None if sign in ROUND else sign)


def likely_code(sign: str | None, country: str, stated: Set[str]) -> str | None:
    """Of the currencies that share a sign the only one that the page states, else that of its country."""
    by_country = _BY_COUNTRY.get(_shared(sign), {})
    told = {code for code in by_country.values() if code in stated}
    return told.pop() if len(told) == 1 else by_country.get(country)


def _shared(sign: str | None) -> str:
    word = (sign or "").strip()
    return {"￥": "¥"}.get(word, word.lower().rstrip("."))


def _bounded(value: float) -> float | None:
    return value if math.isfinite(value) and 0 <= value < _MAX_AMOUNT else None
