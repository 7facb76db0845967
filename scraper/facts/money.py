"""Parse prices and currencies, and find the currency of ambiguous signs such as `$`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from price_parser import Price

from scraper.html.page.page_tree import ScriptElement
from scraper.words.matcher import WordPattern, load_once, read_topic

_MAX_SCRIPT_CHARACTERS = 3_000_000
_CURRENCY_IN_SCRIPT = re.compile(
    r"(?i:currency(?:_?code|_?iso(?:_?code)?)?)\\?[\"']?\s*[:=]\s*(?:\{\s*\\?[\"']?active\\?[\"']?\s*:\s*)?\\?[\"']"
    r"([A-Z]{3})\\?[\"']"
)


def currencies_in_scripts(scripts: Iterable[ScriptElement]) -> frozenset[str]:
    """Return the currency codes that follow a word for currency in the scripts."""
    found: set[str] = set()
    left = _MAX_SCRIPT_CHARACTERS
    for script in scripts:
        left -= len(script.text)
        if left < 0:
            break
        found.update(_CURRENCY_IN_SCRIPT.findall(script.text))
    return frozenset(found)


_WORLDWIDE = frozenset("ac ai bz cc co cx fm gg im io la ly me ms nu pw sh so st to tv vc ws".split())
"""Top-level domains used worldwide for their letters."""

_OF_A_COUNTRY = frozenset({"com", "edu", "gob", "gov", "net", "org"})
"""Second-level domains that show that a worldwide top-level domain stands for its country, such as `com.co`."""

_ONE_COUNTRY = {"da": "dk", "is": "is", "ja": "jp", "nb": "no", "nn": "no", "no": "no", "sv": "se"}
"""Languages of a single country with its own currency."""

_LOCALE = re.compile(r"\A/(?:[a-z]{2}[-_]([a-z]{2}))(?:/|\Z)", re.IGNORECASE)


def country_of(url: str, languages: Iterable[str]) -> str:
    """Return the two-letter country of a page in lower case, or an empty string.

    The top-level domain is used first, then the locale in the path, then the language tags.
    """
    address = urlsplit(url)
    *_, second, last = ("", "", *(address.hostname or "").split("."))
    if len(last) == 2 and (last not in _WORLDWIDE or second in _OF_A_COUNTRY):
        return last
    tags = [language.strip().replace("_", "-").lower() for language in languages]
    locale = _LOCALE.match(address.path)
    regions = [locale.group(1).lower()] if locale else []
    regions += [tag.rpartition("-")[2] for tag in tags if "-" in tag]
    known = next((region for region in regions if len(region) == 2), "")
    return known or next((_ONE_COUNTRY[tag] for tag in tags if tag in _ONE_COUNTRY), "")


_MAX_CHARACTERS = 80
"""Characters of a price text that are examined."""
_MAX_AMOUNT = 1e12

_PLAIN = re.compile(r"\d{1,12}(?:\.\d{1,2}|\.\d{4,10})?")
"""Number format of schema.org. On pages, three digits after a point are thousands in spite of the rule."""
_EITHER = re.compile(r"\d{1,3}\.\d{3}", re.ASCII)
_THREE_DECIMALS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())

SIGN = (
    r"(?:[$]|{currencies.symbol}|{currencies.name}|(?<=\d)\s?(?:đ|р(?![^\W\d_]))|(?<!\w)(?-i:S/)(?=\.?\s?\d)|"
    r"(?<![^\W\d_])(?:{currencies.word}|(?-i:{currencies.code}))(?![^\W\d_]))"
)
"""Template of currency signs and codes. Case separates codes from units with the same letters, such as `ft` or `kN`."""
_LOCAL_SIGN = WordPattern(
    r"S/(?=\.?\s?\d)|(?-i:(?<![^\W_])(?:R|S?Fr\.?|KSh|RMB))(?=\s?\d)|บาท|(?-i:(?<=\d)\s?KM(?![^\W_]))|"
    r"(?<![^\W\d_]){currencies.unknown}(?![^\W\d_])|(?<=\d)\s?(?::-|[,.]\s?-)(?![\w-])"
)
"""Signs that price-parser does not support."""
PRICE_NAMES = WordPattern(r"{shop.price}|(?<![a-z])(?:prc|bid)(?![a-z])", re.NOFLAG)
"""Words of labels and class names of prices in lower case."""

_PLAIN_MARKS = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹０１２３４５６７８９٫٬，．’–—", "0123456789" * 3 + ".,,.'--")
"""Digits and separators of other scripts, mapped to those that price-parser supports."""

ROUND_PRICE_MARKS = frozenset({":-", ",-", ".-"})
"""Marks for "no cents" in some countries: they show a price but no currency."""

_PENCE = re.compile(r"(?:now |only )?(\d{1,2})p(?: each)?", re.IGNORECASE)


class _Signs(NamedTuple):
    """The currencies of signs without a final dot."""

    codes: Mapping[str, str]
    """Code by sign in lower case, for signs of exactly one currency. `$`, `kr`, `¥` and `Rs` are ambiguous."""
    shared: Mapping[str, Mapping[str, str]]
    """Code by country, by ambiguous sign."""
    beside: Mapping[str, re.Pattern[str]]
    """Text next to an ambiguous sign that specifies the currency: `$12 MXN`, `US $12`."""


@load_once
def _read_signs() -> _Signs:
    topic = read_topic("currencies")
    beside = r"(?<![A-Za-z])(?:{})(?![A-Za-z])|U\.?S\.? \$"
    return _Signs(
        {_shared(sign): code for code, signs in topic["sign"].items() for sign in signs},
        {sign: {code[:2].lower(): code for code in codes} for sign, codes in topic["shared"].items()},
        {sign: re.compile(beside.format("|".join(codes))) for sign, codes in topic["shared"].items()},
    )


@dataclass(frozen=True, slots=True)
class VisibleAmount:
    """A visible price; `sign` is the currency sign or code beside the number."""

    value: float
    sign: str | None = None


def parse_machine_price(text: str, code: str | None = None) -> float | None:
    """Parse a machine-readable price with the currency `code`; return None if the text has no number.

    Three digits after a point are decimals only for currencies with three decimals; else they are thousands.
    """
    text = text.strip()[:_MAX_CHARACTERS].translate(_PLAIN_MARKS)
    decimals = (code or "").upper() in _THREE_DECIMALS
    if _PLAIN.fullmatch(text) or (decimals and re.fullmatch(r"\d+\.\d{3}", text)):
        return _bounded(float(text))
    amount = parse_visible_price(text)
    return None if amount is None else amount.value


def as_decimals(text: str) -> float | None:
    """Return the decimal reading of a text such as `19.999`; None if the text is unambiguous."""
    return float(text) if _EITHER.fullmatch(text.strip()) else None


def parse_visible_price(text: str) -> VisibleAmount | None:
    """Parse the first price in a short text; return None if there is none."""
    text = text[:_MAX_CHARACTERS].translate(_PLAIN_MARKS)
    if not any(map(str.isdigit, text)):
        return None
    pence = _PENCE.fullmatch(text.strip())
    if pence:
        return VisibleAmount(int(pence.group(1)) / 100, "£")
    price = Price.fromstring(text)
    value = None if price.amount is None else _bounded(float(price.amount))
    return None if value is None else VisibleAmount(value, _sign_in(text, price.currency))


def _sign_in(text: str, sign: str | None) -> str | None:
    """Return the sign beside the number; letters count only as a separate word, not `Le` in `Legend`."""
    beside = _read_signs().beside.get(_shared(sign))
    if beside and (code := beside.search(text)):
        return code.group()
    if sign and (not sign[0].isalpha() or re.search(rf"(?<![^\W\d_]){re.escape(sign)}(?![^\W\d_])", text)):
        return sign
    other = _LOCAL_SIGN.search(text)
    return "".join(other.group().split()) if other else None


def simplify_number(value: float) -> float | int:
    """Return whole amounts as int, others rounded to four decimals."""
    return int(value) if value == int(value) else round(value, 4)


def currency_code(sign: str | None, country: str = "") -> str | None:
    """Return the ISO 4217 code of a code or sign, or None; resolve an ambiguous sign only by country."""
    word = (sign or "").strip()
    if not word:
        return None
    signs, key = _read_signs(), _shared(word)
    if known := signs.codes.get(key):
        return known
    if len(word) == 3 and word.isascii() and word.isalpha():
        return word.upper()
    return signs.shared.get(key, {}).get(country)


def code_or_sign(sign: str | None) -> str | None:
    """Return the code of a sign, or the sign; None for a mark such as `:-` that is not a currency."""
    return currency_code(sign) or (None if sign in ROUND_PRICE_MARKS else sign)


def guess_currency(sign: str | None, country: str, page_codes: Set[str]) -> str | None:
    """Return the currency of an ambiguous sign: the only matching one on the page, or that of the page's country."""
    by_country = _read_signs().shared.get(_shared(sign), {})
    stated = {code for code in by_country.values() if code in page_codes}
    return stated.pop() if len(stated) == 1 else by_country.get(country)


def _shared(sign: str | None) -> str:
    word = (sign or "").strip()
    return {"￥": "¥"}.get(word, word.lower().rstrip("."))


def _bounded(value: float) -> float | None:
    return value if math.isfinite(value) and 0 <= value < _MAX_AMOUNT else None
