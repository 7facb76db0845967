"""What a page says of its product, each fact with where it stands; nothing rather than a guess."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.facts import (
    money,
    product_brand,
    product_data_attributes,
    product_js_state,
    product_markup,
    product_meta_tags,
    product_price,
    product_stock,
)
from scraper.extract.facts.label_value_pairs import LabelValuePairs
from scraper.extract.facts.model import Facts, FactSource
from scraper.extract.facts.product_markup import is_gtin
from scraper.extract.facts.product_price import VisiblePrice
from scraper.extract.facts.product_vocabulary import LABELS
from scraper.extract.facts.schema_graph import SchemaGraph, folded

ORDER = ("name", "price", "currency", "availability", "brand", "sku", "gtin", "mpn", "rating", "image")
FRAGMENTS = frozenset(
    "price lowPrice priceCurrency availability sku brand mpn gtin13 gtin12 gtin14 gtin8 gtin ean isbn".split()
)
"""Properties of microdata that say something even outside of an item."""

_QUERY = re.compile(
    r"[?&](?:pid|sku|sku_?id|product_?id|item_?id|goods_?id|prod_?id)=([A-Za-z0-9-]{4,30})(?=[&#]|$)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"/(?:dp|gp/product)/(?P<a>[A-Z0-9]{10})(?=[/?#]|$)|"
    r"/(?:p|prd|prod|item|product|products|itm)[/-]?(?P<b>\d{5,})(?=[/?#.]|$)|"
    r"[-/](?P<c>[A-OQ-Z]?\d{6,})(?:\.html?)?(?=[?#]|$)|"
    r"[-/][ap](?P<d>\d{5,})(?:\.html?)?(?=[?#]|$)",
    re.IGNORECASE,
)
"""A product's number in the address of its page: before its end, or behind a word for a product."""
_SHOP_ADDRESS = re.compile(
    r"/(?:dp|gp/product|p|prd|prod|products?|produkte?|producto|produit|prodotto|item|itm|artikel)[/-]",
    re.IGNORECASE,
)
_SHOP_TYPE = re.compile(r"\bproduct\b|product\.item", re.IGNORECASE)

_LABELS = LabelValuePairs(LABELS)
_MIN_SKU, _MAX_SKU = 3, 30
_PROOFS = 2
"""Signs that a page is a product's, where no markup says so; each alone stands on other pages too."""


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """What a page tells apart from what it shows."""

    graphs: Mapping[FactSource, SchemaGraph]
    tags: Sequence[tuple[str, str]]
    fragments: Sequence[tuple[str, Element]]
    states: Mapping[FactSource, Sequence[Any]]
    url: str
    country: str
    """Two letters, lower case; empty where it is not known."""
    currencies: Callable[[], Set[str]] = frozenset
    """The codes of currencies that the page's scripts state."""
    picture: str | None = None
    """The page's own, which is the product's where it names none."""
    given: Callable[[], Sequence[Any]] = tuple
    """What components of the page are given in attributes; asked for where no price is known otherwise."""


def read(told: PageEvidence, body: Element, title: str) -> dict[str, Any] | None:
    """The facts of the product; None where the page is not about one."""
    facts = Facts()
    place = product_price.title_place(body)

    @functools.cache
    def shown() -> VisiblePrice:
        return product_price.shown(body, place)

    for source, graph in told.graphs.items():
        product_markup.add_items(facts, graph, source, folded(title), shown, told.url)
    product_meta_tags.add_tags(facts, told.tags)
    product_meta_tags.add_fragments(facts, told.fragments)
    for source, values in told.states.items():
        product_js_state.add(facts, values, source, folded(title), told.country, shown)
    is_told = any(name in facts for name in ("price", "availability", "sku"))
    product_data_attributes.add(facts, body, shown)
    _add_price(facts, shown, told, body)
    if "price" not in facts:
        product_js_state.add(facts, told.given(), FactSource.STATE, folded(title), told.country, shown)
        is_told = is_told or "price" in facts
    if "availability" not in facts:
        facts.add("availability", product_stock.seen(body, place), FactSource.VISIBLE, confidence=0.9)
    labels = _LABELS.seen(body)
    if not is_told and _proofs(facts, labels, told, shown) < _PROOFS:
        return None
    _add_labelled(facts, labels, body)
    if "brand" not in facts:
        facts.add("brand", product_brand.seen(body, place), FactSource.VISIBLE, confidence=0.5)
    facts.add("sku", _number_in(told.url), FactSource.ADDRESS)
    facts.add("name", title, FactSource.VISIBLE, confidence=0.9)
    facts.add("image", told.picture, FactSource.OPENGRAPH)
    return facts.as_object(ORDER)


def _proofs(
    facts: Facts, labels: Mapping[str, str], told: PageEvidence, shown: Callable[[], VisiblePrice]
) -> int:
    kind = next((content for name, content in told.tags if name == "og:type"), "")
    return sum(
        (
            _SHOP_TYPE.search(kind) is not None,
            _SHOP_ADDRESS.search(told.url) is not None,
            "price" in facts and shown().sure,
            "availability" in facts,
            "sku" in labels or is_gtin(labels.get("gtin", "")),
        )
    )


def _add_price(facts: Facts, shown: Callable[[], VisiblePrice], told: PageEvidence, body: Element) -> None:
    _add_shown_price(facts, shown, told, body)
    codes = told.currencies() if "price" in facts and "currency" not in facts else ()
    if len(codes) == 1:
        facts.add("currency", next(iter(codes)), FactSource.STATE, confidence=0.7)


def _add_shown_price(
    facts: Facts, shown: Callable[[], VisiblePrice], told: PageEvidence, body: Element
) -> None:
    price = facts.value("price")
    if price is not None and price in shown().signs:
        facts.note("price", shown=True)
        sign = shown().signs[price]
        facts.note("currency", sign=None if sign in money.ROUND else sign)
    sign = facts.value("currency")
    if sign and money.code_of(sign) is None:
        facts.note("currency", likely=money.likely_code(sign, told.country, told.currencies()))
    amount = shown().amount
    if amount is None:
        return
    if price is not None and _is_past(price, amount.value, shown(), body):
        facts.replace(
            "price", money.number(amount.value), FactSource.VISIBLE, confidence=0.7, marked_up=price
        )
    facts.add(
        "price", money.number(amount.value), FactSource.VISIBLE, confidence=0.65 if shown().sure else 0.4
    )
    if amount.sign in money.ROUND:
        facts.add("currency", money.code_of(amount.sign, told.country), FactSource.VISIBLE)
        return
    code = money.code_of(amount.sign)
    likely = None if code else money.likely_code(amount.sign, told.country, told.currencies())
    beside = amount.sign if code and code != amount.sign else None
    facts.add("currency", code or amount.sign, FactSource.VISIBLE, confidence=0.8, likely=likely, sign=beside)


def _is_past(price: float, seen: float, shown: VisiblePrice, body: Element) -> bool:
    """Whether the page shows a stated price as an old one alone, and a lower one in its place."""
    return shown.sure and seen < price and product_price.is_past(price, body, shown)


def _add_labelled(facts: Facts, labels: Mapping[str, str], body: Element) -> None:
    if is_gtin(labels.get("gtin", "")):
        facts.add("gtin", labels["gtin"], FactSource.VISIBLE, confidence=0.95)
    sku = labels.get("sku", "")
    if _MIN_SKU <= len(sku) <= _MAX_SKU and any(map(str.isdigit, sku)):
        marked = facts.value("sku")
        if marked and sku != marked and not _is_shown(str(marked), body):
            # The shop's own name for it is inside; what a person would order by is this.
            facts.replace("sku", sku, FactSource.VISIBLE, confidence=0.8, marked_up=marked)
        facts.add("sku", sku, FactSource.VISIBLE, confidence=0.8)
    facts.add("brand", labels.get("brand"), FactSource.VISIBLE)
    facts.add("mpn", labels.get("mpn"), FactSource.VISIBLE)


def _is_shown(code: str, body: Element) -> bool:
    return code in text_of(body)


def _number_in(url: str) -> str | None:
    asked = _QUERY.search(url)
    if asked:
        return asked.group(1)
    match = _ADDRESS.search(url)
    return next(filter(None, match.groups())) if match else None
