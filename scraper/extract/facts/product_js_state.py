"""Product facts in the data that a page's scripts work with: state trees, tag managers, fetched JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from scraper.extract.facts import money
from scraper.extract.facts.model import Facts, FactSource
from scraper.extract.facts.product_markup import availability, is_gtin
from scraper.extract.facts.product_price import VisiblePrice
from scraper.extract.facts.schema_graph import folded, plain

MAX_OBJECTS = 50_000
_MAX_DEPTH = 30
_MIN_TITLE = 6
"""Letters of a title that tell one product from another."""

_NAMES = ("name", "title", "productname", "product_name", "displayname", "producttitle", "item_name")
_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "price": (
            "finalprice", "saleprice", "currentprice", "sellingprice", "discountedprice", "offerprice",
            "specialprice", "priceamount", "unitprice", "product_price", "price", "now", "amount", "prices",
        ),
        "currency": ("currency", "currencycode", "pricecurrency", "currency_code", "currencyiso"),
        "availability": (
            "availability", "stockstatus", "availabilitystatus", "instock", "isinstock", "in_stock",
        ),
        "brand": ("brand", "brandname", "brand_name", "manufacturer", "item_brand", "product_brand"),
        "sku": (
            "sku", "skuid", "product_sku", "productid", "product_id", "itemid", "item_id", "articlenumber",
        ),
        "gtin": ("gtin", "gtin13", "ean", "ean13", "upc", "barcode", "isbn"),
        "mpn": ("mpn",),
    }
)  # fmt: skip
_PRICE_PARTS = ("current", "final", "sale", "now", "value", "amount", "price", "gross", "sellingprice")
_MAX_WORDS = 60
_OF_THEMES = frozenset({"variants", "compare_at_price", "price_min"})
"""Keys that stand together in the products of Shopify's themes, whose amounts are cents."""


def add(
    facts: Facts,
    values: Sequence[Any],
    source: FactSource,
    title: str,
    country: str,
    shown: Callable[[], VisiblePrice],
) -> None:
    """Facts of the objects that carry the page's title for a name and a price; others are other products."""
    if len(title) < _MIN_TITLE:
        return
    for item in _objects(values):
        lowered = {str(name).lower(): value for name, value in item.items()}
        if _is_titled(lowered, title) and any(name in lowered for name in _KEYS["price"]):
            _add_one(facts, lowered, source, country, shown)


def _add_one(
    facts: Facts, item: Mapping[str, Any], source: FactSource, country: str, shown: Callable[[], VisiblePrice]
) -> None:
    told = {name: _told(item, keys) for name, keys in _KEYS.items()}
    price, parts = _price(item)
    if price:
        if "price" not in facts and _is_in_cents(price, item, shown):
            price /= 100
        facts.add("price", money.number(price), source)
        currency = told["currency"] or _told(parts, _KEYS["currency"])
        facts.add("currency", money.code_of(currency, country), source)
    facts.add("availability", availability(told["availability"]), source)
    facts.add("brand", told["brand"], source)
    facts.add("sku", told["sku"] or _sku_of_only_variant(item), source)
    facts.add("mpn", told["mpn"], source)
    if is_gtin(told["gtin"] or ""):
        facts.add("gtin", told["gtin"], source)


def _objects(values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Every object, outer ones first."""
    waiting: list[tuple[Any, int]] = [(value, 0) for value in reversed(values)]
    count = 0
    while waiting and count < MAX_OBJECTS:
        value, depth = waiting.pop()
        count += 1
        if depth > _MAX_DEPTH:
            continue
        if isinstance(value, dict):
            yield value
            waiting += [
                (part, depth + 1) for part in reversed(value.values()) if isinstance(part, dict | list)
            ]
        elif isinstance(value, list):
            waiting += [(part, depth + 1) for part in reversed(value) if isinstance(part, dict | list)]


def _is_titled(item: Mapping[str, Any], title: str) -> bool:
    for name in _NAMES:
        told = item.get(name)
        if isinstance(told, str) and len(told) < 500:
            mine = folded(told)
            if mine and (mine == title or (len(mine) >= _MIN_TITLE and (mine in title or title in mine))):
                return True
    return False


def _told(item: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    for key in keys:
        value = item.get(key)
        text = str(value) if isinstance(value, bool) else plain(value)
        if text and len(text) <= _MAX_WORDS:
            return text
    return None


def _price(item: Mapping[str, Any]) -> tuple[float | None, Mapping[str, Any]]:
    """The amount, and the object in which it stands, if it has one of its own."""
    for key in _KEYS["price"]:
        value = item.get(key)
        parts: dict[str, Any] = {}
        if isinstance(value, dict):
            parts = {str(name).lower(): part for name, part in value.items()}
            value = next((parts[part] for part in _PRICE_PARTS if part in parts), None)
        text = plain(value) if isinstance(value, str | int | float) else None
        amount = money.stated(text) if text else None
        if amount:
            return amount, parts
    return None, {}


def _sku_of_only_variant(item: Mapping[str, Any]) -> str | None:
    variants = item.get("variants")
    if not isinstance(variants, list) or len(variants) != 1 or not isinstance(variants[0], dict):
        return None
    return _told(variants[0], ("sku",))


def _is_in_cents(price: float, item: Mapping[str, Any], shown: Callable[[], VisiblePrice]) -> bool:
    """Whether an amount counts cents, as the themes of a large maker of shops do."""
    if price != int(price) or price in shown().signs:
        return False
    return price / 100 in shown().signs or item.keys() >= _OF_THEMES
