"""Read amounts of money: their number, currency sign and role; find the currency of ambiguous signs such as `$`."""

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from scraper.text.terms import DIGITS
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern, Words, load_once, read_topic

PRODUCT_NAMES = read_table(__package__, "product_names.toml")
"""Names by which pages mark the facts of a product."""
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


_MAX_CHARACTERS = 400
"""Characters of a text that are searched for amounts."""
_MAX_AMOUNT = 1e12

_THREE_DECIMALS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())
_POINT_DECIMALS = frozenset({"GBP", "ILS", "INR", "USD"})
"""Currencies with decimals behind a point on all pages. `$` also stands for pesos, with thousands behind a point."""

SIGN = (
    r"(?:(?<![A-Za-z])(?-i:[A-Z]{1,3})?[$]|(?<![A-Za-z])(?-i:E£)|{currencies.symbol}|{currencies.name}|"
    r"(?<=\d)\s?(?:đ|р(?![^\W\d_]))|(?<!\w)(?-i:S/)(?=\.?\s?\d)|"
    r"(?<![^\W\d_])(?:{currencies.word}|(?-i:{currencies.code}))(?![^\W\d_]))"
)
"""Template of currency signs and codes. Case separates codes from units with the same letters, such as `ft` or `kN`."""
_SIGN_OF_PRICES = rf"(?:{SIGN}|(?-i:(?<![^\W_])(?:R|S?Fr|KSh|RMB)(?=\.?\s?\d)|(?<=\d)\s?KM(?![^\W_])))"
"""Template that also has the signs which count only in a price: `R 12`, `Fr. 12`, `12 KM`."""
_NUMBER = r"(?:(?<![\d.,])(?:\d{1,3}(?:[ '\xa0\u202f\u2009]\d{3})+(?!\d)|\d+)(?:[.,]\d+)*|(?<![\w.,])[.,]\d\d(?!\d))"
_SPACED = r"(?:[.,] \d\d(?!\d))?"
_ROUND = r"\s?(?::-|[,.]\s?-)(?![\w-])"
_TO = r"\s?(?:[-~〜～]|\b{shop.to}\b)\s?"
_APART = (
    r"(?<!\S\s\d)(?<!\S\s\d\d)(?<!\S\s\d{3})\s?(?:{currencies.behind})\.?\s?(?=\d\d\s?(?:{currencies.cent}\.?)?\s*\Z)"
)
"""A sign between euros and cents of a whole text such as `12 € 50`; in `64 GB €499` it begins the amount."""
_RANGE = rf"(?:(?<=[.,]\d\d){_TO}{_NUMBER}(?<=[.,]\d\d)|(?<![.,]\d\d){_TO}{_NUMBER}(?<![.,]\d\d))"
"""End of a range whose sign stands at its end: `11,00 - 33,00 €`, but not `6 - 12,00 €`."""


def _amount_with(sign: str, alone: str = "") -> WordPattern:
    """Return the pattern of a number with a sign before or behind it, or with `alone` behind it."""
    return WordPattern(
        rf"(?<![\d.,])(?P<whole>\d{{1,9}})(?P<between>{{currencies.symbol}}|{_APART})(?P<cents>\d\d)(?![\d.,])|"
        rf"(?P<before>{sign})\.?\s*(?P<number>{_NUMBER}(?:{_SPACED}(?=\s*\Z))?)|"
        rf"(?P<other>{_NUMBER}{_SPACED}){_RANGE}?(?:(?:{_ROUND})?\s?(?P<behind>{sign})(?!\d)\.?{alone})"
    )


MONEY = _amount_with(SIGN)
"""An amount with a currency sign or code before or behind it."""
_PRICE = _amount_with(_SIGN_OF_PRICES, rf"|(?P<mark>{_ROUND}|p(?:ence)?(?!\w))")
_BARE = re.compile(rf"(?P<number>{_NUMBER})")
_NO_SIGN = frozenset("0123456789 .,:;/-+()%#\n\t")
"""Characters of texts such as dates and counts, which need no search for a sign."""
_MULTIPLIED = WordPattern(r"(?:[km]|bn|\s?{currencies.multiplier})(?![^\W\d_])|\s?{currencies.myriad}")
_MYRIADS = Words("currencies.myriad")
"""Numbers that Chinese, Japanese and Korean write between digits."""
ROUND_PRICE = re.compile(_NUMBER + _ROUND)
"""A whole text such as `149:-`, which is a price without a currency sign."""
PRICE_NAMES = WordPattern(r"{shop.price}|(?<![a-z])(?:prc|bid|pris|fiyat|cijena|pret|gia)(?![a-z])", re.NOFLAG)
"""Words of labels and class names of prices in lower case."""

_PLAIN_MARKS = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹０１２３４５６７８９٫٬，．’–—", "0123456789" * 3 + ".,,.'--")
"""Digits and separators of other scripts, mapped to those that this module reads."""

ROUND_PRICE_MARKS = frozenset({":-", ",-", ".-"})
"""Marks for "no cents" in some countries: they show a price but no currency."""


class Role(enum.IntEnum):
    """Role of an amount beside others; the lowest one is the price."""

    CURRENT = 0
    PART = 1
    """Installment, price of a unit such as a kilogram, or price without tax."""
    OTHER = 2
    """Saving, threshold or fee."""
    OLD = 3
    """Struck out, or behind a word such as "was"."""


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount in a text; `sign` is the currency sign or code beside the number."""

    value: float
    sign: str | None = None
    role: Role = Role.CURRENT
    text: str = ""
    """The amount as it is written, with its sign."""
    start: int = 0
    """Position in the text."""
    other: float | None = None
    """Second reading of a number such as `1.299`."""


class _Signs(NamedTuple):
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


_OLD_BEFORE = WordPattern(r"(?:(?<![^\W\d_]){shop.was}\s*:?|(?<!\w)de(?=:?\s?\Z):?|(?<!\w)van)[^\w.;|]{0,6}\Z")
_OTHER_BEFORE = WordPattern(
    r"(?<![^\W\d_]){shop.no_price}(?![^\W\d_])[^.;|,\d]{0,25}\Z|(?:\A|[\s(])-\Z|(?<![\w.,])[2-9]\s{shop.for}\s\Z"
)
_OTHER_BEHIND = WordPattern(r"\W{0,3}{shop.no_price}(?![^\W\d_])")
_WITHOUT_TAX = "(?:" + "|".join(PRODUCT_NAMES["texts"]["without_tax"]) + r")(?![^\W\d_])"
_PART_BEFORE = WordPattern(
    r"(?:(?<![\w.,])(?:\d+(?:[.,]\d+)?\s?)?{shop.measure}\s*[=:]|(?:\A|[(|,]\s*){shop.per}\s+(?:\d+(?:[.,]\d+)?\s*)?{shop.measure}\s|\d\s*(?:[x×]|(?:[^\W\d]+\s+){0,2}{shop.installments})|"
    rf"(?<![^\W\d_]){_WITHOUT_TAX}\s*:|{{shop.label_without_tax}})\s*[(]?\Z"
)
_PART_BEHIND = WordPattern(
    r"\s*(?:/\s*(?:\d+(?:[.,]\d+)?\s*)?(?!{shop.piece}(?![^\W\d_]))[^\W\d_]|{shop.monthly}(?![^\W\d_])|"
    r"{shop.per}\s+(?:\d+(?:[.,]\d+)?\s*)?(?:{shop.measure}|{shop.period})(?![^\W\d_]))|"
    rf"[\s(]*{_WITHOUT_TAX}"
)


@lru_cache(maxsize=4_096)
def read_amounts(text: str, *, is_price: bool = True) -> tuple[Amount, ...]:
    """Return the amounts in a text, with their roles by the words around them.

    With `is_price`, signs such as `R` and `:-` count, and numbers without a sign if no number has one.
    """
    text = text[:_MAX_CHARACTERS].translate(_PLAIN_MARKS)
    if not DIGITS.search(text) or (not is_price and _NO_SIGN.issuperset(text)):
        return ()
    matches = list((_PRICE if is_price else MONEY).finditer(text))
    if is_price and not matches:
        matches = list(_BARE.finditer(text))
    ends = [0, *(match.end() for match in matches)]
    starts = [*(match.start() for match in matches[1:]), len(text)]
    found: list[Amount] = []
    for match, before, behind in zip(matches, ends, starts, strict=False):
        role = _role_of(text[before : match.start()], text[match.end() : behind])
        found += filter(None, (_read_match(text, match, role),))
    return tuple(found)


def _read_match(text: str, match: re.Match[str], role: Role) -> Amount | None:
    parts = match.groupdict()
    number, mark = parts.get("number") or parts.get("other") or "", parts.get("mark") or ""
    number = number or f"{parts['whole']}.{parts['cents']}"
    sign = "".join((parts.get("before") or parts.get("behind") or parts.get("between") or mark).split())
    value, other = parse_number(number, sign)
    end = match.end("number" if parts.get("number") else 0)
    if _MULTIPLIED.match(text, end) or text[: match.start()].rstrip()[-1:] in _MYRIADS.all:
        return None
    if mark.startswith("p"):
        if not number.isdecimal() or value >= 100:
            return None
        value, sign = value / 100, "£"
    beside = _read_signs().beside.get(_shared(sign))
    if beside and (code := beside.search(text, max(0, match.start() - 5), match.end() + 5)):
        sign = code.group()
    if not 0 <= value < _MAX_AMOUNT:
        return None
    return Amount(value, sign or None, role, match.group().strip(), match.start(), other)


def _role_of(before: str, behind: str) -> Role:
    if _OLD_BEFORE.search(before):
        return Role.OLD
    if _PART_BEFORE.search(before) or _PART_BEHIND.match(behind):
        return Role.PART
    return Role.OTHER if _OTHER_BEFORE.search(before) or _OTHER_BEHIND.match(behind) else Role.CURRENT


def parse_number(text: str, currency: str | None = None) -> tuple[float, float | None]:
    """Return a number with separators of thousands and decimals, and the second reading of an ambiguous one.

    Three digits behind a single point are decimals if they cannot be thousands, or if pages write the currency so.
    """
    digits = "".join(char for char in text if char.isdigit() or char in ".,")
    *whole, last = digits.replace(",", ".").split(".")
    plain, decimals = float("".join((*whole, last))), float(f"{''.join(whole) or 0}.{last or 0}")
    code = currency_code(currency) or currency
    if len(whole) == 0 or (len(whole) > 1 and len(last) == 3 and not ("." in digits and "," in digits)):
        return plain, None
    if len(whole) > 1 or len(last) != 3 or len(whole[0]) > 3 or whole[0] in ("", "0") or code in _THREE_DECIMALS:
        return decimals, None
    if "," in digits:
        return plain, None
    return (decimals, None) if code in _POINT_DECIMALS else (plain, decimals)


def read_stated(text: str, currency: str | None = None) -> Amount | None:
    """Return the price in data for machines, whose decimals stand behind a point; None if there is no number.

    Three digits behind a single point may be thousands all the same; a zero at the end says that they are decimals.
    """
    text = text.strip()[:_MAX_CHARACTERS].translate(_PLAIN_MARKS)
    if not text.replace(".", "").isdecimal():
        return best_amount(read_amounts(text))
    value, other = parse_number(text, currency if currency in _THREE_DECIMALS else None)
    if other is not None and text.endswith("0"):
        value, other = other, value
    return Amount(value, other=other, text=text) if value < _MAX_AMOUNT else None


def best_amount(amounts: Sequence[Amount]) -> Amount | None:
    """Return the first amount of the best role."""
    return min(amounts, key=lambda one: one.role, default=None)


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


def _shared(sign: str | None) -> str:
    word = (sign or "").strip()
    return {"￥": "¥"}.get(word, word.lower().rstrip("."))
