"""Read the availability of a product from words of data for machines, and from buy buttons and texts about stock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice

from scraper.facts.schema_graph import local_name
from scraper.html.dom.xpath import Element, classes_of, text_of
from scraper.text.sanitize import name_key
from scraper.words.matcher import WordPattern

IN_STOCK, OUT_OF_STOCK = "InStock", "OutOfStock"
UNCLEAR = ""
"""Availability of a product that is sold only later or elsewhere."""

# For text in lower case: with `IGNORECASE`, a search takes several times as long.
_BUY, _CONDITION, _NEVER, _OUT, _IN, _LABEL = (
    WordPattern(template, re.NOFLAG)
    for template in (
        r"{shop.buy}|b(?<!\w.)uy[-_](?:now|btn|button)",
        r"{shop.sold_later}",
        r"\b{shop.never}\b\W+(?:\w+\W+){0,2}?{shop.out_of_stock}",
        r"{shop.out_of_stock}",
        r"\b{shop.in_stock}\b|{shop.in_stock_part}",
        r"\b{shop.stock}\b\s*[:：]\s*\d|\d\s+{shop.stock}\b",
    )
)
_ANY = WordPattern(
    r"{shop.out_of_stock|shop.sold_later}|\b{shop.in_stock}\b|{shop.in_stock_part}|{shop.stock}\b", re.MULTILINE
)
_NUMBERS = re.compile(r"\d+")
_REACH = 500
"""Elements below the title that may show the availability of the product."""
_BUTTON_TAGS = frozenset({"button", "a", "input"})
_MAX_BUTTON, _MIN_WORDS, _MAX_WORDS = 120, 3, 90
"""Characters of a buy button, and minimum and maximum characters of a text about stock."""
_MAX_ELEMENTS = 30_000
"""Elements of a page that are searched for the availability."""
_IN_STOCK = frozenset(
    "instock limitedavailability instoreonly onlineonly preorder presale backorder available "
    "availablefororder madetoorder reserved yes true 1 new".split()
)
_OUT_OF_STOCK = frozenset("outofstock outstock soldout discontinued unavailable notavailable oos no false 0".split())


def normalize_availability(value: str | None) -> str | None:
    """Map an availability of schema.org or a similar word to `InStock` or `OutOfStock`, else None."""
    word = name_key(local_name(value or ""))
    if word in _IN_STOCK:
        return IN_STOCK
    return OUT_OF_STOCK if word in _OUT_OF_STOCK else None


def read_stock(text: str) -> str | None:
    """Return `InStock`, `OutOfStock`, `UNCLEAR`, or None for a text in lower case that does not speak of stock.

    A number in stock counts: none of "0 in stock" and "Stock: 0" is available.
    """
    if _CONDITION.search(text):
        return UNCLEAR
    if _NEVER.search(text):
        return IN_STOCK
    is_in = _IN.search(text) or _LABEL.search(text)
    if _OUT.search(text) or (is_in and {int(number) for number in _NUMBERS.findall(text)} == {0}):
        return OUT_OF_STOCK
    return IN_STOCK if is_in else None


def find_availability(body: Element, title: Element | None) -> str | None:
    """Return `InStock`, `OutOfStock`, `UNCLEAR` or None, by buy buttons and texts about stock at or after the title."""
    elements = list(islice(body.iter("*"), _MAX_ELEMENTS))
    texts = [_short_text(element) for element in elements]
    known = _read_texts(texts)
    buy = next((place for place, element in enumerate(elements) if _is_buy(element)), None)
    if not known:
        return None if buy is None else IN_STOCK
    at_title = next((place for place, element in enumerate(elements) if element is title), 0)
    below = ((place, known.get(texts[place])) for place in range(at_title, len(texts)))
    stated = next(((place, stock) for place, stock in below if stock is not None), None)
    if buy is not None and (stated is None or stated[0] > buy or stated[1] == UNCLEAR):
        return IN_STOCK
    is_near = stated is not None and (stated[0] - at_title < _REACH or stated[1] == IN_STOCK)
    return stated[1] if stated is not None and is_near else IN_STOCK if buy is not None else None


def _short_text(element: Element) -> str:
    """Return the text of an element in lower case, or "" if its length is not that of a text about stock."""
    text = (element.text or "").strip().lower()
    return text if _MIN_WORDS <= len(text) < _MAX_WORDS else ""


def _read_texts(texts: Iterable[str]) -> Mapping[str, str]:
    """Return the availability of the texts that state one. Most pages have none: then one search is enough."""
    several = set(texts)
    found = {text: read_stock(text) for text in several} if _ANY.search("\n".join(several)) else {}
    return {text: stock for text, stock in found.items() if stock is not None}


def _is_buy(element: Element) -> bool:
    if element.tag not in _BUTTON_TAGS or element.get("disabled") is not None or "disabled" in classes_of(element):
        return False
    words = element.get("value") or "" if element.tag == "input" else text_of(element)
    texts = [words, *(element.get(name) or "" for name in ("title", "aria-label", "id"))]
    text = " ".join(" ".join(texts).split()).lower()
    return len(text) < _MAX_BUTTON and _BUY.search(text) is not None
