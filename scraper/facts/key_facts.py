"""Read the facts of a product or recipe that belong in the header of a page: price, yields, times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from browsers.model import Snapshot
from scraper.facts.metadata.metadata import Metadata
from scraper.html.dom.xpath import attribute_selector
from scraper.html.page.page_tree import PageTree

_MIN_CONFIDENCE = 0.6
"""Minimum confidence of a fact in the header of a page."""

_ITEM = r"(?:Product|ProductGroup|IndividualProduct|Recipe)\b"
_JSON_TYPE = re.compile(rf"[\"'](?:https?://schema\.org/)?{_ITEM}")
_ITEM_TYPE = re.compile(rf"schema\.org/{_ITEM}", re.IGNORECASE)
_RECIPE_TYPE = re.compile(r"schema\.org/Recipe\b|[\"']Recipe[\"']", re.IGNORECASE)
_RECIPE_CLASSES = ("ingredi", "zutat", "ingrédient")
_PRODUCT_CLASS = re.compile(r"(?:^|[\s_-])product[-_]+(?:title|name|single|details?|info|main|summary)", re.MULTILINE)
_PRICE_CLASS = re.compile(r"(?:^|[\s_-])price", re.MULTILINE)
_OTHER_TYPES = frozenset({"article", "collection", "forum", "listing"})
_PRODUCT_TAGS = ("product:price:amount", "og:price:amount", "product:sale_price:amount")
_ITEM_TYPES = attribute_selector("itemtype")
_MAX_ITEMS = 12
"""Items of microdata. With more, the page is a list."""

_PRODUCT = ("price", "currency", "availability", "rating")
_RECIPE = ("yields", "total_time", "prep_time", "cook_time", "ratings")

PageFacts = tuple[tuple[str, str | float], ...]
"""Names and values of facts, such as `price` and 12.5."""


def read(snapshot: Snapshot, page: PageTree, about: Metadata, page_type: str | None) -> PageFacts:
    """Return names and values of facts, if markup, type or classes suggest a product or recipe; else nothing.

    If the page has facts of a recipe, those of a product are left out. `about` is the metadata of the page.
    """
    scripts = page.head.jsonld_scripts
    in_scripts = any(("Product" in script or "Recipe" in script) and _JSON_TYPE.search(script) for script in scripts)
    item_types = [element.get("itemtype") or "" for element in _ITEM_TYPES(page.body)]
    items = sum(_ITEM_TYPE.search(item_type) is not None for item_type in item_types)
    in_tags = any(name in _PRODUCT_TAGS for name, _ in page.head.metas)
    if not (in_scripts or in_tags or 0 < items <= _MAX_ITEMS or (not items and _is_suggested(page, page_type))):
        return ()
    # Most pages state no such facts: only those that do import these modules.
    from scraper.facts import structured

    try:
        product, recipe = _read(snapshot, page, about, scripts, item_types, with_microdata=not in_scripts and items > 0)
    except structured.PAGE_ERRORS:
        return ()
    return (*_select(recipe or {}, _RECIPE), *(() if recipe else _select(product or {}, _PRODUCT)))


def _is_suggested(page: PageTree, page_type: str | None) -> bool:
    """Return True if the type or the classes of a page suggest a product or a recipe."""
    classes = page.classes
    if page_type == "product" or _has_recipe_class(classes):
        return True
    # Most pages lack the words, and the test for a word costs less than the regular expression.
    has_words = page_type not in _OTHER_TYPES and "product" in classes and "price" in classes
    return has_words and _PRODUCT_CLASS.search(classes) is not None and _PRICE_CLASS.search(classes) is not None


def _read(
    snapshot: Snapshot,
    page: PageTree,
    about: Metadata,
    scripts: list[str],
    item_types: list[str],
    *,
    with_microdata: bool,
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    from scraper.facts import structured
    from scraper.facts.model import FactSource
    from scraper.facts.schema_graph import SchemaGraph
    from scraper.facts.syntaxes import jsonld, opengraph
    from scraper.html.dom import parsing

    bounder = structured.JsonBounder(page.base)
    graphs = {FactSource.JSON_LD: SchemaGraph(bounder.bound_objects(jsonld.read(scripts).values))}
    # The tree of the page lacks `meta` elements, which hold the values of microdata.
    root = parsing.parse_html(snapshot.html, flatten=False).root if with_microdata else None
    if root is not None:
        from scraper.facts.syntaxes import microdata

        graphs[FactSource.MICRODATA] = SchemaGraph(bounder.bound_objects(microdata.read(root, page.base)))
    tags = opengraph.select_properties(page.head.metas)
    names_recipe = any(map(_RECIPE_TYPE.search, (*scripts, *item_types)))
    with_recipe = names_recipe or _has_recipe_class(page.classes)
    return structured.read_facts(page, about, graphs, tags, [], page.base, with_recipe=with_recipe, for_header=True)


def _has_recipe_class(classes: str) -> bool:
    lowered = classes.lower()
    return any(word in lowered for word in _RECIPE_CLASSES)


def _select(facts: Mapping[str, Mapping[str, Any]], names: tuple[str, ...]) -> PageFacts:
    found: dict[str, str | float] = {}
    for name in names:
        fact = facts.get(name, {})
        if fact and fact["confidence"] >= _MIN_CONFIDENCE and isinstance(fact["value"], str | int | float):
            found["rating" if name == "ratings" else name] = fact["value"]
            if fact.get("count"):
                found["rating_count"] = fact["count"]
    if "price" not in found:
        found.pop("currency", None)
    return tuple(found.items())
