"""Types that parse settings, command line options and tool arguments.

Callers are operators and language models. A value is accepted in any form with one clear meaning: a number as text, a
list as JSON, a single item instead of a list. Any other value is rejected with the accepted form.
"""

from __future__ import annotations

import abc
import contextlib
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scraper.values.text import suggest, truncate

_INTEGER = re.compile(r"\s*-?[0-9]{1,18}\s*")
_BOOLEANS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
_CHOICE_SIMILARITY = 0.5
"""Minimum similarity of an invalid word to the suggested choice."""

_JSON_TYPES = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
}


class InvalidValueError(ValueError):
    """The value is not accepted by its type."""

    def __init__(self, expected: str, problem: str = "", *, suggestion: str = "", advice: str | None = None) -> None:
        """Build the message for callers, "<name> must be <expected><problem>", and the advice for operators.

        `advice` is a sentence, by default "give" and `expected`. It never repeats the value, which may be a secret.
        `suggestion` is the result of `text.suggest`.
        """
        super().__init__(f"{expected}{problem}{suggestion}")
        self.advice = (advice or f"give {expected}") + suggestion


class ValueType(abc.ABC):
    """One type of value; `parse` raises InvalidValueError for a value that it does not accept."""

    label: str
    """The type in one or two words, for help texts."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema: plain types, without unions and references."""
        return {"type": "string"}

    @abc.abstractmethod
    def parse(self, value: object) -> Any:
        """Parse a text or a JSON value."""


@dataclass(frozen=True)
class StringValue(ValueType):
    """A text that is not blank, unless `allow_blank`."""

    max_chars: int | None = None
    """Characters; None if the caller checks the length itself."""
    allow_blank: bool = False
    label = "text"

    def parse(self, value: object) -> str:
        """Return the text unchanged."""
        if not isinstance(value, str):
            raise InvalidValueError("a string", f", not {_json_type(value)}")
        if not self.allow_blank and not value.strip():
            raise InvalidValueError("given", ": it is blank", advice="it is blank")
        if self.max_chars is not None and len(value) > self.max_chars:
            raise InvalidValueError(f"a string of at most {self.max_chars:,} characters", f", not {len(value):,}")
        return value


class PathValue(ValueType):
    """A path in the file system; `~` is the home folder."""

    label = "path"

    def parse(self, value: object) -> Path:
        """Return the absolute path."""
        path = value if isinstance(value, Path) else Path(StringValue().parse(value))
        try:
            return path.expanduser().absolute()
        except RuntimeError:
            advice = "there is no such home folder; give a path that begins with /"
            raise InvalidValueError("a path that begins with /", advice=advice) from None


@dataclass(frozen=True)
class NumberValue(ValueType):
    """A number within bounds."""

    low: float
    high: float
    label = "number"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}

    def parse(self, value: object) -> float:
        """Return the number."""
        number = _parse_number(value)
        if not self.low <= number <= self.high:
            raise InvalidValueError(
                f"a number from {self.low:,g} to {self.high:,g}",
                f", not {_abbreviate(value)}",
                advice=f"give a number from {self.low:g} to {self.high:g}",
            )
        return number


@dataclass(frozen=True)
class IntegerValue(ValueType):
    """A whole number within bounds."""

    low: int
    high: int
    label = "whole number"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def parse(self, value: object) -> int:
        """Return the number."""
        number = int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else _parse_number(value)
        if not self.low <= number <= self.high or number != int(number):
            raise InvalidValueError(
                f"a whole number from {self.low:,} to {self.high:,}",
                f", not {_abbreviate(value)}",
                advice=f"give a whole number from {self.low} to {self.high}",
            )
        return int(number)


class BooleanValue(ValueType):
    """True or false."""

    label = "yes or no"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "boolean"}

    def parse(self, value: object) -> bool:
        """Return the boolean; the words yes, on, 1 and their opposites are accepted as text."""
        word = str(value).strip().lower() if isinstance(value, bool | str) else ""
        if word not in _BOOLEANS:
            raise InvalidValueError("true or false", f", not {_abbreviate(value)}", advice="give yes or no")
        return _BOOLEANS[word]


class ChoiceValue(ValueType):
    """One of a few lower-case words."""

    def __init__(self, words: Sequence[str]) -> None:
        """Accept `words`."""
        self.words = tuple(words)
        self.label = " | ".join(words)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string", "enum": list(self.words)}

    def parse(self, value: object) -> str:
        """Return the word in lower case."""
        word = value.strip().lower() if isinstance(value, str) else ""
        if word in self.words:
            return word
        raise InvalidValueError(
            f"one of {', '.join(self.words)}",
            f", not {_abbreviate(value)}",
            suggestion=suggest(word, self.words, _CHOICE_SIMILARITY),
        )


@dataclass(frozen=True)
class StringListValue(ValueType):
    """A list of at least one text."""

    max_items: int
    has_names: bool = False
    """True for names, which contain no comma: `a,b` counts as two names."""
    label = "list"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": self.max_items}

    def parse(self, value: object) -> tuple[str, ...]:
        """Return the texts; a list as JSON text and a single item are accepted."""
        items = _parse_list(value)
        if self.has_names:
            items = [name for item in items for name in (item.split(",") if isinstance(item, str) else [item])]
        if not items:
            raise InvalidValueError(f"a list of 1 to {self.max_items} strings", "; it is empty")
        if len(items) > self.max_items:
            raise InvalidValueError(
                f"a list of at most {self.max_items} strings", f", not {len(items)}: make several calls"
            )
        for number, item in enumerate(items, 1):
            if not isinstance(item, str):
                raise InvalidValueError("a list of strings", f"; item {number} is {_json_type(item)}")
            if not item.strip():
                raise InvalidValueError("a list of strings", f"; item {number} is blank")
        return tuple(item.strip() if self.has_names else item for item in map(str, items))


@dataclass(frozen=True)
class CustomValue(ValueType):
    """A text that a function parses."""

    label: str
    parse_text: Callable[[str], Any]
    """Parse a text; raise ValueError if it has the wrong format."""
    advice: str | None = None
    """Advice about a text with the wrong format; None to use the message of `parse_text`."""

    def parse(self, value: object) -> Any:
        """Return the parsed text."""
        text = StringValue().parse(value)
        try:
            return self.parse_text(text)
        except ValueError as error:
            raise InvalidValueError(self.label, advice=self.advice or str(error)) from None


@dataclass(frozen=True)
class CommaListValue(ValueType):
    """A list of texts, separated by commas; it may be empty."""

    item: ValueType = StringValue()
    label: str = "a,b,c"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "array", "items": self.item.schema()}

    def parse(self, value: object) -> tuple[Any, ...]:
        """Return the parsed items; blank items are dropped, and items that are not text are parsed already."""
        items: Iterable[object] = value if isinstance(value, list | tuple) else str(value).split(",")
        stripped = (item.strip() if isinstance(item, str) else item for item in items)
        return tuple(self.item.parse(item) if isinstance(item, str) else item for item in stripped if item)


class ObjectValue(ValueType):
    """An object with any names and values."""

    label = "object"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "object"}

    def parse(self, value: object) -> dict[str, Any]:
        """Return the object; JSON text is accepted."""
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                value = json.loads(value)
            except ValueError:
                raise InvalidValueError("an object", "; the text is not valid JSON") from None
        if not isinstance(value, dict):
            raise InvalidValueError("an object")
        return value


def _json_type(value: object) -> str:
    """Return the name of a value's JSON type with its article."""
    return "null" if value is None else _JSON_TYPES.get(type(value), "something else")


def _parse_number(value: object) -> float:
    """Return the number, or NaN, which lies within no bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _parse_list(value: object) -> list[object]:
    """Return a list, a list from JSON text, or a list of the single item."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    return list(value) if isinstance(value, list | tuple) else [value]


def _abbreviate(value: object) -> str:
    if isinstance(value, dict | list):
        return _json_type(value)
    return truncate(json.dumps(value, ensure_ascii=False, default=str))
