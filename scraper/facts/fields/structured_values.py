"""Find the values of fields in the data of a page: items and JSON objects that are named like the page."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scraper.facts.fields.field_names import FieldName, rate_format
from scraper.facts.fields.model import MIN_RECORDS, Evidence
from scraper.facts.fields.text_leaves import MAX_VALUE
from scraper.facts.product_js_state import read_scripts
from scraper.facts.schema_graph import iterate_objects
from scraper.html.page.page_tree import ScriptElement
from scraper.model import StructuredData
from scraper.text.sanitize import name_key

CONFIDENCES = {"json_ld": 0.9, "microdata": 0.9, "fetched_json": 0.7}
"""Confidence of each source. That of `fetched_json` is a guess: no page of the benchmark has such data."""
UNMARKED_SOURCES = frozenset({"address", "sum", "visible"})
"""Sources of facts that are not machine-readable data."""
_MIN_MATCH = 0.7
_MIN_LONG_MATCH = 0.9
"""Minimum similarity to the name of a fact that consists of several words."""
_CHECKED_KINDS = frozenset({"email", "money", "number", "phone"})
"""Formats that a value must have: a price is not a currency."""
_MIN_NAME = 4
_MAX_DEPTH = 4
_MAX_GRAPH_DEPTH = 10
"""Levels of lists and `@graph` in each other."""
SYNTAXES = ("json_ld", "microdata")
_NAMES = ("name", "headline", "title")
_PLACE = (("streetAddress", "postOfficeBoxNumber"), ("postalCode", "addressLocality"))
_REGIONS = ("addressRegion", "addressCountry")
_AMOUNTS = ("value", "@value", "price", "median")
_LIMITS = ("minValue", "maxValue")
MAX_OBJECTS, MAX_JSON_DEPTH = 20_000, 20
"""Objects of all fetched JSON and JSON in scripts, and their depth."""


def read_items(
    data: StructuredData, titles: Sequence[str], scripts: Iterable[ScriptElement] = ()
) -> list[tuple[str, dict[str, Any]]]:
    """Return the items whose name is in a title of the page or contains it, with their sources.

    JSON that the page fetched, and JSON in scripts, come last; the name of their objects must equal a title.
    """
    known = [title for title in map(name_key, titles) if len(title) >= _MIN_NAME]
    found: list[tuple[str, dict[str, Any]]] = []
    for syntax in SYNTAXES:
        for item in _iterate_graphs(getattr(data, syntax)):
            own = own_name(item)
            if len(own) >= _MIN_NAME and any(own in title or title in own for title in known):
                found.append((syntax, item))
    objects = iterate_objects(read_states(data, scripts), MAX_OBJECTS, MAX_JSON_DEPTH)
    return found + [("fetched_json", item) for item in objects if own_name(item) in known]


def _iterate_graphs(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects of lists and of `@graph`, but not those in other properties."""
    if isinstance(value, list | tuple) and depth < _MAX_GRAPH_DEPTH:
        for part in value:
            yield from _iterate_graphs(part, depth + 1)
    elif isinstance(value, dict):
        yield value
        if depth < _MAX_GRAPH_DEPTH:
            yield from _iterate_graphs(value.get("@graph"), depth + 1)


def read_states(data: StructuredData, scripts: Iterable[ScriptElement]) -> list[Any]:
    """Return the values of JSON that the page fetched, and of objects in scripts."""
    return [response.get("data") for response in data.xhr] + read_scripts(scripts, with_price=False)


def own_name(item: dict[str, Any]) -> str:
    """Return the letters and digits of the name of an object, or an empty string."""
    return next((name_key(value) for name in _NAMES if isinstance(value := item.get(name), str)), "")


def find_fact(field: FieldName, data: StructuredData, stated: str | None) -> tuple[str, Evidence] | None:
    """Return the value of a field in the facts of the product or recipe of the page, with its evidence; None if absent.

    `stated` is the value of the field in the data of the page. It is returned if it is the same as that of the fact,
    in its own form. Times are taken from the facts only if nothing is stated, because facts have minutes.
    """
    best: tuple[float, str, Evidence] | None = None
    for name, fact in [*(data.product or {}).items(), *(data.recipe or {}).items()]:
        is_time = name.endswith("_time")
        match = field.match(name)
        text = _fact_text(fact["value"]) + " min" * is_time + (f"/{fact['best']}" if "best" in fact else "")
        if text and match >= (_MIN_LONG_MATCH if "_" in name else _MIN_MATCH) and (best is None or match > best[0]):
            is_kept = stated is not None and (is_time or _same(stated, text))
            best = (match, text if not is_kept else str(stated), Evidence(fact["source"], fact["confidence"]))
    return None if best is None else best[1:]


def _fact_text(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.2f}"
    return _as_text(value)


def _same(one: str, other: str) -> bool:
    """Return True if two values have the same letters and digits, or are the same number."""
    try:
        return float(one) == float(other)
    except ValueError:
        return name_key(one) == name_key(other)


def find_structured_value(field: FieldName, items: Sequence[tuple[str, dict[str, Any]]]) -> tuple[str, str] | None:
    """Return the value and the source of the property whose name is most similar to a field, or None."""
    best: tuple[float, str, str] | None = None
    for syntax, item in items:
        for name, value in _properties(item):
            match = field.match(name)
            text = _as_text(value)
            is_fitting = field.kind not in _CHECKED_KINDS or rate_format(field.kind, text) >= 0
            if match >= _MIN_MATCH and text and is_fitting and (best is None or match > best[0]):
                best = (match, text, syntax)
    return None if best is None else (best[1], best[2])


def _properties(item: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in item.items():
        if name.startswith("@"):
            continue
        inner = value[0] if isinstance(value, list) and len(value) == 1 else value
        yield name, inner
        if isinstance(inner, dict):
            for part, detail in inner.items():
                if not part.startswith("@") and part not in _NAMES and not isinstance(detail, dict | list):
                    best = inner.get("bestRating") if part == "ratingValue" else None
                    yield part, detail if str(best) in ("None", "5") else f"{detail}/{best}"


def _as_text(value: Any, depth: int = 0) -> str:
    if isinstance(value, dict):
        return _text_of_item(value, depth + 1) if depth < _MAX_DEPTH else ""
    if isinstance(value, list):
        is_hours = any(isinstance(part, dict) and "opens" in part for part in value)
        texts = filter(None, (_as_text(one, depth + 1) for one in value[:50]))
        return ("; " if is_hours else ", ").join(texts)[:MAX_VALUE]
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split())[:MAX_VALUE] if is_plain else ""


def _text_of_item(item: dict[str, Any], depth: int) -> str:
    """Return the name of an item, else an address, opening hours, an amount or a range as text."""
    part = {name: _as_text(value, depth) for name, value in item.items() if not name.startswith("@")}
    if named := next((part[name] for name in _NAMES if part.get(name)), ""):
        return named
    if "opens" in part:
        return f"{part.get('dayOfWeek', '')} {part['opens']}-{part.get('closes', '')}".strip()
    street, town = (" ".join(filter(None, map(part.get, names))) for names in _PLACE)
    if street or part.get("postalCode"):
        return ", ".join(filter(None, (street, town, *map(part.get, _REGIONS))))
    amount = next(filter(None, map(part.get, _AMOUNTS)), "-".join(filter(None, map(part.get, _LIMITS))))
    unit = part.get("unitText") or part.get("unitCode")
    amount = " ".join(filter(None, (part.get("currency") or part.get("priceCurrency"), amount, unit and f"/ {unit}")))
    return amount or next((part[name] for name in ("address", "addressLocality", *_REGIONS) if part.get(name)), "")


_MIN_STATED = 0.8
"""Minimum share of the records that have an item."""

NamedItems = Mapping[str, Mapping[str, Sequence[dict[str, Any]]]]
"""Objects of a page by syntax, then by the letters and digits of their names."""


def read_named_items(data: StructuredData, scripts: Iterable[ScriptElement] = ()) -> NamedItems:
    """Return all objects with a name: of JSON-LD and microdata, then of fetched JSON and JSON in scripts."""
    sources: dict[str, Sequence[Any]] = {syntax: getattr(data, syntax) for syntax in SYNTAXES}
    sources["fetched_json"] = read_states(data, scripts)
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for syntax, values in sources.items():
        by_name: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for item in iterate_objects(values, MAX_OBJECTS, MAX_JSON_DEPTH):
            by_name[own_name(item)].append(item)
        found[syntax] = by_name
    return found


def find_record_items(named: NamedItems, titles: Sequence[str | None]) -> tuple[str, Sequence[dict[str, Any] | None]]:
    """Return the first syntax that has an item for at least `_MIN_STATED` of the titles, and the items; "" if none."""
    keys = [name_key(title or "") for title in titles]
    for syntax, by_name in named.items():
        items = [_choose(by_name.get(key, ())) if key and keys.count(key) == 1 else None for key in keys]
        if sum(map(bool, items)) >= max(MIN_RECORDS, _MIN_STATED * len(keys)):
            return syntax, items
    return "", []


def _choose(items: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the item with the most properties, such as a product instead of its place in a list."""
    best = max(items, key=len, default=None)
    return best if best is None or all(one == best for one in items if len(one) == len(best)) else None
