"""Query items of JSON-LD and microdata: case-insensitive names, resolved references."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scraper.facts.syntaxes.jsonld import JsonLdItem, type_names

_MAX_ITEMS = 5_000
OTHER_ITEM_PROPERTIES = frozenset(
    "isRelatedTo isSimilarTo isAccessoryOrSparePartFor isConsumableFor relatedLink mentions review "
    "itemReviewed itemListElement hasPart".split()
)
"""Properties whose values are other products or recipes."""
_MAX_DEPTH = 40
_HOLDERS = ("@value", "value", "name", "url", "contentUrl", "maxValue", "minValue", "@id")
_TAG = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,2000}|!--(?:(?!-->|<!--).)*+--)>", re.DOTALL)
_IN_A_WORD = re.compile(r"</?(?:a|b|em|i|font|mark|s|small|span|strong|sub|sup|u)(?:\s[^<>]{0,2000})?>", re.IGNORECASE)
_MAX_TEXT = 50_000
_WHOLE = re.compile(r"\d{1,3}(?:[.,' ]\d{3})+|\d{1,11}", re.ASCII)
_RATING = re.compile(r"\d{1,4}(?:[.,]\d{1,10})?", re.ASCII)
_NOTHING = frozenset({"undefined", "null", "nan", "n/a", "[object object]"})
"""Texts that scripts write for a missing value."""


class SchemaGraph:
    """Items of a page in one syntax."""

    def __init__(self, values: Iterable[JsonLdItem]) -> None:
        """Index the items of one syntax by id."""
        self._values = list(values)
        self._by_id: dict[str, JsonLdItem] = {}
        for item in self.items():
            name = item.get("@id")
            if isinstance(name, str) and len(item) > len(self._by_id.get(name, ())) and len(item) > 1:
                self._by_id[name] = item

    def items(self, *, without: frozenset[str] = frozenset()) -> Iterator[JsonLdItem]:
        """Yield up to `_MAX_ITEMS` objects, outer ones first, without the values of the properties `without`."""
        yield from iterate_objects(self._values, _MAX_ITEMS, _MAX_DEPTH, without)

    def resolve(self, value: Any) -> Any:
        """Resolve a reference; return other values unchanged."""
        if isinstance(value, dict) and set(value) <= {"@id", "@type"}:
            return self._by_id.get(str(value.get("@id")), value)
        return value

    def objects(self, item: JsonLdItem, *names: str) -> list[JsonLdItem]:
        """Return the objects of the first of these properties that has any."""
        for name in names:
            listed = property_value(item, name)
            parts = [self.resolve(part) for part in (listed if isinstance(listed, list) else [listed])]
            found = [part for part in parts if isinstance(part, dict)]
            if found:
                return found
        return []

    def text(self, item: JsonLdItem, *names: str) -> str | None:
        """Return the first text or number in these properties as clean text, or None."""
        texts = (plain_text(self.resolve(property_value(item, name))) for name in names)
        return next(filter(None, texts), None)

    def picture(self, item: JsonLdItem) -> str | None:
        """Return the URL of the first image of an item, or None; `data:` URLs are ignored."""
        value = property_value(item, "image")
        first = self.resolve(next(iter(value), None) if isinstance(value, list) else value)
        if isinstance(first, dict):
            first = self.text(first, "contentUrl", "url", "@id")
        address = plain_text(first)
        return None if address is None or address.startswith("data:") else address


def iterate_objects(
    values: Sequence[Any], limit: int, max_depth: int, without: frozenset[str] = frozenset()
) -> Iterator[dict[str, Any]]:
    """Yield at most `limit` objects in some values, outer ones first, without the values of properties `without`."""
    waiting: list[tuple[Any, int]] = [(value, 0) for value in reversed(values)]
    count = 0
    while waiting and count < limit:
        value, depth = waiting.pop()
        if isinstance(value, dict) and depth <= max_depth:
            count += 1
            yield value
            value = [part for name, part in value.items() if name not in without]
        if isinstance(value, list) and depth <= max_depth:
            waiting += [(part, depth + 1) for part in reversed(value) if isinstance(part, dict | list)]


def property_value(item: JsonLdItem, name: str) -> Any:
    """Return the value of a property, ignoring case and vocabulary (`schema:name`)."""
    if name in item:
        return item[name]
    lowered = name.lower()
    return next((value for other, value in item.items() if local_name(other).lower() == lowered), None)


def local_name(name: str) -> str:
    """Return the local name: `InStock` of `schema:InStock` or `https://schema.org/InStock`."""
    return name[max(map(name.rfind, "/#:")) + 1 :].strip()


def has_type(item: JsonLdItem, kinds: frozenset[str]) -> bool:
    """Return True if an item has one of these types, given in lower case."""
    return any(local_name(name).lower() in kinds for name in type_names(item))


def plain_text(value: Any, depth: int = 0) -> str | None:
    """Return the first text or number in a value as clean text, or None."""
    if isinstance(value, str):
        text = clean_text(value)
        return text if text and text.lower() not in _NOTHING else None
    if isinstance(value, bool) or depth > _MAX_DEPTH:
        return None
    if isinstance(value, int | float):
        return f"{value:.10g}" if isinstance(value, float) and value % 1 else f"{value:.0f}"
    if isinstance(value, list):
        return next(filter(None, (plain_text(part, depth + 1) for part in value)), None)
    if isinstance(value, dict):
        parts = (value[name] for name in _HOLDERS if value.get(name) not in (None, "", []))
        return next(filter(None, (plain_text(part, depth + 1) for part in parts)), None)
    return None


def clean_text(text: str) -> str:
    """Return one line of at most `_MAX_TEXT` characters without tags; decode entities, also double-escaped ones."""
    text = text[:_MAX_TEXT]
    if "&" in text:
        text = html.unescape(html.unescape(text))
    if "<" in text:
        text = _TAG.sub(" ", _IN_A_WORD.sub("", text))
    return " ".join(text.split())


def is_same_name(one: str, other: str) -> bool:
    """Return True if one folded name contains the other."""
    return bool(one and other) and (one in other or other in one)


def parse_count(text: str | None) -> int | None:
    """Parse a count with or without thousands separators; return None for other texts."""
    number = _WHOLE.fullmatch((text or "").strip())
    return int("".join(filter(str.isdecimal, number.group()))) if number else None


def parse_rating(text: str | None) -> float | None:
    """Parse the value of a rating such as `4,5` or `4.667/5`; return None for other texts."""
    number = _RATING.match((text or "").strip())
    return round(float(number.group().replace(",", ".")), 4) if number else None
