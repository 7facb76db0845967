"""The price that stands in attributes for the page's scripts, where a page shows it in another way or not."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from scraper.extract.dom.xpath import Element, element_selector
from scraper.extract.facts import money
from scraper.extract.facts.model import Facts, FactSource
from scraper.extract.facts.product_price import VisiblePrice, speaks_against

_PRICES = ("data-price", "data-price-amount", "data-product-price", "data-current-price", "data-final-price")
_CURRENCIES = ("data-currency", "data-price-currency", "data-currency-code")
_MARKED = element_selector(" | ".join(f".//*[@{name}]" for name in _PRICES))
_MAX_ELEMENTS = 200
_WITH_CENTS, _WHOLE = 0.6, 0.4
"""A whole number that is shown nowhere may count cents."""


def add(facts: Facts, body: Element, shown: Callable[[], VisiblePrice]) -> None:
    """The one price in attributes; none where the page has several, or shows others alone."""
    if "price" in facts:
        return
    found: dict[float, Element] = {}
    for element in _MARKED(body)[:_MAX_ELEMENTS]:
        text = next(filter(None, (element.get(name) for name in _PRICES)), "")
        amount = money.stated(text)
        if amount and not speaks_against(element):
            found.setdefault(amount, element)
    if len(found) != 1:
        return
    amount, element = found.popitem()
    known = shown().signs
    if known and amount not in known and amount / 100 in known:
        amount /= 100
    elif known and amount not in known:
        return
    sure = _WITH_CENTS if known or amount != int(amount) else _WHOLE
    facts.add("price", money.number(amount), FactSource.ATTRIBUTE, confidence=sure)
    facts.add("currency", _currency(element), FactSource.ATTRIBUTE)


def _currency(element: Element) -> str | None:
    """The code on the element itself, or on the nearest around it."""
    around: etree._Element | None = element
    while around is not None and around.tag != "body":
        for name in _CURRENCIES:
            code = money.code_of(around.get(name))
            if code:
                return code
        around = around.getparent()
    return None
