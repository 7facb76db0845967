"""Extract product facts from script data: state trees, tag managers, fetched JSON."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scraper.facts import money
from scraper.facts.model import FactSource
from scraper.facts.product_markup import ProductDraft, add_price, is_gtin, resolve_price
from scraper.facts.product_visible import normalize_availability
from scraper.facts.schema_graph import is_same_name, iterate_objects, plain_text
from scraper.html.page.page_tree import ScriptElement
from scraper.text.sanitize import name_key

_MAX_CHARACTERS = 3_000_000
"""Characters of all scripts. State trees of large shops have one or two million."""
_MAX_OBJECTS = 60
_MAX_TRIES = 120
"""Places of one script that are parsed as an object."""

_QUOTED = re.compile(
    r"(?:(?P<row>__next_f\.push\(\[\s*\d\s*,)|JSON\.parse\()\s*"
    r"(?:\"(?P<text>(?:[^\"\\]|\\.)*+)\"|'(?P<single>(?:[^'\\]|\\.)*+)')",
    re.DOTALL,
)
"""Text that code parses as JSON, or pushes as a piece of the rows of an app router."""
_BARE_QUOTE = re.compile(r"(?<!\\)((?:\\\\)*)\"")
_OPENING = re.compile(r"(?:[\w$\]'\"]\s*=|dataLayer\s*\.\s*push\s*\(|\.push\s*\(|\(|:)\s*+(?=\{\s*[\"'\w])", re.ASCII)


def read_scripts(scripts: Iterable[ScriptElement], *, with_price: bool = True) -> list[Any]:
    """Return the objects in scripts, without JSON-LD; only of scripts that mention a price, if `with_price`."""
    found: list[Any] = []
    rows = ""
    left = _MAX_CHARACTERS
    for script in scripts:
        text = script.text
        is_row = "__next_f" in text
        has_price = is_row or not with_price or any(word in text.lower() for word in ("price", "amount"))
        if "ld+json" in script.type or len(text) > left or not has_price:
            continue
        left -= len(text)
        found += _json(text) if "json" in script.type else [] if is_row else _objects(text)
        for match in _QUOTED.finditer(text):
            # The content is empty if the string literal has escapes that JSON lacks.
            literal = match["text"] or _BARE_QUOTE.sub(r"\1\"", match["single"] or "").replace("\\'", "'")
            content = next(iter(_json(f'"{literal}"'.replace("\\x", "\\u00"))), "")
            rows += content if match["row"] else ""
            found += [] if match["row"] else _json(content)
    for row in rows.split("\n"):
        found += _json(row.partition(":")[2])
    return found


def _json(text: str) -> list[Any]:
    try:
        return [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        return []


def _objects(text: str) -> list[Any]:
    decoder = json.JSONDecoder(strict=False)
    found: list[Any] = []
    end = tries = 0
    for match in _OPENING.finditer(text):
        start = match.end()
        if start < end:
            continue
        if len(found) == _MAX_OBJECTS or tries == _MAX_TRIES:
            break
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if value:
            found.append(value)
    return found


MAX_OBJECTS = 50_000
"""Objects of one source that are searched for the product."""
_MAX_DEPTH = 30
_MIN_TITLE = 6
"""Characters of a title that is long enough to identify a product."""

_KEYS: Mapping[str, Sequence[str]] = money.PRODUCT_NAMES["keys"]
_MAX_WORDS = 60
_OF_THEMES = frozenset({"variants", "compare_at_price", "price_min"})
"""Keys of products in Shopify themes, whose amounts are in cents."""


def read_script_data(draft: ProductDraft) -> ProductDraft:
    """Read the objects in scripts, and the JSON that the page fetched."""
    title = name_key(draft.title)
    for source, values in draft.states.items() if len(title) >= _MIN_TITLE else ():
        for item in iterate_objects(values, MAX_OBJECTS, _MAX_DEPTH):
            lowered = {str(name).lower(): value for name, value in item.items()}
            texts = (
                value for name in _KEYS["names"] if isinstance(value := lowered.get(name), str) and len(value) < 500
            )
            is_titled = any(len(one) >= _MIN_TITLE and is_same_name(one, title) for one in map(name_key, texts))
            if is_titled and any(name in lowered for name in _KEYS["price"]):
                _add_object(draft, lowered, source)
    # None of the facts so far is from visible text.
    draft.has_markup = any(name in draft.facts for name in ("price", "availability", "sku"))
    return draft


def _add_object(draft: ProductDraft, item: Mapping[str, Any], source: FactSource) -> None:
    facts = draft.facts
    values = {name: _first_text(item, keys) for name, keys in _KEYS.items()}
    stated, parts = _price(item)
    price = stated and resolve_price(stated, draft)
    if price:
        may_be_cents = "price" not in facts and price.value == int(price.value) and price.value not in draft.shown.signs
        is_in_cents = may_be_cents and (price.value / 100 in draft.shown.signs or item.keys() >= _OF_THEMES)
        add_price(facts, source, money.Amount(price.value / 100) if is_in_cents else price)
        currency = values["currency"] or _first_text(parts, _KEYS["currency"])
        facts.add("currency", money.currency_code(currency, draft.country), source)
    facts.add("availability", normalize_availability(values["availability"]), source)
    for name in ("brand", "sku", "mpn"):
        facts.add(name, values[name], source)
    if is_gtin(values["gtin"] or ""):
        facts.add("gtin", values["gtin"], source)


def _first_text(item: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    for key in keys:
        value = item.get(key)
        text = str(value) if isinstance(value, bool) else plain_text(value)
        if text and len(text) <= _MAX_WORDS:
            return text
    return None


def _price(item: Mapping[str, Any]) -> tuple[money.Amount | None, Mapping[str, Any]]:
    """Return the amount and the nested object that holds it, if any."""
    for key in _KEYS["price"]:
        value = item.get(key)
        parts: dict[str, Any] = {}
        if isinstance(value, dict):
            parts = {str(name).lower(): part for name, part in value.items()}
            value = next((parts[part] for part in _KEYS["price_parts"] if part in parts), None)
        text = plain_text(value) if isinstance(value, str | int | float) else None
        amount = money.read_stated(text) if text else None
        if amount and amount.value:
            return amount, parts
    return None, {}
