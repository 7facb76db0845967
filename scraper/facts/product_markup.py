"""Extract product facts from schema.org items, meta tags and single microdata properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from scraper.facts import money, product_brand_and_availability
from scraper.facts.model import Facts, FactSource
from scraper.facts.product_visible_price import VisiblePrice
from scraper.facts.schema_graph import (
    OTHER_ITEM_PROPERTIES,
    SchemaGraph,
    clean_text,
    has_type,
    is_same_name,
    local_name,
    parse_count,
    parse_rating,
    plain_text,
    property_value,
)
from scraper.facts.syntaxes.jsonld import JsonLdItem
from scraper.html.dom.xpath import Element, text_of
from scraper.text.sanitize import name_key
from scraper.words.matcher import WordPattern

_OFFERS = frozenset({"offer", "aggregateoffer"})
_OF_SOMETHING = OTHER_ITEM_PROPERTIES | {"offers", "offer", "makesOffer", "hasOfferCatalog"}
_SPECIAL = ("referenceQuantity", "unitCode", "unitText", "validForMemberTier")
_MAX_OFFERS = 200


def _has_offers(item: JsonLdItem) -> bool:
    """Return True if an item has offers or variants."""
    return bool(property_value(item, "offers") or property_value(item, "hasVariant"))


def _iter_offers(graph: SchemaGraph, item: JsonLdItem) -> Iterator[JsonLdItem]:
    """Yield every offer of an item with its price specifications; offers of variants follow."""
    waiting = [*graph.objects(item, "offers", "offer"), *graph.objects(item, "hasVariant")]
    seen: set[int] = set()
    waiting = waiting or _offering(graph, item)
    for offer in waiting:
        if len(seen) == _MAX_OFFERS:
            return
        if id(offer) not in seen:
            seen.add(id(offer))
            yield offer
            specified = graph.objects(offer, "priceSpecification")
            waiting += [*graph.objects(offer, "offers"), *sorted(specified, key=_is_special)]


def _offering(graph: SchemaGraph, item: JsonLdItem) -> list[JsonLdItem]:
    """Return the offers that refer to the item."""
    every = (offer for offer in graph.items(without=OTHER_ITEM_PROPERTIES) if has_type(offer, _OFFERS))
    return [offer for offer in every if any(one is item for one in graph.objects(offer, "itemOffered"))]


def _only_offer(graph: SchemaGraph) -> JsonLdItem | None:
    """Return the only offer of a page if it refers to no item: then it belongs to the product of the page."""
    found = [item for item in graph.items(without=_OF_SOMETHING) if has_type(item, _OFFERS)]
    return found[0] if len(found) == 1 and not property_value(found[0], "itemOffered") else None


def _selected_variant(graph: SchemaGraph, offers: Sequence[JsonLdItem], url: str) -> list[JsonLdItem]:
    """Return the variant that the URL selects and its offers; empty if it selects none."""
    selected = _query_parameters(url)
    found = [offer for offer in offers if selected and _leads_to(graph, offer, selected)]
    inner = [one for offer in found for one in graph.objects(offer, "offers")]
    return [*found, *(one for one in inner if all(one is not other for other in found))]


def _leads_to(graph: SchemaGraph, offer: JsonLdItem, selected: frozenset[str]) -> bool:
    items = (offer, *graph.objects(offer, "offers"))
    queries = (_query_parameters(graph.text(item, "url") or "") for item in items)
    return any(query and query <= selected for query in queries)


def _query_parameters(url: str) -> frozenset[str]:
    return frozenset(url.partition("#")[0].partition("?")[2].split("&")) - {""}


def _is_special(specification: JsonLdItem) -> bool:
    """Return True if a price is per unit (liter, kilogram) or only for members."""
    return any(property_value(specification, name) for name in _SPECIAL)


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
    """Add the facts of OpenGraph product tags."""
    values = {name: _first_content(tags, names) for name, names in _TAGS.items()}
    card = _price_on_card(tags)
    if card is not None and not values["price"]:
        values |= {"price": str(card.value), "currency": values["currency"] or money.code_or_sign(card.sign)}
    _add_values(facts, values, money.currency_code(values["currency"]) or values["currency"], FactSource.OPENGRAPH)


def _price_on_card(tags: Sequence[tuple[str, str]]) -> money.VisibleAmount | None:
    """Return the price among the two labeled values of a Twitter card."""
    for number in ("1", "2"):
        label, value = (_first_content(tags, (f"twitter:{part}{number}",)) for part in ("label", "data"))
        if label and value and money.PRICE_NAMES.search(label.lower()):
            return money.parse_visible_price(value)
    return None


def _first_content(tags: Sequence[tuple[str, str]], names: Sequence[str]) -> str | None:
    by_name = dict(reversed(tags))
    return next((by_name[name] for name in names if by_name.get(name)), None)


def add_fragments(facts: Facts, found: Iterable[tuple[str, Element]]) -> None:
    """Add the first value of each microdata property outside an item."""
    values: dict[str, str | None] = {}
    for name, element in found:
        value = element.get("content") or element.get("href") or text_of(element)
        if value and (value := clean_text(value[:500])) and len(value) <= _MAX_CODE:
            values.setdefault(name, value)
    values["price"] = values.get("price") or values.get("lowPrice")
    values["currency"] = values.get("priceCurrency")
    values["gtin"] = next((values[name] for name in _GTINS if is_gtin(values.get(name) or "")), None)
    _add_values(facts, values, money.currency_code(values["currency"]), FactSource.FRAGMENT)


def _add_values(facts: Facts, values: Mapping[str, str | None], currency: str | None, source: FactSource) -> None:
    """Add the values of a product by name. A price of 0 is usually a placeholder."""
    price, gtin = values["price"], values["gtin"]
    amount = money.parse_machine_price(price, values["currency"]) if price else None
    facts.add("price", money.simplify_number(amount) if amount else None, source)
    facts.add("currency", currency, source)
    facts.add("availability", normalize_availability(values.get("availability")), source)
    facts.add("brand", brand(values.get("brand")), source)
    facts.add("sku", _limit_length(_strip_code_label(values.get("sku")), _MAX_CODE), source)
    facts.add("mpn", _limit_length(values.get("mpn"), _MAX_CODE), source)
    facts.add("gtin", gtin if gtin and is_gtin(gtin) else None, source)


_PRODUCTS = frozenset(
    "product productmodel productgroup individualproduct someproducts vehicle car motorcycle book "
    "musicalbum movie game videogame softwareapplication".split()
)
"""Types of schema.org, lower case, whose items are products if they have offers."""
_SURE = frozenset("product productmodel productgroup individualproduct someproducts vehicle car motorcycle".split())
"""Types that identify a product without offers. A book or a game may be the topic of an article."""

_GTINS = ("gtin13", "gtin12", "gtin14", "gtin8", "gtin", "ean", "isbn")
"""Properties with a GTIN, in the order of preference."""
_OLD_PRICES = frozenset("listprice strikethroughprice msrp srp regularprice".split())
_IN_STOCK = frozenset(
    "instock limitedavailability instoreonly onlineonly preorder presale backorder available "
    "availablefororder madetoorder reserved yes true 1 new".split()
)
_OUT_OF_STOCK = frozenset("outofstock outstock soldout discontinued unavailable notavailable oos no false 0".split())
_LABEL = WordPattern(r"\A(?:{shop.sku}\.?(?:\s*[:：]|\s*#\s*[:：]?)\s*|sku\s+)(?=\S)")
_OTHER_KIND = re.compile(r"(?:mpn|isbn|gtin\d*|ean|upc)\s*:", re.IGNORECASE)
"""`mpn:925872`, the form of schema.org for `productID`."""
_MOST_NAMES = 2
"""Products with different names. With more, the page is a list, unless one has the title of the page."""
_MAX_NAME = 200
_MAX_CODE = 60
"""Characters of a product number or an availability."""


def add_product_items(
    facts: Facts, graph: SchemaGraph, source: FactSource, title: str, shown: Callable[[], VisiblePrice], url: str = ""
) -> None:
    """Add the facts of the items of one syntax about the product of the page at `url`.

    `title` is the title of the page in the form of `name_key`.
    """
    for item in _products(graph, title):
        offers = list(_iter_offers(graph, item))
        chosen = _selected_variant(graph, offers, url)
        offers = [*chosen, *offers]
        _add_price(facts, graph, offers, source, shown)
        _add_availability(facts, graph, chosen, source)
        _add_availability(facts, graph, offers, source)
        facts.add("name", _limit_length(graph.text(item, "name"), _MAX_NAME), source)
        for key in ("brand", "manufacturer"):
            facts.add("brand", brand(graph.text(item, key)), source)
        facts.add("sku", _strip_code_label(_first(graph, (item, *offers), ("sku", "productID"))), source)
        facts.add("mpn", _first(graph, (item, *offers), ("mpn",)), source)
        facts.add("gtin", _gtin(graph, (item, *offers)), source)
        _add_rating(facts, graph, item, source)
        facts.add("image", _limit_length(graph.picture(item), 2_000), source)


def normalize_availability(value: str | None) -> str | None:
    """Map an availability of schema.org or a similar word to `InStock` or `OutOfStock`, else None."""
    word = name_key(local_name(value or ""))
    if word in _IN_STOCK:
        return "InStock"
    return "OutOfStock" if word in _OUT_OF_STOCK else None


def is_gtin(text: str) -> bool:
    """Return True if a text is a GTIN-8, -12, -13 or -14 with a valid check digit: also EAN, UPC and ISBN-13."""
    digits = "".join(filter(str.isdecimal, text))
    if len(digits) not in (8, 12, 13, 14) or len(text) > 2 * len(digits):
        return False
    total = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits[:-1])))
    return (10 - total) % 10 == int(digits[-1])


def _products(graph: SchemaGraph, title: str) -> list[JsonLdItem]:
    """Return the items of the page's product, best first; of several products, those with the page's title."""
    own = [item for item in graph.items(without=OTHER_ITEM_PROPERTIES) if _is_product(item)]
    found = own or [item for item in graph.items() if _is_product(item)]
    names = [name_key(graph.text(item, "name")) for item in found]
    named = [item for item, name in zip(found, names, strict=True) if is_same_name(name, title)]
    if not found and (offer := _only_offer(graph)):
        return [{"offers": offer}]
    if not named and (not own or len(set(names)) > _MOST_NAMES):
        return []
    chosen = named if len(found) > 1 and named else found
    # The name of the visible variant equals the title.
    return sorted(chosen, key=lambda one: (name_key(graph.text(one, "name")) != title, not _has_offers(one)))


def _is_product(item: JsonLdItem) -> bool:
    return has_type(item, _SURE) or (has_type(item, _PRODUCTS) and bool(property_value(item, "offers")))


def _add_price(
    facts: Facts,
    graph: SchemaGraph,
    offers: Sequence[JsonLdItem],
    source: FactSource,
    shown: Callable[[], VisiblePrice],
) -> None:
    """Add the first price; if there are different prices, add the visible one if it is found."""
    stated = (price for offer in offers for price in _prices_of(graph, offer, shown))
    prices = list(dict.fromkeys(filter(None, stated)))
    if len(prices) > 1 and "price" not in facts and (amount := shown().amount) is not None:
        prices.sort(key=lambda price: price != amount.value)
    if prices:
        facts.add("price", money.simplify_number(prices[0]), source)
    currency = next(filter(None, (graph.text(offer, "priceCurrency", "currency") for offer in offers)), None)
    if currency and len(currency) <= _MAX_CODE:
        facts.add("currency", money.currency_code(currency) or currency, source)
    elif prices:
        texts = (graph.text(offer, "price", "lowPrice") or "" for offer in offers)
        signs = (amount.sign for amount in map(money.parse_visible_price, texts) if amount is not None)
        sign = next(filter(None, signs), None)
        facts.add("currency", money.code_or_sign(sign), source)


def _prices_of(graph: SchemaGraph, offer: JsonLdItem, shown: Callable[[], VisiblePrice]) -> Iterator[float | None]:
    """Yield the prices of an offer; several if it states an old price too."""
    kind = name_key((graph.text(offer, "priceType") or "").rpartition("/")[2])
    if kind in _OLD_PRICES:
        return
    listed = property_value(offer, "price")
    texts = map(plain_text, listed) if isinstance(listed, list) else [graph.text(offer, "price", "lowPrice")]
    currency = graph.text(offer, "priceCurrency", "currency")
    for text in filter(None, texts):
        amount = money.parse_machine_price(text, currency)
        decimal = money.as_decimals(text)
        if decimal is None or amount == decimal or amount in shown().signs:
            yield amount
        else:
            yield next((price for price in (decimal, round(decimal, 2)) if price in shown().signs), amount)


def brand(text: str | None) -> str | None:
    """Return a brand without its label; None for a URL or a text over `_MAX_NAME` characters."""
    return (
        None
        if not text or "://" in text
        else _limit_length(product_brand_and_availability.strip_brand_label(text), _MAX_NAME)
    )


def _strip_code_label(text: str | None) -> str | None:
    """Return a product number without its label; None if the label names another kind of number."""
    code = _LABEL.sub("", text or "", count=1)
    return None if _OTHER_KIND.match(code) else code or text


def _add_availability(facts: Facts, graph: SchemaGraph, offers: Sequence[JsonLdItem], source: FactSource) -> None:
    """Add the availability: in stock if a variant is. Unknown words are added unchanged."""
    stated = [text for text in (graph.text(offer, "availability") for offer in offers) if text]
    normalized = {normalize_availability(text) for text in stated}
    known = next((word for word in ("InStock", "OutOfStock") if word in normalized), None)
    facts.add("availability", known, source)
    if stated and not known:
        facts.add("availability", _limit_length(stated[0], _MAX_CODE), source, confidence=0.5)


def _add_rating(facts: Facts, graph: SchemaGraph, item: JsonLdItem, source: FactSource) -> None:
    for stated in graph.objects(item, "aggregateRating")[:1]:
        value = parse_rating(graph.text(stated, "ratingValue"))
        count = parse_count(graph.text(stated, "reviewCount", "ratingCount"))
        if value is not None:
            facts.add("rating", money.simplify_number(value), source, count=count)


def _gtin(graph: SchemaGraph, places: Iterable[JsonLdItem]) -> str | None:
    values = (graph.text(item, name) for item in places for name in _GTINS)
    return next((value for value in values if value and is_gtin(value)), None)


def _first(graph: SchemaGraph, places: Iterable[JsonLdItem], names: Sequence[str]) -> str | None:
    values = (graph.text(item, *names) for item in places)
    return next((value for value in values if value and len(value) <= _MAX_CODE), None)


def _limit_length(text: str | None, limit: int) -> str | None:
    """Return the text, or None if it is longer than `limit` characters."""
    return text if text and len(text) <= limit else None
