"""Find the visible price of a product: near its title, without old prices and prices of other products."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import cast

from lxml import etree

from scraper.facts import money
from scraper.facts.money import VisibleAmount
from scraper.html.dom.xpath import Element, text_of
from scraper.words.matcher import WordPattern

_MAX_PRICE_TEXT = 60
"""Characters of the text of an element with a class like `price`."""

# Patterns of names are for the result of `_element_names`: with `IGNORECASE`, a search takes several times as long.
_CENTS = re.compile("cents?|fraction|decimals?|superscript|kopeck|centim")
_PAST = re.compile(
    "(?:^|[-_ ])(?:old|was|before|previous|compare|original|crossed|rrp|msrp|uvp)(?:$|[-_ ])|"
    "list-?price|strike|line-?through"
)
_PAST_AMOUNT = WordPattern(
    r"(?<![^\W\d_])(?:{shop.was}|de(?=:?\s?R\$)|van(?= ?€))\s*:?\s*"
    r"[^\w\s]{0,3}(?:R\$)?\s?\d(?:[\d.,]|[ \xa0\u202f]\d{3}(?!\d))*"
)
_WHOLE = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:[., \xa0]\d{3})+|\d{1,9})\s*\Z")
_STRUCK = frozenset({"del", "s", "strike"})
_STRUCK_STYLE = re.compile(r"text-decoration(?:-line)?\s*+:[^;:]{0,40}?line-through", re.IGNORECASE)


_NAMES = ("class", "id", "itemprop", "data-test", "data-testid", "data-qa")


def _element_names(element: Element) -> str:
    """Return class, id and other names of an element, in lower case."""
    items = cast("list[tuple[str, str]]", element.items())
    if len(items) > 1:
        return " ".join(filter(None, map(dict(items).get, _NAMES))).lower()
    return items[0][1].lower() if items and items[0][0] in _NAMES else ""


@lru_cache(maxsize=4_096)
def _is_price_name(names: str) -> bool:
    return money.PRICE_NAMES.search(names) is not None


@lru_cache(maxsize=4_096)
def _is_other_price_name(names: str) -> bool:
    return _NOT_NOW.search(names) is not None


def _current_price_text(element: Element) -> str:
    """Return the text of an element without old prices, unless there is no other price.

    The text has a point before raised cents. Long texts and texts without digits are returned unchanged.
    """
    text = text_of(element)
    if len(element) == 0 or not _has_digit(text):
        return text
    current = _with_point(element, without_past=True)
    return current if any(map(str.isdigit, current)) else _with_point(element, without_past=False)


def _with_point(element: Element, *, without_past: bool) -> str:
    """Return the text with a point before raised cents: 173<sup>34</sup>."""
    text = ""
    events = etree.iterwalk(element, events=("start", "end"))
    for event, part in events:
        if event == "start":
            if part is not element and without_past and _is_old_price(part):
                events.skip_subtree()
                text += " "
                continue
            if part is not element and _is_cents(part):
                whole = text.rstrip()
                text = f"{whole}." if _WHOLE.search(text) else f"{whole} |" if whole[-1:].isdecimal() else text
            text += part.text or ""
        elif part is not element:
            text += part.tail or ""
    return text


def _remove_old_amount(text: str) -> str:
    """Return `Now 20` of `Was 30 Now 20`; return the text unchanged if no other amount is left."""
    if not any(map(str.isalpha, text)):
        return text  # most prices are without words
    current = _PAST_AMOUNT.sub(" ", text).strip()
    return current if any(map(str.isdigit, current)) else text


def _is_old_price(part: Element) -> bool:
    """Return True if an element holds an old price by strike-through or by name."""
    return _is_struck_through(part) or _PAST.search(_element_names(part)) is not None


def _is_struck_through(element: Element) -> bool:
    """Return True if an element is struck through by its tag or style."""
    style = element.get("style")
    return element.tag in _STRUCK or (bool(style) and _STRUCK_STYLE.search(style or "") is not None)


def _is_cents(element: Element) -> bool:
    """Return True if an element holds two digits and is raised or named cents."""
    is_cents = element.tag == "sup" or _CENTS.search(_element_names(element)) is not None
    text = text_of(element).strip() if is_cents else ""
    return len(text) == 2 and text.isdecimal()


_MAX_ELEMENTS = 40_000
"""Elements of a page that are searched for prices."""
_MAX_PLAIN_TEXT = 40
"""Characters of a price in an element without a class like `price`."""
_MAX_AROUND = 30
"""Characters before and after a number that are searched for its currency sign."""

_SIGN = WordPattern(money.SIGN)
_OTHER_WORDS = WordPattern(r"(?<![^\W\d_]){shop.no_price}(?![^\W\d_])")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d[\d.,' \xa0]*")
_NOT_NOW = re.compile(
    r"old|was|non-?sale|list(?:-?price|_?price|preis)|rrp|msrp|uvp|strike|line-?through|regular|before|saving|save|ship|deliver|"
    r"versand|unit|(?:^|[-_ ])per[-_]|related|recommend|similar|carousel|slider|also|cross|upsell|"
    r"accessor|sponsor|cart-|minicart|basket|review|filter|install?ment|month|financ|footer|header|(?:^|"
    r"[-_ ])nav|shipping|bundle|swatch|points|coupon|original|compare|range|widget|previous|menu|"
    r"affirm|klarna|afterpay|clearpay|"
    r"discount-?(?:amount|percent)|loyalty|bonus"
)
_NOW = re.compile(
    r"final|current|(?<!non-)sale|our|now|offer|deal|actual|special|product-?price|price-?box|main|buy|today|promo|"
    r"new"
)
_NAMED_SIGN = re.compile(
    r"(?<![^\W_])(?:R|S?Fr\.?)\s?\d{1,3}(?:[ ,'’\xa0]?\d{3})*(?:[.,]\d\d)?(?!\w)|"
    r"\d\s?(?::[-–]|[,.]\s?[-–—])(?![\w-])|\d\s?KM(?!\w)|(?<![\d.,])\d{1,2}p(?!\w)"
)
"""Signs that count only in elements with a class like `price`: `R 12`, `Fr. 12`, `12:-`, `12,-`, `12 KM`, `99p`."""
_TAX_RATES = (5, 7, 8, 9, 10, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 25.5, 27)
"""Percent. Standard rates of value-added or goods and services tax in countries whose shops show prices with tax."""
_WITHOUT_TAX = WordPattern(
    r"(?<![^\W\d_])(?:exc?l?(?:uding|udes)?[.\s_-]*(?:of[\s_-]*)?(?:vat|tax|gst|mwst|btw|moms|iva|tva)|"
    r"(?:without|before|plus|zzgl\.?|ohne|sin|sem|hors|senza)[\s_-]*(?:vat|tax|gst|mwst|iva|tva)|"
    r"hors[\s_-]*taxes?|h\.?t\.?|(?:eks|exkl)[.\s]*moms|{shop.without_tax})(?![^\W\d_])",
    re.NOFLAG,
)
_CENT = 0.0101
"""Currency units. A cent, with a margin for rounding."""
_OUTSIDE = frozenset({"footer", "nav", "header", "aside"})
_SKIPPED_TAGS = frozenset({"option", "select", "textarea", "noscript", "template"})

_BY_ITEMPROP, _BY_NAME, _BY_NOW = 4.0, 2.5, 1.2
"""Score points for `itemprop="price"`, for a class like `price`, and for a class like `sale` or `current`."""
_AGAINST, _MOST_AGAINST = 1.6, 4
"""Score points deducted for each hint of another price, and the largest number of hints that count."""
_AS_STRUCK = 3
_AS_OTHER = 2
_ABOVE_TITLE = 2.0
_REACH_BELOW, _REACH_ABOVE = 120.0, 60.0
"""Elements between title and price, below and above the title, that cost one point of the score."""
_MANY_ALIKE, _ALIKE_COST = 4, 1.5
"""Prices with the same class, and their cost: they are probably rows of other products."""
_LEAST_SCORE = -3.0
_SURE_SCORE = 1.0
_ANCESTORS = 7


@dataclass(frozen=True, slots=True)
class VisiblePrice:
    """Best visible price, its certainty, and the currency signs of all amounts on the page."""

    amount: VisibleAmount | None
    sure: bool
    """True if the score of the price is at least `_SURE_SCORE`."""
    signs: Mapping[float, str | None]
    """Currency sign of each amount on the page, by amount."""
    clear: Set[float]
    """Amounts that occur at least once without hints of an old price or of another product."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Possible price with its position and the hints for and against it."""

    amount: VisibleAmount
    element: Element
    place: int
    names: str
    named: bool
    itemprop: bool
    against: int


def find_visible_price(body: Element, title: Element | None) -> VisiblePrice:
    """Return the best scored price near the title; its amount is None if no score exceeds `_LEAST_SCORE`."""
    place, found = _candidates(body, title)
    alike = Counter(one.names for one in found if one.names)
    best = max(found, key=lambda one: _score(one, place, alike), default=None)
    best = best and _with_tax(best, found)
    score = _LEAST_SCORE if best is None else _score(best, place, alike)
    amount = best.amount if best is not None and score > _LEAST_SCORE else None
    signs: dict[float, str | None] = {}
    for one in found:
        signs[one.amount.value] = signs.get(one.amount.value) or one.amount.sign
    clear = {one.amount.value for one in found if not one.against}
    return VisiblePrice(amount, score >= _SURE_SCORE, signs, clear)


def is_without_tax(stated: float, shown: float) -> bool:
    """Return True if `stated` is the price `shown` without a usual rate of sales tax."""
    return any(abs(shown / (1 + rate / 100) - stated) < _CENT for rate in _TAX_RATES)


def _with_tax(best: _Candidate, found: Sequence[_Candidate]) -> _Candidate:
    """Return the same price with tax if the page says that only the best price is without tax."""
    whole = next((one for one in found if is_without_tax(best.amount.value, one.amount.value)), best)
    if whole is best:
        return best
    without = {one.amount.value for one in found if _states_no_tax(one)}
    return whole if best.amount.value in without and whole.amount.value not in without else best


def _states_no_tax(one: _Candidate) -> bool:
    """Return True if the names or the text of a price, or the text behind it, say that tax is not included."""
    behind = one.element.getnext()
    texts = [text_of(one.element), one.element.tail or ("" if behind is None else text_of(behind))]
    names = [one.names, *(_element_names(around) for around in islice(one.element.iterancestors(), 2))]
    return any(_WITHOUT_TAX.search(text) for text in names) or any(
        _WITHOUT_TAX.search(text.strip()[:_MAX_PRICE_TEXT].lower()) for text in texts
    )


def is_only_old_price(price: float, body: Element, visible: VisiblePrice) -> bool:
    """Return True if a price is on the page only as an old price."""
    if price in visible.clear:
        return False
    texts = (text_of(element) for element in _elements(body) if _is_old_price(element))
    amounts = (money.parse_visible_price(" ".join(text.split())) for text in texts if len(text) < 8 * _MAX_PRICE_TEXT)
    return any(amount is not None and amount.value == price for amount in amounts)


def find_title(body: Element) -> Element | None:
    """Return the first `h1` with text."""
    return next((heading for heading in body.iter("h1") if text_of(heading).strip()), None)


def _candidates(body: Element, title: Element | None) -> tuple[int, list[_Candidate]]:
    """Return the position of the title and all price candidates."""
    found: list[_Candidate] = []
    at_title = 0
    for place, element in enumerate(_elements(body), start=1):
        if element is title:
            at_title = place
        text, tail = element.text or "", element.tail
        has_digit = _has_digit(text)
        if has_digit or len(element):
            candidate = _candidate(element, text, place, has_digit=has_digit)
            if candidate is not None:
                found.append(candidate)
        if tail and not tail.isspace():
            found += filter(None, (_behind(element, tail, place),))
    return at_title, found


def _elements(body: Element) -> Iterator[Element]:
    return islice(body.iter("*"), _MAX_ELEMENTS)


def _candidate(element: Element, text: str, place: int, *, has_digit: bool) -> _Candidate | None:
    """Return the price in an element with this text before its first child."""
    names = _element_names(element)
    named = bool(names) and _is_price_name(names)
    if named:
        text = _current_price_text(element)
        has_digit = _has_digit(text)
    if not has_digit or element.tag in _SKIPPED_TAGS or _is_struck_through(element):
        return None
    text = _remove_old_amount(" ".join(text.split()))
    if len(text) > (_MAX_PRICE_TEXT if named else _MAX_PLAIN_TEXT):
        return None
    if _NUMBER.fullmatch(text):
        text = _with_sign_beside(element, text)
    itemprop = element.get("itemprop") == "price"
    if not itemprop and not _SIGN.search(text) and not (named and _NAMED_SIGN.search(text)):
        return None
    return _make_candidate(element, text, place, names, named=named, itemprop=itemprop)


def _has_digit(text: str) -> bool:
    """Return True if a text that is short enough for a price has a digit."""
    if not 0 < len(text) <= 8 * _MAX_PRICE_TEXT:
        return False
    return _DIGIT.search(text) is not None if text.isascii() else any(map(str.isdigit, text))


def _behind(element: Element, tail: str, place: int) -> _Candidate | None:
    """Return the price in the text after an element, if the parent has no class like `price`."""
    text = " ".join(tail.split())
    if len(text) > _MAX_PLAIN_TEXT or not _has_digit(text):
        return None
    around = element.getparent()
    if around is None or around.tag in _SKIPPED_TAGS or _is_struck_through(around):
        return None
    names = _element_names(around)
    if not _SIGN.search(text) or _is_price_name(names):
        return None
    return _make_candidate(around, text, place, names)


def _make_candidate(
    element: Element, text: str, place: int, names: str, *, named: bool = False, itemprop: bool = False
) -> _Candidate | None:
    """Parse a text as a price, and count the hints of another price."""
    amount = money.parse_visible_price(text)
    if amount is None or not amount.value or not (amount.sign or itemprop):
        return None
    against = _against(element, names) + _AS_OTHER * (_OTHER_WORDS.search(text) is not None)
    return _Candidate(amount, element, place, names, named, itemprop, min(against, _MOST_AGAINST))


def _with_sign_beside(element: Element, number: str) -> str:
    """Return the number with the sign from the element directly before or after it."""
    before, behind = element.getprevious(), element.getnext()
    around = element.getparent()
    left = (before.tail or text_of(before)) if before is not None else (around.text or "") if around is not None else ""
    right = element.tail or (text_of(behind) if behind is not None else "")
    left, right = " ".join(left.split())[-_MAX_AROUND:], " ".join(right.split())[:_MAX_AROUND]
    last, first = left.rpartition(" ")[2][-4:], right.partition(" ")[0][:4]
    for sign in (last, first):
        found = _SIGN.search(sign)
        if found and not any(map(str.isdigit, sign)):
            return f"{found.group()} {number}"
    return number


def _against(element: Element, names: str) -> int:
    """Count the hints of an old price, or of the price of another product, in an element and its ancestors."""
    count = 0
    around: Element | None = element
    for _ in range(_ANCESTORS):
        if around is None or around.tag == "body":
            break
        count += _is_other_price_name(names if around is element else _element_names(around))
        if around.tag in _OUTSIDE or _is_struck_through(around):
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
