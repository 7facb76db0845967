"""The facts of a product that a page states for machines in items of schema.org."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from scraper.extract.facts import money, product_brand, product_offers
from scraper.extract.facts.model import Facts, FactSource
from scraper.extract.facts.product_price import VisiblePrice
from scraper.extract.facts.product_vocabulary import LABELS
from scraper.extract.facts.schema_graph import (
    ELSEWHERE,
    SchemaGraph,
    folded,
    held,
    last_word,
    plain,
    rating,
    same_thing,
    typed,
    whole_number,
)
from scraper.extract.syntaxes.jsonld import Item

PRODUCTS = frozenset(
    "product productmodel productgroup individualproduct someproducts vehicle car motorcycle book "
    "musicalbum movie game videogame softwareapplication".split()
)
_SURE = frozenset(
    "product productmodel productgroup individualproduct someproducts vehicle car motorcycle".split()
)
"""A book or a game without an offer may be what an article is about."""

GTINS = ("gtin13", "gtin12", "gtin14", "gtin8", "gtin", "ean", "isbn")
_OLD_PRICES = frozenset("listprice strikethroughprice msrp srp regularprice".split())
_IN_STOCK = frozenset(
    "instock limitedavailability instoreonly onlineonly preorder presale backorder available "
    "availablefororder madetoorder reserved yes true 1 new".split()
)
_OUT_OF_STOCK = frozenset(
    "outofstock outstock soldout discontinued unavailable notavailable oos no false 0".split()
)
_LABEL = re.compile(rf"\A(?:(?:{LABELS['sku']})\.?\s*[:#：]\s*|sku\s+)(?=\S)", re.IGNORECASE)
_OTHER_KIND = re.compile(r"(?:mpn|isbn|gtin\d*|ean|upc)\s*:", re.IGNORECASE)
"""`mpn:925872`, as schema.org has it for `productID`."""
_DIGITS = re.compile(r"\D")
_MOST_NAMES = 2
"""More products, none of them called as the page is: a list of them."""
_MAX_NAME = 200
MAX_CODE = 60
"""Characters of a number or a word for a state."""


def add_items(
    facts: Facts,
    graph: SchemaGraph,
    source: FactSource,
    title: str,
    shown: Callable[[], VisiblePrice],
    url: str = "",
) -> None:
    """What the items of one syntax say of the product that the page, at `url`, is about."""
    for item in _products(graph, title):
        offers = list(product_offers.of(graph, item))
        chosen = product_offers.chosen(graph, offers, url)
        offers = [*chosen, *offers]
        _add_price(facts, graph, offers, source, shown)
        _add_availability(facts, graph, chosen, source)
        _add_availability(facts, graph, offers, source)
        facts.add("name", short(graph.text(item, "name"), _MAX_NAME), source)
        for key in ("brand", "manufacturer"):
            facts.add("brand", brand(graph.text(item, key)), source)
        facts.add("sku", unlabelled_code(_first(graph, (item, *offers), ("sku", "productID"))), source)
        facts.add("mpn", _first(graph, (item, *offers), ("mpn",)), source)
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


def _products(graph: SchemaGraph, title: str) -> list[Item]:
    """The items of the page's own product, best first; of several, those with the page's title for name."""
    own = [item for item in graph.items(without=ELSEWHERE) if _is_product(item)]
    found = own or [item for item in graph.items() if _is_product(item)]
    names = [folded(graph.text(item, "name")) for item in found]
    named = [item for item, name in zip(found, names, strict=True) if same_thing(name, title)]
    if not found and (offer := product_offers.alone(graph)):
        return [{"offers": offer}]
    if not named and (not own or len(set(names)) > _MOST_NAMES):
        return []
    chosen = named if len(found) > 1 and named else found
    return sorted(
        chosen, key=lambda one: (not _is_called(graph, one, title), not product_offers.has_any(one))
    )


def _is_called(graph: SchemaGraph, item: Item, title: str) -> bool:
    """Whether an item has the page's title for a name, by every letter: of variants, the one shown."""
    return folded(graph.text(item, "name")) == title


def _is_product(item: Item) -> bool:
    return typed(item, _SURE) or (typed(item, PRODUCTS) and bool(held(item, "offers")))


def _add_price(
    facts: Facts,
    graph: SchemaGraph,
    offers: Sequence[Item],
    source: FactSource,
    shown: Callable[[], VisiblePrice],
) -> None:
    """The first price; of several different ones the one that is shown, where that can be told."""
    stated = (price for offer in offers for price in _prices_of(graph, offer, shown))
    prices = list(dict.fromkeys(filter(None, stated)))
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


def _prices_of(graph: SchemaGraph, offer: Item, shown: Callable[[], VisiblePrice]) -> Iterator[float | None]:
    """What an offer costs; several where the old price stands beside the new one."""
    kind = folded((graph.text(offer, "priceType") or "").rpartition("/")[2])
    if kind in _OLD_PRICES:
        return
    listed = held(offer, "price")
    texts = map(plain, listed) if isinstance(listed, list) else [graph.text(offer, "price", "lowPrice")]
    currency = graph.text(offer, "priceCurrency", "currency")
    for text in filter(None, texts):
        amount = money.stated(text, currency)
        decimal = money.with_decimals(text)
        if decimal is None or amount == decimal or amount in shown().signs:
            yield amount
        else:
            yield next((told for told in (decimal, round(decimal, 2)) if told in shown().signs), amount)


def brand(text: str | None) -> str | None:
    """A brand without its label; None for the address of one."""
    return None if not text or "://" in text else short(product_brand.unlabelled(text), _MAX_NAME)


def unlabelled_code(text: str | None) -> str | None:
    """A product's number without its label; None for one that says to be of another kind."""
    told = _LABEL.sub("", text or "", count=1)
    return None if _OTHER_KIND.match(told) else told or text


def _add_availability(facts: Facts, graph: SchemaGraph, offers: Sequence[Item], source: FactSource) -> None:
    """One variant in stock is in stock; a word of the page's own stands as it is."""
    stated = [text for text in (graph.text(offer, "availability") for offer in offers) if text]
    told = {availability(text) for text in stated}
    known = next((word for word in ("InStock", "OutOfStock") if word in told), None)
    facts.add("availability", known, source)
    if stated and not known:
        facts.add("availability", short(stated[0], MAX_CODE), source, confidence=0.5)


def _add_rating(facts: Facts, graph: SchemaGraph, item: Item, source: FactSource) -> None:
    for stated in graph.objects(item, "aggregateRating")[:1]:
        value = rating(graph.text(stated, "ratingValue"))
        count = whole_number(graph.text(stated, "reviewCount", "ratingCount"))
        if value is not None:
            facts.add("rating", money.number(value), source, count=count)


def _gtin(graph: SchemaGraph, places: Iterable[Item]) -> str | None:
    for item in places:
        for name in GTINS:
            value = graph.text(item, name)
            if value and is_gtin(value):
                return value
    return None


def _first(graph: SchemaGraph, places: Iterable[Item], names: Sequence[str]) -> str | None:
    for item in places:
        value = graph.text(item, *names)
        if value and len(value) <= MAX_CODE:
            return value
    return None


def short(text: str | None, limit: int) -> str | None:
    """A text that is no longer than it may be."""
    return text if text and len(text) <= limit else None
