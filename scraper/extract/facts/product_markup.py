"""The facts of a product that a page states for machines in items of schema.org."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from scraper.extract.facts import money, product_brand
from scraper.extract.facts.items import (
    Graph,
    folded,
    held,
    last_word,
    rating,
    same_thing,
    typed,
    whole_number,
)
from scraper.extract.facts.model import Facts, Source
from scraper.extract.facts.product_price import Shown
from scraper.extract.jsonld import Item

__all__ = ["GTINS", "MAX_CODE", "PRODUCTS", "add_items", "availability", "brand", "is_gtin", "short"]

PRODUCTS = frozenset(
    "product productmodel productgroup individualproduct someproducts vehicle car motorcycle book "
    "musicalbum movie game videogame softwareapplication".split()
)
_SURE = frozenset(
    "product productmodel productgroup individualproduct someproducts vehicle car motorcycle".split()
)
"""A book or a game without an offer may be what an article is about."""

_ELSEWHERE = frozenset(
    "isRelatedTo isSimilarTo isAccessoryOrSparePartFor isConsumableFor relatedLink mentions review "
    "itemReviewed itemListElement hasPart".split()
)
"""What stands under these is another product."""

GTINS = ("gtin13", "gtin12", "gtin14", "gtin8", "gtin", "ean", "isbn")
_OLD_PRICES = frozenset("listprice strikethroughprice msrp srp regularprice".split())
_IN_STOCK = frozenset(
    "instock limitedavailability instoreonly onlineonly preorder presale backorder available "
    "availablefororder madetoorder reserved yes true 1 new".split()
)
_OUT_OF_STOCK = frozenset(
    "outofstock outstock soldout discontinued unavailable notavailable oos no false 0".split()
)
_DIGITS = re.compile(r"\D")
_MAX_OFFERS = 200
_MOST_NAMES = 2
"""More products, none of them called as the page is: a list of them."""
_MAX_NAME = 200
MAX_CODE = 60
"""Characters of a number or a word for a state."""


def add_items(
    facts: Facts, graph: Graph, source: Source, title: str, shown: Callable[[], Shown], url: str = ""
) -> None:
    """What the items of one syntax say of the product that the page, at `url`, is about."""
    for item in _products(graph, title):
        offers = _chosen_first(graph, list(_offers(graph, item)), url)
        _add_price(facts, graph, offers, source, shown)
        _add_availability(facts, graph, offers, source)
        facts.add("name", short(graph.text(item, "name"), _MAX_NAME), source)
        facts.add("brand", brand(graph.text(item, "brand", "manufacturer")), source)
        for name, keys in (("sku", ("sku", "productID")), ("mpn", ("mpn",))):
            facts.add(name, _first(graph, (item, *offers), keys), source)
        facts.add("gtin", _gtin(graph, (item, *offers)), source)
        _add_rating(facts, graph, item, source)
        facts.add("image", short(graph.picture(item), 2_000), source)


def availability(value: str | None) -> str | None:
    """`InStock` or `OutOfStock` for a word of schema.org and its relatives; None for any other."""
    word = folded(last_word(value or ""))
    if word in _IN_STOCK:
        return "InStock"
    return "OutOfStock" if word in _OUT_OF_STOCK else None


def is_gtin(text: str) -> bool:
    """Whether a text is a GTIN, EAN, UPC or ISBN with a right check digit."""
    digits = _DIGITS.sub("", text)
    if len(digits) not in (8, 12, 13, 14) or len(text) > 2 * len(digits):
        return False
    total = sum(
        int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits[:-1]))
    )
    return (10 - total) % 10 == int(digits[-1])


def _products(graph: Graph, title: str) -> list[Item]:
    """The items of the page's own product, best first; of several, those with the page's title for name."""
    own = [item for item in graph.items(without=_ELSEWHERE) if _is_product(item)]
    found = own or [item for item in graph.items() if _is_product(item)]
    names = [folded(graph.text(item, "name")) for item in found]
    named = [item for item, name in zip(found, names, strict=True) if same_thing(name, title)]
    if not named and (not own or len(set(names)) > _MOST_NAMES):
        return []
    chosen = named if len(found) > 1 and named else found
    return sorted(chosen, key=lambda item: (not _is_called(graph, item, title), not _has_offers(item)))


def _is_called(graph: Graph, item: Item, title: str) -> bool:
    """Whether an item has the page's title for a name, by every letter: of variants, the one shown."""
    return folded(graph.text(item, "name")) == title


def _has_offers(item: Item) -> bool:
    return bool(held(item, "offers") or held(item, "hasVariant"))


def _is_product(item: Item) -> bool:
    return typed(item, _SURE) or (typed(item, PRODUCTS) and bool(held(item, "offers")))


def _offers(graph: Graph, item: Item) -> Iterator[Item]:
    """Every offer of an item, those of its variants behind its own, and what they specify."""
    waiting = [*graph.objects(item, "offers", "offer"), *graph.objects(item, "hasVariant")]
    seen: set[int] = set()
    for offer in waiting:
        if len(seen) == _MAX_OFFERS:
            return
        if id(offer) not in seen:
            seen.add(id(offer))
            yield offer
            specified = graph.objects(offer, "priceSpecification")
            waiting += [*graph.objects(offer, "offers"), *sorted(specified, key=_is_by_measure)]


def _chosen_first(graph: Graph, offers: list[Item], url: str) -> list[Item]:
    """The variant that the page's address chooses, and its offer, before the others."""
    asked = _query(url)
    return sorted(offers, key=lambda offer: not _leads_to(graph, offer, asked)) if asked else offers


def _leads_to(graph: Graph, offer: Item, asked: frozenset[str]) -> bool:
    places = (offer, *graph.objects(offer, "offers"))
    queries = [_query(graph.text(place, "url") or "") for place in places]
    return any(query and query <= asked for query in queries)


def _query(url: str) -> frozenset[str]:
    asked = url.partition("#")[0].partition("?")[2]
    return frozenset(asked.split("&")) - {""}


def _is_by_measure(specification: Item) -> bool:
    """Whether a price may be that of a litre or a kilo, not of the whole."""
    return any(held(specification, name) for name in ("referenceQuantity", "unitCode", "unitText"))


def _add_price(
    facts: Facts, graph: Graph, offers: Sequence[Item], source: Source, shown: Callable[[], Shown]
) -> None:
    """The first price; of several different ones the one that is shown, where that can be told."""
    prices = list(dict.fromkeys(filter(None, (_price_of(graph, offer, shown) for offer in offers))))
    if len(prices) > 1 and "price" not in facts and (amount := shown().amount) is not None:
        prices.sort(key=lambda price: price != amount.value)
    if prices:
        facts.add("price", money.number(prices[0]), source)
    currency = next(filter(None, (graph.text(offer, "priceCurrency", "currency") for offer in offers)), None)
    if currency and len(currency) <= MAX_CODE:
        facts.add("currency", money.code_of(currency) or currency, source)
    elif prices:
        texts = (graph.text(offer, "price", "lowPrice") or "" for offer in offers)
        signs = (amount.sign for amount in map(money.seen, texts) if amount is not None)
        sign = next(filter(None, signs), None)
        facts.add("currency", money.currency(sign), source)


def _price_of(graph: Graph, offer: Item, shown: Callable[[], Shown]) -> float | None:
    kind = folded((graph.text(offer, "priceType") or "").rpartition("/")[2])
    price = None if kind in _OLD_PRICES else graph.text(offer, "price", "lowPrice")
    if not price:
        return None
    amount = money.stated(price, graph.text(offer, "priceCurrency", "currency"))
    decimal = money.with_decimals(price)
    if decimal is None or amount == decimal or amount in shown().signs:
        return amount
    return next((told for told in (decimal, round(decimal, 2)) if told in shown().signs), amount)


def brand(text: str | None) -> str | None:
    """A brand without what is said around it."""
    return short(product_brand.trimmed(text), _MAX_NAME) if text else None


def _add_availability(facts: Facts, graph: Graph, offers: Sequence[Item], source: Source) -> None:
    """One variant in stock is in stock; a word of the page's own stands as it is."""
    stated = [text for text in (graph.text(offer, "availability") for offer in offers) if text]
    told = {availability(text) for text in stated}
    known = next((word for word in ("InStock", "OutOfStock") if word in told), None)
    facts.add("availability", known, source)
    if stated and not known:
        facts.add("availability", short(stated[0], MAX_CODE), source, confidence=0.5)


def _add_rating(facts: Facts, graph: Graph, item: Item, source: Source) -> None:
    for stated in graph.objects(item, "aggregateRating")[:1]:
        value = rating(graph.text(stated, "ratingValue"))
        count = whole_number(graph.text(stated, "reviewCount", "ratingCount"))
        if value is not None:
            facts.add("rating", money.number(value), source, count=count)


def _gtin(graph: Graph, places: Iterable[Item]) -> str | None:
    for item in places:
        for name in GTINS:
            value = graph.text(item, name)
            if value and is_gtin(value):
                return value
    return None


def _first(graph: Graph, places: Iterable[Item], names: Sequence[str]) -> str | None:
    for item in places:
        value = graph.text(item, *names)
        if value and len(value) <= MAX_CODE:
            return value
    return None


def short(text: str | None, limit: int) -> str | None:
    """A text that is no longer than it may be."""
    return text if text and len(text) <= limit else None
