"""Find values of fields in the structured data of a page, in items that describe the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scraper.extract.fields.field_names import FieldName
from scraper.extract.fields.text_leaves import MAX_VALUE, letters_and_digits
from scraper.model import StructuredData

CONFIDENCE = 0.9
_MIN_MATCH = 0.7
_MIN_NAME = 4
_MAX_DEPTH = 4
_SYNTAXES = ("json_ld", "microdata", "rdfa")
_NAMES = ("name", "headline", "title")


def read_items(data: StructuredData, titles: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the items whose name equals or overlaps with a title of the page, each with its syntax."""
    known = [title for title in map(letters_and_digits, titles) if len(title) >= _MIN_NAME]
    found: list[tuple[str, dict[str, Any]]] = []
    for syntax in _SYNTAXES:
        for item in _walk(getattr(data, syntax), 0):
            own = next((letters_and_digits(value) for name in _NAMES if isinstance(value := item.get(name), str)), "")
            if len(own) >= _MIN_NAME and any(own in title or title in own for title in known):
                found.append((syntax, item))
    return found


def find_structured_value(field: FieldName, items: Sequence[tuple[str, dict[str, Any]]]) -> tuple[str, str] | None:
    """Return the value and the syntax of the property whose name is most similar to a field."""
    best: tuple[float, str, str] | None = None
    for syntax, item in items:
        for name, value in _properties(item):
            match = field.match(name)
            text = _as_text(value)
            if match >= _MIN_MATCH and text and (best is None or match > best[0]):
                best = (match, text, syntax)
    return None if best is None else (best[1], best[2])


def _walk(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Yield the objects of lists and `@graph`, but not the objects inside an item."""
    if isinstance(value, list | tuple) and depth < _MAX_DEPTH:
        for part in value:
            yield from _walk(part, depth + 1)
    elif isinstance(value, dict):
        yield value
        yield from _walk(value.get("@graph", ()), depth + 1)


def _properties(item: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the properties of an item and of the objects in it, such as offers or addresses."""
    for name, value in item.items():
        if name.startswith("@"):
            continue
        inner = value[0] if isinstance(value, list) and len(value) == 1 else value
        yield name, inner
        if isinstance(inner, dict):
            for part, detail in inner.items():
                if not part.startswith("@") and part not in _NAMES and not isinstance(detail, dict | list):
                    yield part, detail


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        value = next((value[name] for name in _NAMES if isinstance(value.get(name), str)), "")
    if isinstance(value, list):
        return ", ".join(filter(None, map(_as_text, value[:50])))[:MAX_VALUE]
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split())[:MAX_VALUE] if is_plain else ""
