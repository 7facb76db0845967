"""Extract product facts from schema.org items and meta tags, and hold the facts found so far."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

from scraper.facts import money
from scraper.facts.label_value_pairs import LabeledValueFinder
from scraper.facts.model import DISPUTED, Facts, FactSource
from scraper.facts.money import PRODUCT_NAMES, Amount
from scraper.facts.product_visible import VisiblePrice, find_visible_price, normalize_availability
from scraper.facts.schema_graph import (
    OTHER_ITEM_PROPERTIES,
    SchemaGraph,
    has_type,
    is_same_name,
    parse_count,
    parse_rating,
    plain_text,
    property_value,
)
from scraper.facts.syntaxes.jsonld import JsonLdItem
from scraper.html.dom.parsing import Element, text_of
from scraper.text.sanitize import name_key
from scraper.words.matcher import WordPattern

_URL_PARTS = str.maketrans("/?#&=.", " " * 6)
_LABELED = LabeledValueFinder("shop", "sku brand gtin mpn")
_SPECIAL = ("referenceQuantity", "unitCode", "unitText", "validForMemberTier")
_MAX_OFFERS = 200


@dataclass
class ProductDraft:
    """Data of a page, and the facts that the stages have found in it. The first stage that states a fact wins."""

    graphs: Mapping[FactSource, SchemaGraph]
    tags: Sequence[tuple[str, str]]
    states: Mapping[FactSource, Sequence[Any]]
    """Values of scripts and of fetched JSON."""
    url: str
    country: str
    """Two letters, lower case; empty if unknown."""
    picture: str | None
    """Image of the page, used if the product has none."""
    body: Element
    title: str
    facts: Facts = field(default_factory=Facts)
    has_markup: bool = False
    """True if markup or scripts state a price, availability or product number."""
    is_sold_later: bool = False
    """True if the page says that the product is sold only later or elsewhere."""

    @cached_property
    def heading(self) -> Element | None:
        """The first `h1` with the title of the page, else the first with text."""
        headings = [heading for heading in self.body.iter("h1") if text_of(heading).strip()]
        title = name_key(self.title)
        return max(headings, key=lambda one: is_same_name(name_key(text_of(one)), title), default=None)

    @cached_property
    def shown(self) -> VisiblePrice:
        """The visible price; found once, when a stage needs it."""
        return find_visible_price(self.body, self.heading)

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The visible values beside labels; found once, when a stage needs them."""
        return _LABELED.find(self.body)


def _iter_offers(graph: SchemaGraph, item: JsonLdItem) -> Iterator[JsonLdItem]:
    """Yield every offer of an item with its price specifications; offers of variants follow."""
    own = [*graph.objects(item, "offers", "offer"), *graph.objects(item, "hasVariant")]
    waiting = own or [one for one in graph.items() if item in graph.objects(one, "itemOffered")]
    seen: set[int] = set()
    for offer in waiting:
        if id(offer) not in seen and len(seen) < _MAX_OFFERS:
            seen.add(id(offer))
            yield offer
            specified = [*graph.objects(offer, "priceSpecification"), *graph.objects(offer, "price")]
            # Prices per unit (liter, kilogram), without tax or only for members come last.
            specified.sort(
                key=lambda one: (
                    any(property_value(one, name) for name in _SPECIAL)
                    or str(property_value(one, "valueAddedTaxIncluded")).lower() == "false"
                )
            )
            waiting += [*graph.objects(offer, "offers"), *specified]


def _selected_variant(graph: SchemaGraph, offers: Sequence[JsonLdItem], url: str) -> list[JsonLdItem]:
    """Return the variant that the URL selects and its offers; empty if it selects none.

    A range of prices is selected only if all of its offers are. Offers without URL and number are no variants.
    """
    offers = [one for one in offers if graph.text(one, "url", "sku") or property_value(one, "offers")]
    inner = [graph.objects(offer, "offers") for offer in offers]
    rates = [
        _rate_url(graph, offer, url) + min((_rate_url(graph, one, url) for one in within), default=0)
        for offer, within in zip(offers, inner, strict=True)
    ]
    best = [at for at, rate in enumerate(rates) if rate == max(rates) > 0]
    chosen = {id(one): one for at in best for one in (offers[at], *inner[at])}
    return list(chosen.values()) if len(chosen) < len(offers) else []


def _rate_url(graph: SchemaGraph, offer: JsonLdItem, url: str) -> int:
    """Return how specifically the URL or number of an offer agrees with the URL of the page, from 0."""
    page, parts = urlsplit(url), set(url.translate(_URL_PARTS).split())
    stated = urlsplit(urljoin(url, graph.text(offer, "url") or "#"))
    query, selected = (frozenset(one.query.split("&")) - {""} for one in (stated, page))
    is_same = query <= selected if query else stated.path.rstrip("/") == page.path.rstrip("/")
    is_same = is_same and bool(graph.text(offer, "url")) and stated.fragment in ("", page.fragment)
    rate = 1 + len(query) + 2 * bool(stated.fragment) if is_same else 0
    return rate + ((graph.text(offer, "sku") or "") in parts)


def read_tags(draft: ProductDraft) -> ProductDraft:
    """Read the OpenGraph tags of a product."""
    facts, by_name = draft.facts, dict(reversed(draft.tags))
    values = {name: next(filter(None, map(by_name.get, names)), None) for name, names in PRODUCT_NAMES["tags"].items()}
    currency, gtin = values["currency"], values["gtin"]
    stated = money.read_stated(values["price"], currency) if values["price"] else None
    price = stated and resolve_price(stated, draft)
    marked, other = facts.value("price"), price and money.simplify_number(price.value)
    shown = draft.shown.amount if marked and other and marked != other else None
    if shown and shown.value == other:
        facts.replace("price", other, FactSource.OPENGRAPH, confidence=0.85, marked_up=marked)
    elif other not in (None, 0, marked) and not (shown and shown.value == marked):
        facts.dispute("price", other)
    add_price(facts, FactSource.OPENGRAPH, price)
    facts.add("currency", money.currency_code(currency) or currency, FactSource.OPENGRAPH)
    facts.add("availability", normalize_availability(values["availability"]), FactSource.OPENGRAPH)
    facts.add("brand", brand(values["brand"]), FactSource.OPENGRAPH)
    for name in ("sku", "mpn"):
        facts.add(name, _limit_length(values[name], _MAX_CODE), FactSource.OPENGRAPH)
    facts.add("gtin", gtin if gtin and is_gtin(gtin) else None, FactSource.OPENGRAPH)
    return draft


def resolve_price(stated: Amount, draft: ProductDraft) -> Amount | None:
    """Return the reading of a stated price that the page shows; None if it surely shows another price."""
    if stated.other is None:
        return stated
    readings = (stated.value, stated.other, round(stated.value, 2), round(stated.other, 2))
    visible = next((value for value in readings if value in draft.shown.signs), None)
    if visible is not None:
        return Amount(visible, stated.sign)
    return None if draft.shown.sure else stated


def add_price(facts: Facts, source: FactSource, amount: Amount | None) -> None:
    """Add a price other than 0, a placeholder. One such as `1.299` that the page does not show has two readings."""
    if amount is None or not amount.value:
        return
    is_new = "price" not in facts
    facts.add("price", money.simplify_number(amount.value), source)
    if is_new and amount.other is not None:
        facts.dispute("price", money.simplify_number(amount.other))


_SURE, _OFFERED = (frozenset(names) for names in PRODUCT_NAMES["types"].values())

_GTINS = ("gtin13", "gtin12", "gtin14", "gtin8", "gtin", "ean", "isbn")
"""Properties with a GTIN, in the order of preference."""
_PRICES = ("price", "lowPrice", "minPrice")
_OLD_PRICES = frozenset("listprice strikethroughprice msrp srp regularprice".split())
_MOST_NAMES = 2
"""Products with different names. With more, the page is a list, unless one has the title of the page."""
_MAX_NAME = 200
_MAX_CODE = 60
_USUAL_BEST = 5
"""Best rating of most shops; another one is reported."""


def read_items(draft: ProductDraft) -> ProductDraft:
    """Read the schema.org items of each syntax."""
    facts, title = draft.facts, name_key(draft.title)
    graphs = draft.graphs.items()
    found = [(source, graph, item) for source, graph in graphs for item in _products(graph, title, draft.url)]
    for source, graph, item in found:
        offers = list(_iter_offers(graph, item))
        chosen = _selected_variant(graph, offers, draft.url)
        for some in (chosen, offers):
            _add_price(draft, graph, some, source)
            _add_availability(facts, graph, some, source)
        offers = [*chosen, item, *offers]
        facts.add("name", _limit_length(graph.text(item, "name"), _MAX_NAME), source)
        for key in ("brand", "manufacturer"):
            facts.add("brand", brand(graph.text(item, key)), source)
        facts.add("sku", _first(graph, offers, ("sku", "productID")), source)
        facts.add("mpn", _first(graph, offers, ("mpn",)), source)
        gtins = filter(None, (graph.text(one, name) for one in offers for name in _GTINS))
        # A number has lost the zero of a UPC.
        facts.add("gtin", next(filter(is_gtin, (text.zfill(12 * (len(text) == 11)) for text in gtins)), None), source)
        add_rating(facts, "rating", graph, item, source)
        facts.add("image", _limit_length(graph.picture(item), 2_000), source)
    return draft


def add_rating(facts: Facts, name: str, graph: SchemaGraph, item: JsonLdItem, source: FactSource) -> None:
    """Add the rating of an item with its count, and its best value unless that is 5; a higher rating is uncertain."""
    for stated in graph.objects(item, "aggregateRating")[:1]:
        value, best = (parse_rating(graph.text(stated, part)) for part in ("ratingValue", "bestRating"))
        if value is not None:
            count = parse_count(graph.text(stated, "ratingCount", "reviewCount"))
            more = {} if best in (None, _USUAL_BEST) else {"best": money.simplify_number(best)}
            certainty = DISPUTED if value > (best or _USUAL_BEST) else None
            facts.add(name, money.simplify_number(value), source, confidence=certainty, count=count, **more)


def is_gtin(text: str) -> bool:
    """Return True if a text is a GTIN-8, -12, -13 or -14 with a valid check digit: also EAN, UPC and ISBN-13."""
    digits = "".join(filter(str.isdecimal, text))
    if len(digits) not in (8, 12, 13, 14) or len(text) > 2 * len(digits):
        return False
    total = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits[:-1])))
    return (10 - total) % 10 == int(digits[-1])


def _products(graph: SchemaGraph, title: str, url: str) -> list[JsonLdItem]:
    """Return the items of the page's product, that of the URL first; of several products, those with its title."""
    own = [item for item in graph.items(without=OTHER_ITEM_PROPERTIES) if _is_product(item)]
    found = own or [item for item in graph.items() if _is_product(item)]
    names = [name_key(graph.text(item, "name")) for item in found]
    named = [item for item, name in zip(found, names, strict=True) if is_same_name(name, title)]
    if not named and (not own or len(set(names)) > _MOST_NAMES):
        return []
    chosen = named if len(found) > 1 and named else found
    has_offers = {id(one): bool(property_value(one, "offers") or property_value(one, "hasVariant")) for one in chosen}

    def rate(one: JsonLdItem) -> tuple[int, bool, bool]:
        offered = max((_rate_url(graph, part, url) for part in graph.objects(one, "offers")), default=0)
        # The name of the visible variant equals the title.
        return (
            -offered - _rate_url(graph, one, url),
            name_key(graph.text(one, "name")) != title,
            not has_offers[id(one)],
        )

    return sorted(chosen, key=rate)


def _is_product(item: JsonLdItem) -> bool:
    return has_type(item, _SURE) or (has_type(item, _OFFERED) and bool(property_value(item, "offers")))


def _add_price(draft: ProductDraft, graph: SchemaGraph, offers: Sequence[JsonLdItem], source: FactSource) -> None:
    """Add the first price; if there are different prices, add the visible one if it is found."""
    facts = draft.facts
    stated = [price for offer in offers for price in _prices_of(graph, offer) if price.value]
    if len({price.value for price in stated}) > 1 and "price" not in facts and (amount := draft.shown.amount):
        stated.sort(key=lambda price: amount.value not in (price.value, price.other))
    add_price(facts, source, resolve_price(stated[0], draft) if stated else None)
    currency = next(filter(None, (graph.text(offer, "priceCurrency", "currency") for offer in offers)), None)
    if not currency or len(currency) > _MAX_CODE:
        currency = next((one.sign for one in stated if one.sign not in (None, *money.ROUND_PRICE_MARKS)), None)
    facts.add("currency", money.currency_code(currency) or currency, source)


def _prices_of(graph: SchemaGraph, offer: JsonLdItem) -> Iterator[Amount]:
    """Yield the prices of an offer, the lowest one of a range first; several if it states an old price too."""
    kind = name_key((graph.text(offer, "priceType") or "").rpartition("/")[2])
    if kind in _OLD_PRICES:
        return
    listed = property_value(offer, "price")
    texts = map(plain_text, listed) if isinstance(listed, list) else [graph.text(offer, *_PRICES)]
    currency = graph.text(offer, "priceCurrency", "currency")
    yield from filter(None, (money.read_stated(text, currency) for text in texts if text))


def brand(text: str | None) -> str | None:
    """Return a brand without its label; None for a URL or a text over `_MAX_NAME` characters."""
    if not text or "://" in text:
        return None
    # `Store`, `By` and `De` may be parts of a name.
    bare = _LABEL.sub("", text).removeprefix("by ").strip(" :-–")
    return _limit_length(bare, _MAX_NAME)


_LABEL = WordPattern(r"^.{0,40}?(?<![^\W\d_]){shop.brand}\s*[:：]\s*")


def _add_availability(facts: Facts, graph: SchemaGraph, offers: Sequence[JsonLdItem], source: FactSource) -> None:
    """Add the availability: in stock if a variant is. Unknown words are added unchanged."""
    stated = [text for text in (graph.text(offer, "availability") for offer in offers) if text]
    normalized = {normalize_availability(text) for text in stated}
    known = next((word for word in ("InStock", "OutOfStock") if word in normalized), None)
    facts.add("availability", known, source)
    if stated and not known:
        facts.add("availability", _limit_length(stated[0], _MAX_CODE), source, confidence=0.5)


def _first(graph: SchemaGraph, places: Iterable[JsonLdItem], names: Sequence[str]) -> str | None:
    values = (graph.text(item, *names) for item in places)
    return next((value for value in values if value and len(value) <= _MAX_CODE), None)


def _limit_length(text: str | None, limit: int) -> str | None:
    """Return the text, or None if it is longer than `limit` characters."""
    return text if text and len(text) <= limit else None
