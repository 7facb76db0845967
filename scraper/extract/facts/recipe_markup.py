"""The facts of a recipe that a page states for machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scraper.extract.facts.durations import minutes
from scraper.extract.facts.items import Graph, cleaned, plain, typed
from scraper.extract.facts.model import Facts, Source
from scraper.extract.jsonld import Item, names

__all__ = ["add_items", "is_recipe"]

_RECIPES = frozenset({"recipe"})
_PARTS = ("itemListElement", "steps", "step")
_MAX_LINES = 500
_MAX_LINE = 5_000
_MAX_DEPTH = 6
_MAX_TITLE = 300
_BREAKS = re.compile(r"<\s*(?:br|/p|/li|/div|/h\d)\b[^>]{0,200}>|\r?\n", re.IGNORECASE)
_NOT_NUTRIENTS = ("@type", "@context", "@id", "type")
_TIMES = {"total_time": "totalTime", "prep_time": "prepTime", "cook_time": "cookTime"}


def is_recipe(item: Item) -> bool:
    """Whether an item is a recipe."""
    return typed(item, _RECIPES)


def add_items(facts: Facts, graph: Graph, source: Source) -> None:
    """What the items of one syntax say of the page's recipe; the fullest recipe first."""
    found = [item for item in graph.items() if is_recipe(item)]
    for item in sorted(found, key=lambda item: -_fullness(item)):
        _add(facts, graph, item, source)


def _fullness(item: Item) -> int:
    return sum(
        bool(item.get(name)) for name in ("name", "recipeIngredient", "ingredients", "recipeInstructions")
    )


def _add(facts: Facts, graph: Graph, item: Item, source: Source) -> None:
    title = graph.text(item, "name", "headline")
    facts.add("title", title[:_MAX_TITLE] if title else None, source)
    facts.add("ingredients", _lines(graph, item.get("recipeIngredient") or item.get("ingredients")), source)
    facts.add("instructions", _lines(graph, item.get("recipeInstructions")), source)
    for name, key in _TIMES.items():
        span = minutes(graph.text(item, key))
        # Zero is what plugins write for a time that nobody gave; a recipe without cooking says so otherwise.
        facts.add(name, span, source)
    facts.add("yields", graph.text(item, "recipeYield", "yield"), source)
    author = [cleaned(name) for name in names(graph.followed(item.get("author")))]
    facts.add("author", ", ".join(filter(None, author[:5])), source)
    facts.add("image", plain(item.get("image")), source)
    for rating in graph.objects(item, "aggregateRating")[:1]:
        facts.add("ratings", _rating(graph, rating), source, count=_count(graph, rating))
    for nutrition in graph.objects(item, "nutrition")[:1]:
        facts.add("nutrients", _nutrients(nutrition), source)


def _lines(graph: Graph, value: Any) -> list[str]:
    """The lines of a list in whatever shape: texts, steps, sections of steps, one text with breaks in it."""
    found: list[str] = []
    for text in _texts(graph, value, 0):
        parts = _BREAKS.split(text) if _BREAKS.search(text) else [text]
        found += [part for part in (cleaned(part[:_MAX_LINE]) for part in parts) if part]
        if len(found) > _MAX_LINES:
            break
    return found[:_MAX_LINES]


def _texts(graph: Graph, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > _MAX_DEPTH:
        return
    elif isinstance(value, list):
        for part in value:
            yield from _texts(graph, part, depth + 1)
    elif isinstance(value, dict):
        item = graph.followed(value)
        inner = next((item[name] for name in _PARTS if item.get(name)), None)
        if inner is not None:
            yield from _texts(graph, inner, depth + 1)
            return
        for name in ("text", "name", "description", "value", "@value", "item"):
            if item.get(name):
                yield from _texts(graph, item[name], depth + 1)
                return


def _rating(graph: Graph, item: Item) -> float | None:
    try:
        return float((graph.text(item, "ratingValue") or "").replace(",", "."))
    except ValueError:
        return None


def _count(graph: Graph, item: Item) -> int | None:
    count = graph.text(item, "ratingCount", "reviewCount") or ""
    return int(count) if count.isascii() and count.isdecimal() and len(count) < 12 else None


def _nutrients(item: Item) -> dict[str, str]:
    told = {name: plain(value) for name, value in item.items() if name not in _NOT_NUTRIENTS}
    return {name: value for name, value in told.items() if value}
