"""Whether a person would find that the product can be bought: by its buttons and what is written there."""

from __future__ import annotations

from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.facts.product_vocabulary import BUY, IN_STOCK, NOT_IN_STOCK

_REACH = 500
"""Elements below the title in which the product's own stock is told."""
_MAX_BUTTON, _MIN_WORDS, _MAX_WORDS = 120, 3, 90
MAX_ELEMENTS = 30_000


def seen(body: Element, title: Element | None) -> str | None:
    """`InStock` or `OutOfStock`; None where nothing is said."""
    buy = out = stock = None
    at_title = 0
    for place, element in enumerate(body.iter("*"), start=1):
        if place > MAX_ELEMENTS:
            break
        if element is title:
            at_title, stock, out = place, None, None
        if stock is None and out is None and at_title and place - at_title > _REACH and buy is not None:
            break
        if buy is None and element.tag in ("button", "a", "input") and _is_buy(element):
            buy = place
        words = (element.text or "").strip()
        if _MIN_WORDS <= len(words) < _MAX_WORDS:
            if out is None and NOT_IN_STOCK.search(words):
                out = place
            elif stock is None and IN_STOCK.search(words) and not NOT_IN_STOCK.search(words):
                stock = place
    first = [place for place in (buy, stock) if place is not None]
    if out is not None and out - at_title < _REACH and all(out < place for place in first):
        return "OutOfStock"
    return "InStock" if first else None


def _is_buy(element: Element) -> bool:
    if element.get("disabled") is not None or "disabled" in (element.get("class") or "").split():
        return False
    words = element.get("value") or "" if element.tag == "input" else text_of(element)
    told = [words, *(element.get(name) or "" for name in ("title", "aria-label", "id"))]
    text = " ".join(" ".join(told).split())
    return len(text) < _MAX_BUTTON and BUY.search(text) is not None
