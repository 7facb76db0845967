"""Read facts from raw JSON-LD, microdata, RDFa and OpenGraph in one simple way, to compare only the parsers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Lists = Mapping[str, Sequence[Any]]
"""The blocks of a page by syntax: `json_ld`, `microdata`, `rdfa`, `opengraph`."""

_PRODUCTS = frozenset({"Product", "ProductModel", "IndividualProduct", "Vehicle", "Car", "Book", "ProductGroup"})
_GTINS = ("gtin13", "gtin12", "gtin14", "gtin8", "gtin", "ean", "isbn")
_HOLDERS = ("@value", "value", "name", "url", "contentUrl", "@id")
_TAGS = {
    "price": ("product:price:amount", "og:price:amount"),
    "currency": ("product:price:currency", "og:price:currency"),
    "availability": ("product:availability", "og:availability"),
    "brand": ("product:brand", "og:brand"),
}
_MAX_DEPTH = 60


def product(lists: Lists) -> dict[str, Any]:
    """Return price, currency, availability, product numbers and brand: the first value in an item or tag."""
    facts: dict[str, Any] = {}
    for item in _items(lists, _PRODUCTS):
        _fill(facts, _of_product(item))
    tags: dict[str, Any] = {}
    for part in lists.get("opengraph") or ():
        properties = part.get("properties", part)
        for name, value in properties if isinstance(properties, list) else properties.items():
            tags.setdefault(name, value)
    for field, names in _TAGS.items():
        _fill(facts, {field: _value([tags.get(name) for name in names])})
    return facts


def recipe(lists: Lists) -> dict[str, Any]:
    """Return the fields of the recipe items, the first value of each."""
    facts: dict[str, Any] = {}
    for item in _items(lists, frozenset({"Recipe"})):
        _fill(facts, _of_recipe(item))
    return facts


def _of_product(item: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "sku": _value(item.get("sku") or item.get("productID")),
        "mpn": _value(item.get("mpn")),
        "brand": _value(item.get("brand") or item.get("manufacturer")),
        "gtin": _value([item.get(name) for name in _GTINS]),
    }
    for offer in _objects(item.get("offers")):
        specified = next(iter(_objects(offer.get("priceSpecification"))), {})
        _fill(
            facts,
            {
                "price": _value(offer.get("price") or offer.get("lowPrice") or specified.get("price")),
                "currency": _value(offer.get("priceCurrency") or specified.get("priceCurrency")),
                "availability": _value(offer.get("availability")),
                "sku": _value(offer.get("sku")),
                "gtin": _value([offer.get(name) for name in ("gtin13", "gtin12", "gtin")]),
            },
        )
    return facts


def _of_recipe(item: Mapping[str, Any]) -> dict[str, Any]:
    ingredients = item.get("recipeIngredient") or item.get("ingredients")
    rating = next(iter(_objects(item.get("aggregateRating"))), {})
    nutrition = next(iter(_objects(item.get("nutrition"))), {})
    return {
        "title": _value(item.get("name") or item.get("headline")),
        "ingredients": [text for text in map(_value, _listed(ingredients)) if text],
        "instructions": list(_steps(item.get("recipeInstructions"), 0)),
        "total_time": _value(item.get("totalTime")),
        "prep_time": _value(item.get("prepTime")),
        "cook_time": _value(item.get("cookTime")),
        "yields": _value(item.get("recipeYield") or item.get("yield")),
        "author": _value(item.get("author")),
        "image": _value(item.get("image")),
        "ratings": _value(rating.get("ratingValue")),
        "nutrients": {
            name: _value(value) for name, value in nutrition.items() if name not in ("@type", "type", "@context", "@id")
        },
    }


def _steps(value: Any, depth: int) -> Iterator[str]:
    for part in _listed(value):
        if isinstance(part, str) and part:
            yield part
        elif isinstance(part, dict) and depth < _MAX_DEPTH:
            step = _properties(part)
            if "HowToSection" in _types(part) or step.get("itemListElement"):
                yield from _steps(step.get("itemListElement"), depth + 1)
            elif text := _value(step.get("text") or step.get("name")):
                yield str(text)


def _items(lists: Lists, kinds: frozenset[str]) -> Iterator[Mapping[str, Any]]:
    for syntax in ("json_ld", "microdata", "rdfa"):
        for part in _walk(lists.get(syntax) or (), 0):
            if _types(part) & kinds:
                yield _properties(part)


def _walk(values: Iterable[Any], depth: int) -> Iterator[dict[str, Any]]:
    for value in values:
        if depth > _MAX_DEPTH:
            return
        if isinstance(value, dict):
            yield value
            yield from _walk(value.values(), depth + 1)
        elif isinstance(value, list | tuple):
            yield from _walk(value, depth + 1)


def _types(item: Mapping[str, Any]) -> set[str]:
    names = map(str, _listed(item.get("@type") or item.get("type")))
    return {name.rpartition("/")[2].rpartition("#")[2].rpartition(":")[2] for name in names}


def _properties(item: dict[str, Any]) -> Mapping[str, Any]:
    properties = item.get("properties")
    return properties if isinstance(properties, dict) else item


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [_properties(part) for part in _listed(value) if isinstance(part, dict)]


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _value(value: Any) -> Any:
    """Return the first plain value."""
    if isinstance(value, list | tuple):
        return next((found for found in map(_value, value) if found not in (None, "")), None)
    if isinstance(value, dict):
        held = _properties(value)
        return next((_value(held[name]) for name in _HOLDERS if held.get(name) not in (None, "", [])), None)
    return value


def _fill(facts: dict[str, Any], extra: Mapping[str, Any]) -> None:
    for name, value in extra.items():
        if value not in (None, "", [], {}) and not facts.get(name):
            facts[name] = value
