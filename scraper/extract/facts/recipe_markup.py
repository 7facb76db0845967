"""The facts of a recipe that a page states for machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scraper.extract.facts.durations import minutes
from scraper.extract.facts.model import Facts, FactSource
from scraper.extract.facts.schema_graph import (
    ELSEWHERE,
    SchemaGraph,
    cleaned,
    folded,
    held,
    plain,
    rating,
    same_thing,
    typed,
    whole_number,
)
from scraper.extract.syntaxes.jsonld import Item, names

_RECIPES = frozenset({"recipe"})
_PARTS = ("itemListElement", "steps", "step")
_MOST_NAMES, _TOLD = 2, 2
"""More recipes that name more than themselves, none of them called as the page is: a list of them."""
_MAX_LINES = 500
_MAX_LINE = 5_000
_MAX_DEPTH = 6
_MAX_TITLE = 300
_BREAKS = re.compile(r"<\s*(?:br|/p|/li|/div|/h\d)\b[^>]{0,200}>|\r?\n", re.IGNORECASE)
_NOT_NUTRIENTS = ("@type", "@context", "@id", "type")
_TIMES = {"total_time": "totalTime", "prep_time": "prepTime", "cook_time": "cookTime"}


def own(graph: SchemaGraph, title: str) -> list[Item]:
    """The items of the page's recipe: called as the page is, the fullest first; none of a list of others."""
    found = [item for item in graph.items(without=ELSEWHERE) if typed(item, _RECIPES)]
    found = found or [item for item in graph.items() if typed(item, _RECIPES)]
    found.sort(key=lambda item: (not _is_titled(graph, item, title), -_fullness(item)))
    if not found or _is_titled(graph, found[0], title):
        return found
    told = [item for item in found if _fullness(item) >= _TOLD] or found
    return found if len({folded(graph.text(item, "name")) for item in told}) <= _MOST_NAMES else []


def add_items(facts: Facts, graph: SchemaGraph, source: FactSource, title: str) -> None:
    """What the items of one syntax say of the page's recipe."""
    found = own(graph, title)
    for item in found:
        # Another recipe beside it says nothing of this one.
        name = folded(graph.text(item, "name"))
        if not name or same_thing(name, folded(graph.text(found[0], "name"))):
            _add(facts, graph, item, source)


def _is_titled(graph: SchemaGraph, item: Item, title: str) -> bool:
    return same_thing(folded(graph.text(item, "name")), title)


def _fullness(item: Item) -> int:
    return sum(
        bool(held(item, name)) for name in ("name", "recipeIngredient", "ingredients", "recipeInstructions")
    )


def _add(facts: Facts, graph: SchemaGraph, item: Item, source: FactSource) -> None:
    title = graph.text(item, "name", "headline")
    facts.add("title", title[:_MAX_TITLE] if title else None, source)
    ingredients = held(item, "recipeIngredient") or held(item, "ingredients")
    facts.add("ingredients", _lines(graph, ingredients), source)
    facts.add("instructions", _lines(graph, held(item, "recipeInstructions")), source)
    for name, key in _TIMES.items():
        facts.add(name, minutes(graph.text(item, key)), source)
    facts.add("yields", graph.text(item, "recipeYield", "yield"), source)
    author = [cleaned(name) for name in names(graph.followed(held(item, "author")))]
    people = [name for name in author if name and "://" not in name]
    facts.add("author", ", ".join(people[:5]), source)
    facts.add("image", graph.picture(item), source)
    for stated in graph.objects(item, "aggregateRating")[:1]:
        count = whole_number(graph.text(stated, "ratingCount", "reviewCount"))
        facts.add("ratings", rating(graph.text(stated, "ratingValue")), source, count=count)
    for nutrition in graph.objects(item, "nutrition")[:1]:
        facts.add("nutrients", _nutrients(nutrition), source)


def _lines(graph: SchemaGraph, value: Any) -> list[str]:
    """The lines of a list in whatever shape: texts, steps, sections of steps, one text with breaks in it."""
    found: list[str] = []
    for text in _texts(graph, value, 0):
        parts = _BREAKS.split(text) if _BREAKS.search(text) else [text]
        found += [part for part in (cleaned(part[:_MAX_LINE]) for part in parts) if part]
        if len(found) > _MAX_LINES:
            break
    return found[:_MAX_LINES]


def _texts(graph: SchemaGraph, value: Any, depth: int) -> Iterator[str]:
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


def _nutrients(item: Item) -> dict[str, str]:
    told = {name: plain(value) for name, value in item.items() if name not in _NOT_NUTRIENTS}
    return {name: value for name, value in told.items() if value}
