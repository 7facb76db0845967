"""One view on items of JSON-LD, microdata and RDFa: types without regard to case, references followed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

from scraper.extract.syntaxes.jsonld import Item, types

MAX_ITEMS = 5_000
ELSEWHERE = frozenset(
    "isRelatedTo isSimilarTo isAccessoryOrSparePartFor isConsumableFor relatedLink mentions review "
    "itemReviewed itemListElement hasPart".split()
)
"""What stands under these is another product or recipe."""
_MAX_DEPTH = 40
_HOLDERS = ("@value", "value", "name", "url", "contentUrl", "@id")
_TAG = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,2000}|!--(?:(?!-->|<!--).)*+--)>", re.DOTALL)
_IN_A_WORD = re.compile(
    r"</?(?:a|b|em|i|font|mark|s|small|span|strong|sub|sup|u)(?:\s[^<>]{0,2000})?>", re.IGNORECASE
)
_MAX_TEXT = 50_000
_NOT_LETTERS = re.compile(r"[\W_]+")
_WHOLE = re.compile(r"\d{1,3}(?:[.,' ]\d{3})+|\d{1,11}", re.ASCII)
_RATING = re.compile(r"\d{1,4}(?:[.,]\d{1,10})?", re.ASCII)
_NOTHING = frozenset({"undefined", "null", "nan", "n/a", "[object object]"})
"""What scripts write where they have no value."""
_BEFORE_LAST_WORD = re.compile(r"^.*[/#:](?=[^/#:]*$)", re.DOTALL)


class SchemaGraph:
    """The items of a page in one syntax."""

    def __init__(self, values: Iterable[Item]) -> None:
        self._values = list(values)
        self._by_id: dict[str, Item] = {}
        for item in self.items():
            name = item.get("@id")
            if isinstance(name, str) and len(item) > len(self._by_id.get(name, ())) and len(item) > 1:
                self._by_id[name] = item

    def items(self, *, without: frozenset[str] = frozenset()) -> Iterator[Item]:
        """Every object, outer ones before inner ones, but not what stands under the properties `without`."""
        waiting: list[tuple[Any, int]] = [(value, 0) for value in reversed(self._values)]
        given = 0
        while waiting and given < MAX_ITEMS:
            value, depth = waiting.pop()
            if depth > _MAX_DEPTH:
                continue
            if isinstance(value, list):
                waiting += [(part, depth + 1) for part in reversed(value)]
            elif isinstance(value, dict):
                given += 1
                yield value
                inner = [part for name, part in value.items() if name not in without]
                waiting += [(part, depth + 1) for part in reversed(inner) if isinstance(part, dict | list)]

    def followed(self, value: Any) -> Any:
        """What a reference points to; anything else as it is."""
        if isinstance(value, dict) and set(value) <= {"@id", "@type"}:
            return self._by_id.get(str(value.get("@id")), value)
        return value

    def objects(self, item: Item, *names: str) -> list[Item]:
        """The objects under the first of these names that holds any."""
        for name in names:
            listed = held(item, name)
            parts = [self.followed(part) for part in (listed if isinstance(listed, list) else [listed])]
            found = [part for part in parts if isinstance(part, dict)]
            if found:
                return found
        return []

    def text(self, item: Item, *names: str) -> str | None:
        """The first plain value under these names, clean."""
        for name in names:
            value = held(item, name)
            if value not in (None, "", []):
                text = plain(self.followed(value))
                if text:
                    return text
        return None

    def picture(self, item: Item) -> str | None:
        """The address of an item's first picture; of an object its address, never its name."""
        value = held(item, "image")
        first = self.followed(next(iter(value), None) if isinstance(value, list) else value)
        if isinstance(first, dict):
            first = self.text(first, "contentUrl", "url", "@id")
        address = plain(first)
        return None if address is None or address.startswith("data:") else address


def held(item: Item, name: str) -> Any:
    """What stands under a name, however its letters are cased, with its vocabulary or not: `schema:name`."""
    if name in item:
        return _as_list(item[name])
    lowered = name.lower()
    return next(
        (_as_list(value) for other, value in item.items() if last_word(other).lower() == lowered), None
    )


def _as_list(value: Any) -> Any:
    """A list that was written as an object with its places for names: `{"0": a, "1": b}`."""
    if isinstance(value, dict) and "0" in value:
        return [part for name, part in value.items() if name.isdecimal()]
    return value


def last_word(name: str) -> str:
    """A name of a vocabulary by itself: `InStock` of `schema:InStock` or `https://schema.org/InStock`."""
    return _BEFORE_LAST_WORD.sub("", name).strip()


def typed(item: Item, kinds: frozenset[str]) -> bool:
    """Whether an item is of one of these types, given in lower case."""
    return any(last_word(name).lower() in kinds for name in types(item))


def plain(value: Any, depth: int = 0) -> str | None:
    """The first text or number in a value, clean; None where there is none."""
    if isinstance(value, str):
        text = cleaned(value)
        return text if text and text.lower() not in _NOTHING else None
    if isinstance(value, bool) or depth > _MAX_DEPTH:
        return None
    if isinstance(value, int | float):
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    if isinstance(value, list):
        return next(filter(None, (plain(part, depth + 1) for part in value)), None)
    if isinstance(value, dict):
        held = (value[name] for name in _HOLDERS if value.get(name) not in (None, "", []))
        return next(filter(None, (plain(part, depth + 1) for part in held)), None)
    return None


def cleaned(text: str) -> str:
    """One line of text without tags; entities that were escaped twice too."""
    text = text[:_MAX_TEXT]
    if "&" in text:
        text = html.unescape(html.unescape(text))
    if "<" in text:
        text = _TAG.sub(" ", _IN_A_WORD.sub("", text))
    return " ".join(text.split())


def folded(text: str | None) -> str:
    """Letters and digits alone, in lower case: equal for names that a person takes for the same."""
    return _NOT_LETTERS.sub("", text or "").lower()


def same_thing(one: str, other: str) -> bool:
    """Whether one folded name holds the other."""
    return bool(one and other) and (one in other or other in one)


def whole_number(text: str | None) -> int | None:
    """A count, its thousands set apart or not; None for anything else."""
    number = _WHOLE.fullmatch((text or "").strip())
    return int(re.sub(r"\D", "", number.group())) if number else None


def rating(text: str | None) -> float | None:
    """The value of a rating such as `4,5` or `4.667/5`."""
    number = _RATING.match((text or "").strip())
    return round(float(number.group().replace(",", ".")), 4) if number else None
