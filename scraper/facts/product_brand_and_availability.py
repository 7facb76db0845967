"""Find the brand and the availability that a product page shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from scraper.html.dom.xpath import Element, classes_of, text_of
from scraper.words.matcher import WordPattern

# For text in lower case: with `IGNORECASE`, a search takes several times as long.
_BUY, _OUT_OF_STOCK, _IN_STOCK = (
    WordPattern(template, re.NOFLAG)
    for template in (
        r"{shop.buy}|b(?<!\w.)uy[-_](?:now|btn|button)",
        r"{shop.out_of_stock}",
        r"\b{shop.in_stock}\b|{shop.in_stock_part}",
    )
)

_REACH = 500
"""Elements below the title that may show the availability of the product."""
_BUTTON_TAGS = frozenset({"button", "a", "input"})
_MAX_BUTTON, _MIN_WORDS, _MAX_WORDS = 120, 3, 90
"""Characters of a buy button, and minimum and maximum characters of a text about stock."""
_MAX_ELEMENTS = 30_000
"""Elements of a page that are searched for the availability."""


def find_availability(body: Element, title: Element | None) -> str | None:
    """Return `InStock`, `OutOfStock` or None, by buy buttons and by words for stock at or after the title."""
    elements = list(islice(body.iter("*"), _MAX_ELEMENTS))
    texts = [(element.text or "").strip().lower() for element in elements]
    texts = [text if _MIN_WORDS <= len(text) < _MAX_WORDS else "" for text in texts]
    is_out, is_stock = _matching(_OUT_OF_STOCK, texts), _matching(_IN_STOCK, texts)
    if not is_out and not is_stock:
        return "InStock" if any(element.tag in _BUTTON_TAGS and _is_buy(element) for element in elements) else None
    buy = out = stock = None
    at_title = 0
    for place, (element, text) in enumerate(zip(elements, texts, strict=True), start=1):
        if element is title:
            at_title, stock, out = place, None, None
        if stock is None and out is None and at_title and place - at_title > _REACH and buy is not None:
            break
        if buy is None and element.tag in _BUTTON_TAGS and _is_buy(element):
            buy = place
        if out is None and text in is_out:
            out = place
        elif stock is None and text in is_stock and text not in is_out:
            stock = place
    first = [place for place in (buy, stock) if place is not None]
    if out is not None and out - at_title < _REACH and all(out < place for place in first):
        return "OutOfStock"
    return "InStock" if first else None


def _matching(pattern: WordPattern, texts: Sequence[str]) -> set[str]:
    """Return the texts that match. Most pages have none: then one search of all texts is enough."""
    return set(filter(pattern.search, set(texts))) if pattern.search("\0".join(texts)) else set()


def _is_buy(element: Element) -> bool:
    if element.get("disabled") is not None or "disabled" in classes_of(element):
        return False
    words = element.get("value") or "" if element.tag == "input" else text_of(element)
    texts = [words, *(element.get(name) or "" for name in ("title", "aria-label", "id"))]
    text = " ".join(" ".join(texts).split()).lower()
    return len(text) < _MAX_BUTTON and _BUY.search(text) is not None


_LABEL = WordPattern(r"^.{0,40}?(?<![^\W\d_]){shop.brand}\s*[:：]\s*")
_STORE = re.compile(
    r"^(?:visit the|besuchen? (?:sie )?den|visita lo store di|visita la tienda de|visitez la boutique|"
    r"visiter la boutique(?: de)?|visite a loja)\s+(?P<name>.+?)(?:(?<![-\s])[-\s]++(?:store|shop))?$",
    re.IGNORECASE,
)
_BY = re.compile(r"^by\s+")
_EDGES = " :-–"


def strip_brand_label(text: str) -> str:
    """Remove the label or link text of a brand; keep `Store`, `By` and `De`, which may be parts of a name."""
    brand = _BY.sub("", _LABEL.sub("", text)).strip(_EDGES)
    store = _STORE.match(brand)
    return store["name"] if store else brand
