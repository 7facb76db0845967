"""Find the machine-readable items of the records of a list by their titles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scraper.facts.fields import structured_values
from scraper.facts.fields.field_names import FieldName
from scraper.facts.fields.model import MIN_RECORDS
from scraper.facts.schema_graph import iterate_objects
from scraper.html.page.page_tree import ScriptElement
from scraper.model import StructuredData
from scraper.text.sanitize import name_key

_MIN_STATED = 0.8
"""Minimum share of the records that have an item."""

NamedItems = Mapping[str, Mapping[str, Sequence[dict[str, Any]]]]
"""Objects of a page by syntax, then by the letters and digits of their names."""


def read_named_items(data: StructuredData, scripts: Iterable[ScriptElement] = ()) -> NamedItems:
    """Return all objects with a name: of JSON-LD, microdata and RDFa, then of fetched JSON and JSON in scripts."""
    sources: dict[str, Sequence[Any]] = {syntax: getattr(data, syntax) for syntax in structured_values.SYNTAXES}
    sources["fetched_json"] = structured_values.read_states(data, scripts)
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for syntax, values in sources.items():
        by_name: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for item in iterate_objects(values, structured_values.MAX_OBJECTS, structured_values.MAX_JSON_DEPTH):
            by_name[structured_values.own_name(item)].append(item)
        found[syntax] = by_name
    return found


class RecordItems:
    """Items of the records of one list."""

    def __init__(self, named: NamedItems, titles: Sequence[str | None]) -> None:
        """Find the items of the first syntax that has one for at least `_MIN_STATED` of the titles."""
        keys = [name_key(title or "") for title in titles]
        self.syntax = ""
        """Source of the items; empty if there are none."""
        self._items: list[dict[str, Any] | None] = []
        for syntax, by_name in named.items():
            items = [_choose(by_name.get(key, ())) if key and keys.count(key) == 1 else None for key in keys]
            if sum(map(bool, items)) >= max(MIN_RECORDS, _MIN_STATED * len(keys)):
                self.syntax, self._items = syntax, items
                break

    def read(self, field: FieldName) -> list[str | None]:
        """Return the value of a field in the item of each record."""
        found = (
            structured_values.find_structured_value(field, [(self.syntax, one)] if one else []) for one in self._items
        )
        return [one[0] if one else None for one in found]


def _choose(items: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the item with the most properties, such as a product instead of its place in a list.

    Return None if several different ones have as many.
    """
    best = max(items, key=len, default=None)
    return best if best is None or all(one == best for one in items if len(one) == len(best)) else None
