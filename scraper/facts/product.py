"""Extract the facts of a product from markup, scripts and visible text. Prefer no fact to a guess."""

import re
from typing import Any

from scraper.facts import money, product_visible
from scraper.facts.model import Facts, FactSource
from scraper.facts.product_js_state import read_script_data
from scraper.facts.product_markup import ProductDraft, is_gtin, read_items, read_tags
from scraper.html.dom.parsing import text_of
from scraper.stages import Stage, run_stages

ORDER = ("name", "price", "currency", "availability", "brand", "sku", "gtin", "mpn", "rating", "image")
"""Names of the facts, in the order of the answer."""
_QUERY, _ADDRESS, _SHOP_ADDRESS = (
    re.compile("|".join(patterns), re.IGNORECASE) for patterns in money.PRODUCT_NAMES["addresses"].values()
)
_MIN_SKU, _MAX_SKU = 3, 30
"""Characters of a labeled product number."""
_UNSTATED_STOCK = 0.5
"""Confidence that a priced product is available if the page does not say so."""
_MIN_SIGNS = 2
"""Minimum signs of a product page without markup. Each sign occurs on other pages too."""


def extract_product(draft: ProductDraft, *, for_header: bool = False) -> dict[str, Any] | None:
    """Return the facts of the product, or None if the page is about another topic.

    For a header, brand and numbers are not searched in the visible text.
    """
    run_stages(OFFER_STAGES, draft)
    if not _is_product(draft):
        return None
    return run_stages(() if for_header else DETAIL_STAGES, draft).facts.as_object(ORDER)


def read_visible_availability(draft: ProductDraft) -> ProductDraft:
    """Read the availability from buy buttons and words for stock, which may contradict the markup."""
    stated, found = draft.facts.value("availability"), product_visible.find_availability(draft.body, draft.heading)
    if stated and found and found != stated:
        draft.facts.dispute("availability", found)
    draft.facts.add("availability", found, FactSource.VISIBLE, confidence=0.9)
    draft.is_sold_later = found == product_visible.UNCLEAR
    return draft


def _is_product(draft: ProductDraft) -> bool:
    """Return True if markup or enough signs say that the page is about one product."""
    if draft.has_markup:
        return True
    kind = next((content for name, content in draft.tags if name == "og:type"), "")
    signs = sum(
        (
            "product" in kind.lower().replace(":", ".").split("."),
            _SHOP_ADDRESS.search(draft.url) is not None,
            "price" in draft.facts and draft.shown.sure,
            "availability" in draft.facts,
        )
    )
    # Labeled values are searched only if they decide.
    return signs >= _MIN_SIGNS or (
        signs == _MIN_SIGNS - 1 and ("sku" in draft.labels or is_gtin(draft.labels.get("gtin", "")))
    )


def read_visible_price(draft: ProductDraft) -> ProductDraft:
    """Read the visible price; it replaces a marked-up price that is visibly old, and contradicts another one."""
    facts, shown, country = draft.facts, draft.shown, draft.country
    price, amount = facts.value("price"), shown.amount
    facts.note("price", shown=price in shown.signs)
    stated = _compare_currency(facts, shown.signs.get(price), country)
    if amount is None:
        return draft
    code, value = money.currency_code(amount.sign), money.simplify_number(amount.value)
    if price is not None and shown.sure:
        is_shown = price in shown.signs
        if is_shown and price > amount.value and price in shown.old:
            facts.replace("price", value, FactSource.VISIBLE, confidence=0.7, marked_up=price)
        elif not is_shown and (None in (stated, code) or stated == code):
            facts.dispute("price", value)
    facts.add("price", value, FactSource.VISIBLE, confidence=0.65 if shown.sure else 0.4)
    if amount.sign in money.ROUND_PRICE_MARKS:
        facts.add("currency", money.currency_code(amount.sign, country), FactSource.VISIBLE)
        return draft
    likely = None if code else money.currency_code(amount.sign, country)
    beside = amount.sign if code and code != amount.sign else None
    facts.add("currency", code or amount.sign, FactSource.VISIBLE, confidence=0.8, likely=likely, sign=beside)
    return draft


def _compare_currency(facts: Facts, sign: str | None, country: str) -> str | None:
    """Return the code of the stated currency; add the sign beside the price, which may stand for another currency."""
    currency, beside = facts.value("currency"), money.currency_code(sign)
    stated = money.currency_code(currency)
    likely = None if stated else money.currency_code(currency, country)
    facts.note("currency", sign=None if sign in money.ROUND_PRICE_MARKS else sign, likely=likely)
    if stated and beside and beside != stated:
        facts.dispute("currency", beside)
    return stated


def correct_sku(draft: ProductDraft) -> ProductDraft:
    """Remove the suffix of a variant from a product number if it is not in the URL."""
    facts, url = draft.facts, draft.url
    sku = str(facts.value("sku") or "")
    base, _, variant = sku.rpartition("-")
    if variant.isdecimal() and len(base) > _MIN_SKU and sku not in url and base in url:
        facts.replace("sku", base, FactSource.ADDRESS, confidence=0.8, marked_up=sku)
    return draft


def read_labels(draft: ProductDraft) -> ProductDraft:
    """Read numbers and the brand beside their labels."""
    facts, labels = draft.facts, draft.labels
    if is_gtin(labels.get("gtin", "")):
        facts.add("gtin", labels["gtin"], FactSource.VISIBLE, confidence=0.95)
    sku = labels.get("sku", "")
    is_number = _MIN_SKU <= len(sku) <= _MAX_SKU and any(map(str.isdigit, sku))
    if is_number:
        marked = facts.value("sku")
        if marked and sku != marked and str(marked) not in text_of(draft.body):
            # The marked-up number is internal to the shop; customers order by the visible one.
            facts.replace("sku", sku, FactSource.VISIBLE, confidence=0.8, marked_up=marked)
        facts.add("sku", sku, FactSource.VISIBLE, confidence=0.8)
    facts.add("brand", labels.get("brand"), FactSource.VISIBLE)
    facts.add("mpn", labels.get("mpn"), FactSource.VISIBLE)
    return draft


def read_url_number(draft: ProductDraft) -> ProductDraft:
    """Read the product number in the URL."""
    match = _QUERY.search(draft.url) or _ADDRESS.search(draft.url)
    draft.facts.add("sku", next(filter(None, match.groups())) if match else None, FactSource.ADDRESS)
    return draft


def use_page_title(draft: ProductDraft) -> ProductDraft:
    """Use title and image of the page for a product without them."""
    draft.facts.add("name", draft.title, FactSource.VISIBLE, confidence=0.9)
    draft.facts.add("image", draft.picture, FactSource.OPENGRAPH)
    return draft


def assume_stock(draft: ProductDraft) -> ProductDraft:
    """Count a product with a price as available if the page does not say so."""
    if "price" in draft.facts and not draft.is_sold_later:
        draft.facts.add("availability", "InStock", FactSource.SUM, confidence=_UNSTATED_STOCK)
    return draft


OFFER_STAGES: tuple[Stage[ProductDraft], ...] = (
    Stage(read_items, 0.40, "products.price"),
    Stage(read_tags, 0.05, "products.price"),
    Stage(read_script_data, 0.15, "products.price"),
    Stage(read_visible_price, 8.9, "products.price"),
    Stage(read_visible_availability, 0.0, "products.availability"),
)
"""Sources of the facts that decide if the page is about a product, best first."""

DETAIL_STAGES: tuple[Stage[ProductDraft], ...] = (
    Stage(correct_sku, 0.02, "products.sku"),
    Stage(read_labels, 1.3, "products.sku"),
    Stage(read_url_number, 0.04, "products.sku"),
    Stage(use_page_title, 0.0, "products.name"),
    Stage(assume_stock, 0.0, "products.availability"),
)
"""Sources of the other facts, best first. The header of a page does without them."""
