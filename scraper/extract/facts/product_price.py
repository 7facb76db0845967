"""The price that a person takes for the product's: near its title, not an old one nor another's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.facts import money, price_text
from scraper.extract.facts.money import Amount
from scraper.extract.facts.price_text import MAX_PRICE_TEXT, current, is_struck, names_of, without_past_amount
from scraper.extract.facts.product_vocabulary import PRICE_NAMES

MAX_ELEMENTS = 40_000
_MAX_PLAIN_TEXT = 40
_MAX_AROUND = 30

_SIGN = re.compile(
    r"[$€£¥￥₹₽₴₺₪₩₫฿₱₸₾₦৳₡₲₼₮₭៛؋֏₵元円원]|บาท|تومان|ريال|﷼|zł|kč|ر\.س|د\.إ|ج\.م|د\.ك|ر\.ق|(?<=\d)\s?đ|S/(?=\.?\s?\d)|"
    r"(?<![^\W\d_])(?:kr|chf|eur|euro|usd|gbp|aud|cad|тг|руб|р\.|грн|lei|sek|nok|dkk|pln|czk|лв|дин|ден|"
    r"(?-i:[Kk]n|TL|Rs|Ft|RM|Rp|AED|ARS|BRL|CLP|CNY|COP|EGP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES|KRW|KWD|KZT|MAD|"
    r"MXN|MYR|NGN|NZD|PEN|PHP|PKR|QAR|RON|RSD|RUB|SAR|SGD|THB|TRY|TWD|UAH|VND|ZAR|AMD|AZN|BAM|BDT|BGN|BHD|"
    r"BOB|BYN|CRC|DOP|DZD|GEL|GHS|GTQ|HNL|IQD|IRR|JMD|JOD|KHR|LBP|LKR|MDL|MKD|MMK|MNT|MUR|NPR|OMR|PYG|RMB|TND|"
    r"TZS|UGX|UYU|UZS|XAF|XOF|ZMW|KSh))(?![^\W\d_])",
    re.IGNORECASE,
)
"""Where letters of a sign are those of a unit, `ft` or `kn`, their case tells them apart."""
_OTHER_WORDS = re.compile(
    r"(?<![^\W\d_])(?:off|save|saving|over|orders?|shipping|delivery|months?|mo|rrp|msrp|uvp|was|interest|"
    r"versand|statt|spare|ahorra|envío|livraison|spedizione)(?![^\W\d_])",
    re.IGNORECASE,
)
"""What stands beside amounts that are no prices: thresholds, savings, instalments."""
_NUMBER = re.compile(r"\d[\d.,' \xa0]*")
_NOT_NOW = re.compile(
    r"old|was|non-?sale|list(?:-?price|_?price|preis)|rrp|msrp|uvp|strike|line-?through|regular|before|saving|save|ship|deliver|"
    r"versand|unit|(?:^|[-_ ])per[-_]|related|recommend|similar|carousel|slider|also|cross|upsell|"
    r"accessor|sponsor|cart-|minicart|basket|review|filter|install?ment|month|financ|footer|header|(?:^|"
    r"[-_ ])nav|shipping|bundle|swatch|points|coupon|original|compare|range|widget|previous|menu|"
    r"affirm|klarna|afterpay|clearpay|"
    r"discount-?(?:amount|percent)|loyalty|bonus",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"final|current|(?<!non-)sale|our|now|offer|deal|actual|special|product-?price|price-?box|main|buy|today|promo|"
    r"new",
    re.IGNORECASE,
)
_NAMED_SIGN = re.compile(
    r"(?<![^\W_])(?:R|S?Fr\.?)\s?\d{1,3}(?:[ ,'’\xa0]?\d{3})*(?:[.,]\d\d)?(?!\w)|"
    r"\d\s?(?::[-–]|[,.]\s?[-–—])(?![\w-])|\d\s?KM(?!\w)|(?<![\d.,])\d{1,2}p(?!\w)"
)
"""What is a sign only in what is called a price: `R 12`, `Fr. 12`, `12:-`, `12,-`, `12 KM`, `99p`."""
_OUTSIDE = frozenset({"footer", "nav", "header", "aside"})
_PASSED = frozenset({"option", "select", "textarea", "noscript", "template"})

_BY_ITEMPROP, _BY_NAME, _BY_NOW = 4.0, 2.5, 1.2
_AGAINST, _MOST_AGAINST = 1.6, 4
_AS_STRUCK = 3
_AS_OTHER = 2
_ABOVE_TITLE = 2.0
_REACH_BELOW, _REACH_ABOVE = 120.0, 60.0
"""Elements from the title that weigh as much as one point."""
_MANY_ALIKE, _ALIKE_COST = 4, 1.5
"""Prices of the same class: rows of other products."""
_LEAST_SCORE = -3.0
_SURE_SCORE = 1.0
_ANCESTORS = 7


@dataclass(frozen=True, slots=True)
class VisiblePrice:
    """The best looking price, whether much speaks for it, and the signs of all amounts on the page."""

    amount: Amount | None
    sure: bool
    signs: Mapping[float, str | None]
    clear: Set[float]
    """The amounts against which nothing speaks somewhere."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    amount: Amount
    place: int
    names: str
    named: bool
    itemprop: bool
    against: int


def shown(body: Element, title: Element | None) -> VisiblePrice:
    """The price near the title; none where nothing looks like it."""
    place, found = _candidates(body, title)
    alike = Counter(one.names for one in found if one.names)
    best = max(found, key=lambda one: _score(one, place, alike), default=None)
    score = _LEAST_SCORE if best is None else _score(best, place, alike)
    amount = best.amount if best is not None and score > _LEAST_SCORE else None
    signs: dict[float, str | None] = {}
    for one in found:
        signs[one.amount.value] = signs.get(one.amount.value) or one.amount.sign
    clear = {one.amount.value for one in found if not one.against}
    return VisiblePrice(amount, score >= _SURE_SCORE, signs, clear)


def is_past(price: float, body: Element, shown: VisiblePrice) -> bool:
    """Whether a price stands on the page, but as an old one alone: struck out, or called so."""
    if price in shown.clear:
        return False
    texts = (text_of(element) for element in _elements(body) if price_text.is_past(element))
    amounts = (money.seen(" ".join(text.split())) for text in texts if len(text) < 8 * MAX_PRICE_TEXT)
    return any(amount is not None and amount.value == price for amount in amounts)


def title_place(body: Element) -> Element | None:
    """The first heading of the first rank that says something."""
    return next((heading for heading in body.iter("h1") if text_of(heading).strip()), None)


def speaks_against(element: Element) -> bool:
    """Whether where an element stands tells of an old price, or of that of something else."""
    return _against(element, names_of(element)) > 0


def _candidates(body: Element, title: Element | None) -> tuple[int, list[_Candidate]]:
    """Where the title stands, and every price with its place."""
    found: list[_Candidate] = []
    at_title = 0
    for place, element in enumerate(_elements(body), start=1):
        if element is title:
            at_title = place
        found += filter(None, (_candidate(element, place), _behind(element, place)))
    return at_title, found


def _elements(body: Element) -> Iterator[Element]:
    for number, element in enumerate(body.iter("*")):
        if number == MAX_ELEMENTS:
            return
        yield element


def _candidate(element: Element, place: int) -> _Candidate | None:
    if element.tag in _PASSED or is_struck(element):
        return None
    names = names_of(element)
    named = bool(names) and PRICE_NAMES.search(names) is not None
    text = current(element) if named else element.text or ""
    if len(text) > 8 * MAX_PRICE_TEXT:
        return None
    text = without_past_amount(" ".join(text.split()))
    if not any(map(str.isdigit, text)) or len(text) > (MAX_PRICE_TEXT if named else _MAX_PLAIN_TEXT):
        return None
    if _NUMBER.fullmatch(text):
        text = _with_sign_beside(element, text)
    itemprop = element.get("itemprop") == "price"
    if not itemprop and not _SIGN.search(text) and not (named and _NAMED_SIGN.search(text)):
        return None
    return _judged(element, text, place, names, named=named, itemprop=itemprop)


def _behind(element: Element, place: int) -> _Candidate | None:
    """The price in a text behind an element, of which nothing around it says that it is one."""
    text = " ".join((element.tail or "").split())
    around = element.getparent()
    if (
        not text
        or len(text) > _MAX_PLAIN_TEXT
        or around is None
        or around.tag in _PASSED
        or is_struck(around)
    ):
        return None
    names = names_of(around)
    if not _SIGN.search(text) or PRICE_NAMES.search(names):
        return None
    return _judged(around, text, place, names)


def _judged(
    element: Element, text: str, place: int, names: str, *, named: bool = False, itemprop: bool = False
) -> _Candidate | None:
    """A text as a price, and what speaks against it."""
    amount = money.seen(text)
    if amount is None or not amount.value or not (amount.sign or itemprop):
        return None
    against = _against(element, names) + _AS_OTHER * (_OTHER_WORDS.search(text) is not None)
    return _Candidate(amount, place, names, named, itemprop, min(against, _MOST_AGAINST))


def _with_sign_beside(element: Element, number: str) -> str:
    """The number with the sign that stands right before or behind it in an element of its own."""
    before, behind = element.getprevious(), element.getnext()
    around = element.getparent()
    left = (
        (before.tail or text_of(before))
        if before is not None
        else (around.text or "")
        if around is not None
        else ""
    )
    right = element.tail or (text_of(behind) if behind is not None else "")
    left, right = " ".join(left.split())[-_MAX_AROUND:], " ".join(right.split())[:_MAX_AROUND]
    last, first = left.rpartition(" ")[2][-4:], right.partition(" ")[0][:4]
    for sign in (last, first):
        found = _SIGN.search(sign)
        if found and not any(map(str.isdigit, sign)):
            return f"{found.group()} {number}"
    return number


def _against(element: Element, names: str) -> int:
    """How much speaks for an old price, or for that of something else."""
    count = 0
    around: Element | None = element
    for _ in range(_ANCESTORS):
        if around is None or around.tag == "body":
            break
        count += _NOT_NOW.search(names if around is element else names_of(around)) is not None
        if around.tag in _OUTSIDE or is_struck(around):
            count += _AS_STRUCK
        around = around.getparent()
    return count


def _score(one: _Candidate, title: int, alike: Counter[str]) -> float:
    distance = one.place - title
    far = distance / _REACH_BELOW if distance >= 0 else _ABOVE_TITLE - distance / _REACH_ABOVE
    return (
        _BY_ITEMPROP * one.itemprop
        + _BY_NAME * one.named
        + _BY_NOW * (_NOW.search(one.names) is not None)
        - _AGAINST * one.against
        - far
        - _ALIKE_COST * (alike[one.names] >= _MANY_ALIKE)
    )
