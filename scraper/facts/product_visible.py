"""Find the visible price of a product, without those of other products, and its availability by buttons and texts."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice, takewhile
from typing import cast

from lxml import etree

from scraper.facts import money
from scraper.facts.money import PRODUCT_NAMES, Amount, Role
from scraper.facts.schema_graph import local_name
from scraper.html.dom.parsing import INLINE, Element, classes_of, text_of
from scraper.text.sanitize import name_key
from scraper.text.terms import DIGITS
from scraper.words.matcher import WordPattern, Words

_MAX_PRICE_TEXT = 60
"""Characters of the text of an element with a class like `price`."""

# Patterns of names are for the result of `_element_names`: with `IGNORECASE`, a search takes several times as long.
_CENTS, _PAST, _PART, _NOT_NOW, _NOW = (re.compile("|".join(names)) for names in PRODUCT_NAMES["classes"].values())
_WHOLE = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:[., \xa0]\d{3})+|\d{1,9})\s*\Z")
_BEHIND = re.compile(r"\s*[.,](?:\s*\Z|\d\d(?!\d))")
_STRUCK = frozenset({"del", "s", "strike"})
_MAX_TEXTS = 20
"""Texts of an element that are searched for several amounts."""
_GLUED = INLINE - {"br"}


_NAMES = frozenset("class id itemprop data-test data-testid data-qa aria-label".split())


def _element_names(element: Element) -> str:
    own = cast("list[tuple[str, str]]", element.items())
    return " ".join([value for name, value in own if value and name in _NAMES]).lower()


@lru_cache(maxsize=4_096)
def _is_price_name(names: str) -> bool:
    return money.PRICE_NAMES.search(names) is not None


@lru_cache(maxsize=4_096)
def _role_by_names(names: str) -> Role:
    if _PAST.search(names):
        return Role.OLD
    return Role.PART if _PART.search(names) else Role.CURRENT


@lru_cache(maxsize=4_096)
def _is_other_price_name(names: str) -> bool:
    return _NOT_NOW.search(names) is not None


def is_named_price(element: Element) -> bool:
    """Return True if a class or another name of an element has a word for price."""
    return _is_price_name(_element_names(element))


def read_element(element: Element, *, is_price: bool = True) -> list[Amount]:
    """Return the amounts in an element, with their roles by strike-through, names and words.

    Two digits that are raised, or in an element of their own directly behind a whole number, are cents.
    """
    text = ""
    parts: list[tuple[int, Element]] = []
    for event, part in etree.iterwalk(element, events=("start", "end")) if len(element) else [("start", element)]:
        if event == "start":
            parts.append((len(text), part))
            text = _join(text, part.text or "", part, is_apart=part is not element)
        elif part is not element:
            parts.append((len(text), next(part.iterancestors())))
            text = _glue(text + (" " if part.tag not in _GLUED else ""), part.tail or "")
        if len(text) > _MAX_ELEMENT_TEXT:
            break
    found = money.read_amounts(" ".join(text.split()) if len(parts) == 1 else text, is_price=is_price)
    owners = [next(owner for at, owner in reversed(parts) if at <= one.start) for one in found]
    outer = element.getparent()
    paths = (takewhile(lambda around: around is not outer, (owner, *owner.iterancestors())) for owner in owners)
    return [replace(one, role=max(one.role, *map(role_of, path))) for one, path in zip(found, paths, strict=True)]


def _join(text: str, more: str, part: Element, *, is_apart: bool) -> str:
    """Return two texts with a point before cents, and a space between blocks and between numbers."""
    if not is_apart or not text:
        return text + more
    if _is_cents(part, text):
        whole = text.rstrip()
        mark = "." if _WHOLE.search(text) else "" if whole.endswith((".", ",", "€")) else " | "
        return f"{whole}{mark}{more.strip()}"
    is_number = text[-1].isalnum() and more[:1].isdecimal()
    return _glue(f"{text} " if is_number or part.tag not in _GLUED else text, more)


def _glue(text: str, more: str) -> str:
    """Return two texts, without spaces before a separator of cents and the cents behind it."""
    return text.rstrip() + more.lstrip() if _BEHIND.match(more) and text.rstrip()[-1:].isdecimal() else text + more


def role_of(part: Element) -> Role:
    """Return the role of the amount in an element by strike-through or by name, which says nothing of several ones."""
    if _is_struck_through(part):
        return Role.OLD
    role = _role_by_names(_element_names(part))
    text = "".join(map(str, islice(part.itertext(), _MAX_TEXTS))) if role != Role.CURRENT else ""
    return role if len(money.read_amounts(text)) <= 1 else Role.CURRENT


def _is_struck_through(element: Element) -> bool:
    return element.tag in _STRUCK or "line-through" in (element.get("style") or "").lower()


def _is_cents(element: Element, before: str) -> bool:
    """Return True if an element holds two digits and is raised, named cents, or directly behind a whole number."""
    text = text_of(element)
    if not (len(text.strip()) == 2 and text.strip().isdecimal()):
        return False
    is_raised = element.tag == "sup" or _CENTS.search(_element_names(element)) is not None
    return is_raised or (len(text) == 2 and before[-1].isdecimal() and _WHOLE.search(before) is not None)


_MAX_ELEMENT_TEXT = 480
_MAX_ELEMENTS = 40_000
"""Elements of a page that are searched for the price and the availability."""
_MAX_PLAIN_TEXT = 40
"""Characters of a price in an element without a class like `price`."""

_MAX_PARTS = 4
"""Children of an element without such a class whose whole text may be a price."""
_NUMBER = re.compile(r"\d[\d.,' \xa0]*")
_OUTSIDE = frozenset({"footer", "nav", "header", "aside"})
_SKIPPED_TAGS = frozenset({"option", "select", "textarea", "noscript", "template"})

_BY_ITEMPROP, _BY_NAME, _BY_NOW = 4.0, 2.5, 1.2
"""Score points for `itemprop="price"`, for a class like `price`, and for a class like `sale` or `current`."""
_AGAINST, _MOST_AGAINST = 1.6, 4
"""Score points deducted for each hint of another price, and the largest number of hints that count."""
_LISTED = 4
"""Different amounts in elements of one shape, which are those of a list of other products."""
_AS_STRUCK = 3
_AS_OTHER = 2
_ABOVE_TITLE = 2.0
_REACH_BELOW, _REACH_ABOVE = 120.0, 60.0
"""Elements between title and price, below and above the title, that cost one point of the score."""
_LEAST_SCORE = -3.0
_SURE_SCORE = 1.0
_ANCESTORS = 7


@dataclass(frozen=True, slots=True)
class VisiblePrice:
    """Best visible price, its certainty, and the currency signs of all amounts on the page."""

    amount: Amount | None
    sure: bool
    """True if the score of the price is at least `_SURE_SCORE`."""
    signs: Mapping[float, str | None]
    """Currency sign of each amount on the page, by amount."""
    old: Set[float]
    """Amounts that the page shows only as old prices."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    amount: Amount
    score: float
    against: int
    """Hints of an old price, or of the price of another product."""
    is_old: bool
    shape: str
    """Names of the element and its parent."""


def find_visible_price(body: Element, title: Element | None) -> VisiblePrice:
    """Return the best scored price near the title; its amount is None if no score exceeds `_LEAST_SCORE`."""
    found = list(_find_candidates(body, title))
    counts = Counter(shape for shape, _ in {(one.shape, one.amount.value) for one in found if one.shape})
    best = max(found, key=lambda one: one.score - _AGAINST * (counts[one.shape] >= _LISTED), default=None)
    score = best.score if best else _LEAST_SCORE
    amount = best.amount if best and score > _LEAST_SCORE else None
    signs: dict[float, str | None] = {}
    for one in found:
        signs[one.amount.value] = signs.get(one.amount.value) or one.amount.sign
    old = {one.amount.value for one in found if one.is_old} - {one.amount.value for one in found if not one.against}
    return VisiblePrice(amount, score >= _SURE_SCORE, signs, old)


def _find_candidates(body: Element, title: Element | None) -> Iterator[_Candidate]:
    elements = list(islice(body.iter("*"), _MAX_ELEMENTS))
    at_title = next((place for place, element in enumerate(elements) if element is title), -1)
    above = frozenset() if title is None else frozenset(title.iterancestors())
    for place, element in enumerate(elements, -at_title):
        text = element.text or ""
        if len(element) or DIGITS.search(text):
            yield from _read_candidates(element, text, place, above)


def _read_amounts(element: Element, text: str, *, named: bool, is_whole: bool) -> Sequence[Amount]:
    """Return the amounts of an element; the sign of a bare number stands in its parent."""
    around = element.getparent()
    if _NUMBER.fullmatch(text) and around is not None and len(text_of(around)) <= _MAX_PLAIN_TEXT:
        return read_element(around, is_price=named)
    return read_element(element, is_price=named) if is_whole else money.read_amounts(text, is_price=False)


def _read_candidates(element: Element, text: str, distance: int, above: Set[Element]) -> Iterator[_Candidate]:
    """Yield the amounts of an element, the price first; without a name like `price`, those before its first child."""
    if element.tag in _SKIPPED_TAGS:
        return
    names = _element_names(element)
    named = _is_price_name(names)
    is_whole = named or (len(element) < _MAX_PARTS and not any(map(len, element)))
    whole = text_of(element) if is_whole and len(element) else text
    if len(whole) > _MAX_ELEMENT_TEXT or not DIGITS.search(whole):
        return
    text = " ".join(whole.split())
    if not named and len(text) > _MAX_PLAIN_TEXT:
        return
    amounts = _read_amounts(element, text, named=named, is_whole=is_whole)
    itemprop = element.get("itemprop") == "price"
    points = _BY_ITEMPROP * itemprop + _BY_NAME * named
    best = money.best_amount(amounts)
    is_short = len(text) <= _MAX_PRICE_TEXT or len(amounts) > 1
    for one in sorted(amounts, key=lambda one: one is not best) if is_short else ():
        if one.value and (one.sign or itemprop):
            yield _rate(one, element, distance, above, points * (one is best))


def _rate(amount: Amount, element: Element, distance: int, above: Set[Element], points: float) -> _Candidate:
    """Rate an amount by `points`, its distance from the title, and hints in elements that are not `above` both."""
    count = _AS_OTHER * (amount.role in (Role.PART, Role.OTHER)) + _AS_STRUCK * (amount.role == Role.OLD)
    is_old = amount.role == Role.OLD
    for around in islice((element, *element.iterancestors()), _ANCESTORS):
        if around.tag == "body" or (distance >= 0 and around in above):
            break
        names, is_struck = _element_names(around), _is_struck_through(around)
        count += _is_other_price_name(names) + _AS_STRUCK * (is_struck or around.tag in _OUTSIDE)
        is_old = is_old or is_struck or _role_by_names(names) == Role.OLD
    against, names = min(count, _MOST_AGAINST), _element_names(element)
    parent = element.getparent()
    shape = f"{names} > {_element_names(parent)}" if names and parent is not None else ""
    far = distance / _REACH_BELOW if distance >= 0 else _ABOVE_TITLE - distance / _REACH_ABOVE
    score = points + _BY_NOW * (_NOW.search(names) is not None)
    return _Candidate(amount, score - _AGAINST * against - far, against, is_old, shape)


IN_STOCK, OUT_OF_STOCK = "InStock", "OutOfStock"
UNCLEAR = ""
"""Availability of a product that is sold only later or elsewhere."""

# For text in lower case: with `IGNORECASE`, a search takes several times as long.
_BUY, _SOLD_LATER, _NEVER_OUT, _NOT_OUT, _OUT, _IF, _IN = (
    WordPattern(template, re.NOFLAG)
    for template in (
        r"{shop.buy}|b(?<!\w.)uy[-_](?:now|btn|button)",
        r"{shop.sold_later}",
        r"\b{shop.never}\b\W+(?:\w+\W+){0,2}?{shop.out_of_stock}|{shop.in_stock_again}",
        r"{shop.out_of_stock}[^:：]*[:：]\W*{shop.not}\b",
        r"{shop.out_of_stock}|\b{shop.in_stock|shop.stock}\s*[:：]\W*{shop.not}\b|\b{shop.not}\b\s+(?:[^\W\d]+\s+){0,3}?(?:\b{shop.in_stock}\b|{shop.in_stock_part})",
        r"(?:\b{shop.if}\b|{shop.other_stock})[^.;!]*",
        r"\b{shop.in_stock}\b|{shop.in_stock_part}|"
        r"\b{shop.stock}\b(?:\s*[:：]|(?<=[\u3040-\ud7a3]))\s*(?:\d|{shop.yes}\b)|\d\s+{shop.stock}\b",
    )
)
_ANY = WordPattern(
    r"{shop.out_of_stock|shop.sold_later}|\b{shop.in_stock}\b|{shop.in_stock_part}|{shop.stock}\b", re.NOFLAG
)
_VALUE = WordPattern(r"\W*(?:\d+\W*(?:[^\W\d]{1,6}\W*)?|{shop.not|shop.yes})\W*")
"""The whole value beside a label such as "In stock"."""
_REACH = 500
"""Elements below the title that may show the availability of the product."""
_BUTTON_TAGS = frozenset({"button", "a", "input"})
_MAX_BUTTON, _MIN_WORDS, _MAX_WORDS = 120, 2, 90
"""Characters of a buy button, and minimum and maximum characters of a text about stock."""
_IN_STOCK, _OUT_OF_STOCK = Words("shop.stated_in_stock"), Words("shop.stated_out_of_stock")


def normalize_availability(value: str | None) -> str | None:
    """Map an availability of schema.org or a similar word to `InStock` or `OutOfStock`, else None."""
    word = name_key(local_name(value or ""))
    if word in _IN_STOCK.all:
        return IN_STOCK
    return OUT_OF_STOCK if word in _OUT_OF_STOCK.all else read_stock((value or "").lower()) or None


def read_stock(text: str) -> str | None:
    """Return `InStock`, `OutOfStock`, `UNCLEAR`, or None for a text in lower case that does not speak of stock.

    A number in stock counts: none of "0 in stock" and "Stock: 0" is available. Both in one text are unclear.
    """
    if text.endswith(("?", "？", "؟")):
        return None
    if _SOLD_LATER.search(text):
        return UNCLEAR
    if _NEVER_OUT.search(text):
        return IN_STOCK
    if _NOT_OUT.search(text):
        return None
    is_in, is_out = _IN.search(_IF.sub("", _OUT.sub("", text))), _OUT.search(text)
    if is_in and not is_out:
        return OUT_OF_STOCK if set(filter(str.isdecimal, text)) == {"0"} else IN_STOCK
    return UNCLEAR if is_in else OUT_OF_STOCK if is_out else None


def find_availability(body: Element, title: Element | None) -> str | None:
    """Return `InStock`, `OutOfStock`, `UNCLEAR` or None, by buy buttons and texts about stock at or after the title."""
    elements = list(islice(body.iter("*"), _MAX_ELEMENTS))
    buy = next((place for place, element in enumerate(elements) if _is_buy(element)), None)
    at_title = next((place for place, element in enumerate(elements) if element is title), 0)
    stated = next(_find_stock(elements, at_title), None)
    if buy is not None and (stated is None or stated[0] > buy or stated[1] == UNCLEAR):
        return IN_STOCK
    if stated is not None and (stated[0] - at_title < _REACH or stated[1] == IN_STOCK):
        return stated[1]
    return None if buy is None else IN_STOCK


def _find_stock(elements: Sequence[Element], first: int) -> Iterator[tuple[int, str]]:
    """Yield the places of statements about stock from the element at `first` on, and what they state."""
    may_state = cache(lambda text: _MIN_WORDS <= len(text) < _MAX_WORDS and _ANY.search(text) is not None)
    for place, element in enumerate(elements[first:], first):
        texts = () if element.tag in _SKIPPED_TAGS else (element.text, *(part.tail for part in element))
        for text in filter(None, texts):
            piece = text.strip().lower()
            if may_state(piece) and (stock := read_stock(_stock_line(element, piece))) is not None:
                yield place, stock


def _stock_line(element: Element, piece: str) -> str:
    """Return the line of an element in lower case, a label with its value, or a part of a line that is too long.

    A choice of variants or filters, and a header of a column, state nothing.
    """
    owner = element
    while owner.tag in INLINE - {"label"} and (around := owner.getparent()) is not None:
        owner = around
    if owner.tag == "label" or any(one.get("type") in ("checkbox", "radio") for one in owner.iter("input")):
        return ""
    line = " ".join(text_of(owner).lower().split())
    beside = owner.getnext()
    if beside is not None:
        value = " ".join(text_of(beside).lower().split())
        is_value = beside.tag in ("dd", "td") or _VALUE.fullmatch(value)
        line = f"{line.rstrip(' :：')}: {value}" if is_value else "" if beside.tag == "th" else line
    return line if len(line) < _MAX_WORDS else piece


def _is_buy(element: Element) -> bool:
    is_disabled = element.get("disabled") is not None or element.get("aria-disabled") == "true"
    if element.tag not in _BUTTON_TAGS or is_disabled or "disabled" in classes_of(element):
        return False
    words = element.get("value") or "" if element.tag == "input" else text_of(element)
    texts = [words, *(element.get(name) or "" for name in ("title", "aria-label", "id"))]
    text = " ".join(" ".join(texts).split()).lower()
    return len(text) < _MAX_BUTTON and _BUY.search(text) is not None
