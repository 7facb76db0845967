"""The facts of a product in the head of a page, and in properties of microdata outside of every item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.facts import money
from scraper.extract.facts.model import Facts, FactSource
from scraper.extract.facts.product_markup import (
    GTINS,
    MAX_CODE,
    availability,
    brand,
    is_gtin,
    short,
    unlabelled_code,
)
from scraper.extract.facts.product_vocabulary import PRICE_NAMES
from scraper.extract.facts.schema_graph import cleaned

_TAGS = {
    "price": ("product:sale_price:amount", "product:price:amount", "og:price:amount", "product:price"),
    "currency": ("product:sale_price:currency", "product:price:currency", "og:price:currency"),
    "availability": ("product:availability", "og:availability", "product:stock"),
    "brand": ("product:brand", "og:brand"),
    "sku": ("product:retailer_item_id", "product:sku"),
    "gtin": ("product:ean", "product:upc", "product:gtin", "product:isbn", "og:upc", "og:ean"),
    "mpn": ("product:mfr_part_no",),
}


def add_tags(facts: Facts, tags: Sequence[tuple[str, str]]) -> None:
    """What OpenGraph's product tags say."""
    told = {name: _told(tags, names) for name, names in _TAGS.items()}
    card = _price_on_card(tags)
    if card is not None and not told["price"]:
        told |= {"price": str(card.value), "currency": told["currency"] or money.currency(card.sign)}
    code = money.code_of(told["currency"])
    _state_price(facts, told["price"], told["currency"], FactSource.OPENGRAPH)
    if code or told["currency"]:
        facts.add("currency", code or told["currency"], FactSource.OPENGRAPH)
    facts.add("availability", availability(told["availability"]), FactSource.OPENGRAPH)
    facts.add("brand", brand(told["brand"]), FactSource.OPENGRAPH)
    facts.add("sku", short(unlabelled_code(told["sku"]), MAX_CODE), FactSource.OPENGRAPH)
    facts.add("mpn", short(told["mpn"], MAX_CODE), FactSource.OPENGRAPH)
    if told["gtin"] and is_gtin(told["gtin"]):
        facts.add("gtin", told["gtin"], FactSource.OPENGRAPH)


def _price_on_card(tags: Sequence[tuple[str, str]]) -> money.Amount | None:
    """The price among the two values that a Twitter card shows below their labels."""
    for number in ("1", "2"):
        label, value = (_told(tags, (f"twitter:{part}{number}",)) for part in ("label", "data"))
        if label and value and PRICE_NAMES.search(label):
            return money.seen(value)
    return None


def add_fragments(facts: Facts, found: Iterable[tuple[str, Element]]) -> None:
    """What properties outside of every item say; the first of each name."""
    told: dict[str, str] = {}
    for name, element in found:
        value = element.get("content") or element.get("href") or text_of(element)
        if value and (value := cleaned(value[:500])) and len(value) <= MAX_CODE:
            told.setdefault(name, value)
    _state_price(
        facts, told.get("price") or told.get("lowPrice"), told.get("priceCurrency"), FactSource.FRAGMENT
    )
    currency = money.code_of(told.get("priceCurrency"))
    facts.add("currency", currency, FactSource.FRAGMENT)
    facts.add("availability", availability(told.get("availability")), FactSource.FRAGMENT)
    facts.add("sku", unlabelled_code(told.get("sku")), FactSource.FRAGMENT)
    facts.add("brand", brand(told.get("brand")), FactSource.FRAGMENT)
    facts.add("mpn", told.get("mpn"), FactSource.FRAGMENT)
    gtin = next((told[name] for name in GTINS if is_gtin(told.get(name, ""))), None)
    facts.add("gtin", gtin, FactSource.FRAGMENT)


def _state_price(facts: Facts, price: str | None, currency: str | None, source: FactSource) -> None:
    """A price of nothing is a placeholder far more often than a gift."""
    amount = money.stated(price, currency) if price else None
    if amount:
        facts.add("price", money.number(amount), source)


def _told(tags: Sequence[tuple[str, str]], names: Sequence[str]) -> str | None:
    by_name: dict[str, Any] = {}
    for name, content in tags:
        by_name.setdefault(name, content)
    return next((by_name[name] for name in names if by_name.get(name)), None)
