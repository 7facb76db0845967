"""What a page says of its recipe, each fact with where it stands; nothing rather than a guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scraper.extract.dom.xpath import Element
from scraper.extract.facts import recipe_markup, recipe_times, recipe_visible
from scraper.extract.facts.model import Facts, FactSource
from scraper.extract.facts.schema_graph import SchemaGraph, folded

ORDER = (
    "title", "ingredients", "instructions", "total_time", "prep_time", "cook_time", "yields", "author",
    "image", "ratings", "nutrients",
)  # fmt: skip
_OF_ONE_PART = 0.6
_LEAST_INGREDIENTS = 2
_LEAST_AMOUNTS = 0.3


def read(
    graphs: Mapping[FactSource, SchemaGraph],
    body: Element,
    title: str,
    *,
    author: str | None = None,
    picture: str | None = None,
) -> dict[str, Any] | None:
    """The facts of the recipe; None where the page holds none.

    `author`, `picture`: those of the page, which are the recipe's where it names none of its own.
    """
    facts = Facts()
    for source, graph in graphs.items():
        recipe_markup.add_items(facts, graph, source, folded(title))
    is_told = any(recipe_markup.own(graph, folded(title)) for graph in graphs.values())
    if "ingredients" not in facts:
        facts.add("ingredients", recipe_visible.ingredients(body), FactSource.VISIBLE)
    if not is_told and not _looks_like_food(facts.value("ingredients") or []):
        return None
    if "instructions" not in facts:
        facts.add("instructions", recipe_visible.instructions(body), FactSource.VISIBLE)
    if not is_told and "instructions" not in facts:
        return None
    facts.add("title", title, FactSource.VISIBLE, confidence=0.9)
    facts.add("author", author, FactSource.VISIBLE)
    facts.add("image", picture, FactSource.OPENGRAPH)
    if "yields" not in facts:
        facts.add("yields", recipe_visible.yields(body), FactSource.VISIBLE)
    _add_times(facts, body)
    return facts.as_object(ORDER)


def _add_times(facts: Facts, body: Element) -> None:
    """The times that the page shows, where none is marked up, and the sum of those there are."""
    if not facts.value("total_time"):
        facts.forget("total_time")
        for name, span in recipe_times.seen(body).items():
            facts.add(name, span, FactSource.VISIBLE)
    parts = [facts.value("prep_time"), facts.value("cook_time")]
    if None not in parts:
        facts.add("total_time", sum(parts), FactSource.SUM)
    elif any(parts):  # of a dish that is not cooked, or that takes no work
        facts.add("total_time", sum(filter(None, parts)), FactSource.SUM, confidence=_OF_ONE_PART)
    for name in ("prep_time", "cook_time", "total_time"):
        if facts.value(name) == 0:  # what plugins write for a time that nobody gave
            facts.forget(name)


def _looks_like_food(lines: list[str]) -> bool:
    """Whether a list is one of amounts: categories and what a product is made of have none."""
    with_amounts = sum(any(map(str.isnumeric, line)) for line in lines)
    return len(lines) >= _LEAST_INGREDIENTS and with_amounts >= _LEAST_AMOUNTS * len(lines)
