"""Types that parse a setting, a command line option or a tool argument.

Callers are operators and language models. A value is accepted in any form with one clear meaning: a number as text, a
list as JSON, a single item instead of a list. Every other value is refused with the accepted form.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

ECHO_CHARS = 60
"""Characters of a wrong value that an error message repeats."""

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_INTEGER = re.compile(r"\s*-?[0-9]{1,18}\s*")
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_CHOICE_SIMILARITY = 0.5
"""Least similarity of a wrong word and the choice that is suggested instead."""

_JSON_TYPES: Mapping[type, str] = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


class InvalidValueError(ValueError):
    """A value that a type does not accept."""

    def __init__(
        self, expected: str, problem: str = "", *, suggestion: str | None = None, advice: str | None = None
    ) -> None:
        """Build the message for callers and the advice for operators.

        Args:
            expected: Description of an accepted value; it continues "<name> must be".
            problem: What is wrong with the value; it follows `expected`.
            suggestion: The accepted word that is most similar to the value.
            advice: Sentence for operators; by default "give" and `expected`. It never repeats a secret.
        """
        hint = f' (did you mean "{suggestion}"?)' if suggestion else ""
        super().__init__(f"{expected}{problem}{hint}")
        self.suggestion = suggestion
        self.advice = (advice or f"give {expected}") + (f"; did you mean {suggestion}?" if suggestion else "")


class ValueType(Protocol):
    """One type of value."""

    @property
    def label(self) -> str:
        """The type in one or two words, for help texts."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema: plain types, without unions and references."""

    def parse(self, value: object) -> Any:
        """Parse a text or a JSON value.

        Raises:
            InvalidValueError: The value is not accepted.
        """


@dataclass(frozen=True, slots=True)
class StringValue:
    """A text that is not blank."""

    max_chars: int | None = None
    """Characters; None if the caller checks the length itself."""
    label: str = "text"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string"}

    def parse(self, value: object) -> str:
        """Return the text unchanged.

        Raises:
            InvalidValueError: The value is not a string, is blank or is too long.
        """
        if not isinstance(value, str):
            raise InvalidValueError("a string", f", not {json_type(value)}")
        if not value.strip():
            raise InvalidValueError("given", ": it is blank", advice="it is blank")
        if self.max_chars is not None and len(value) > self.max_chars:
            raise InvalidValueError(f"a string of at most {self.max_chars:,} characters", f", not {len(value):,}")
        return value


@dataclass(frozen=True, slots=True)
class AnyString:
    """A text that may be blank, because its user has an own message for blank text."""

    label: str = "text"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string"}

    def parse(self, value: object) -> str:
        """Return the text unchanged.

        Raises:
            InvalidValueError: The value is not a string.
        """
        if not isinstance(value, str):
            raise InvalidValueError("a string")
        return value


@dataclass(frozen=True, slots=True)
class PathValue:
    """A path in the file system; `~` is the home folder."""

    label: str = "path"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string"}

    def parse(self, value: object) -> Path:
        """Return the absolute path.

        Raises:
            InvalidValueError: The value is blank, or the home folder does not exist.
        """
        path = value if isinstance(value, Path) else Path(StringValue().parse(value))
        try:
            return path.expanduser().absolute()
        except RuntimeError:
            advice = "there is no such home folder; give a path that begins with /"
            raise InvalidValueError("a path that begins with /", advice=advice) from None


@dataclass(frozen=True, slots=True)
class NumberValue:
    """A number within bounds."""

    low: float
    high: float
    label: str = "number"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}

    def parse(self, value: object) -> float:
        """Return the number.

        Raises:
            InvalidValueError: The value is not a number, or is out of bounds.
        """
        number = _parse_number(value)
        if not self.low <= number <= self.high:
            raise InvalidValueError(
                f"a number from {self.low:,g} to {self.high:,g}",
                f", not {_abbreviate(value)}",
                advice=f"give a number from {self.low:g} to {self.high:g}",
            )
        return number


@dataclass(frozen=True, slots=True)
class IntegerValue:
    """A whole number within bounds."""

    low: int
    high: int
    label: str = "whole number"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def parse(self, value: object) -> int:
        """Return the number.

        Raises:
            InvalidValueError: The value is not a whole number, or is out of bounds.
        """
        number = int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else _parse_number(value)
        if not self.low <= number <= self.high or number != int(number):
            raise InvalidValueError(
                f"a whole number from {self.low:,} to {self.high:,}",
                f", not {_abbreviate(value)}",
                advice=f"give a whole number from {self.low} to {self.high}",
            )
        return int(number)


@dataclass(frozen=True, slots=True)
class BooleanValue:
    """True or false."""

    label: str = "yes or no"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "boolean"}

    def parse(self, value: object) -> bool:
        """Return the boolean; the words yes, on, 1 and their opposites are accepted as text.

        Raises:
            InvalidValueError: The value is neither true nor false.
        """
        word = str(value).strip().lower() if isinstance(value, bool | str) else ""
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise InvalidValueError("true or false", f", not {_abbreviate(value)}", advice="give yes or no")


@dataclass(frozen=True, slots=True)
class ChoiceValue:
    """One of a few lower-case words."""

    words: tuple[str, ...]

    @property
    def label(self) -> str:
        """The words."""
        return " | ".join(self.words)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string", "enum": list(self.words)}

    def parse(self, value: object) -> str:
        """Return the word in lower case.

        Raises:
            InvalidValueError: The value is none of the words.
        """
        word = value.strip().lower() if isinstance(value, str) else None
        if word is not None and word in self.words:
            return word
        raise InvalidValueError(
            f"one of {', '.join(self.words)}",
            f", not {_abbreviate(value)}",
            suggestion=None if word is None else closest_match(word, self.words, _CHOICE_SIMILARITY),
        )


@dataclass(frozen=True, slots=True)
class StringListValue:
    """A list of at least one text."""

    max_items: int
    label: str = "list"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": self.max_items}

    def parse(self, value: object) -> tuple[str, ...]:
        """Return the texts; a list as JSON text and a single item are accepted.

        Raises:
            InvalidValueError: The list is empty or too long, or an item is not a string or is blank.
        """
        items = _parse_list(value)
        if not items:
            raise InvalidValueError(f"a list of 1 to {self.max_items} strings", "; it is empty")
        if len(items) > self.max_items:
            raise InvalidValueError(
                f"a list of at most {self.max_items} strings", f", not {len(items)}: make several calls"
            )
        for number, item in enumerate(items, 1):
            if not isinstance(item, str):
                raise InvalidValueError("a list of strings", f"; item {number} is {json_type(item)}")
            if not item.strip():
                raise InvalidValueError("a list of strings", f"; item {number} is blank")
        return tuple(str(item) for item in items)


@dataclass(frozen=True, slots=True)
class CustomValue:
    """A text that a function parses."""

    label: str
    parse_text: Callable[[str], Any]
    """Raises ValueError if the text has the wrong form."""
    advice: str | None = None
    """Sentence for a text of the wrong form; None if the message of `parse_text` is that sentence."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string"}

    def parse(self, value: object) -> Any:
        """Return the parsed text.

        Raises:
            InvalidValueError: The text is blank or has the wrong form.
        """
        text = StringValue().parse(value)
        try:
            return self.parse_text(text)
        except ValueError as error:
            raise InvalidValueError(self.label, advice=self.advice or str(error)) from None


@dataclass(frozen=True, slots=True)
class CommaListValue:
    """A list of texts, separated by commas; it may be empty."""

    item: ValueType = StringValue()
    label: str = "a,b,c"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "array", "items": self.item.schema()}

    def parse(self, value: object) -> tuple[Any, ...]:
        """Return the parsed items; blank items are dropped, and items that are no text are parsed already.

        Raises:
            InvalidValueError: An item is not accepted.
        """
        items: Iterable[object] = value if isinstance(value, list | tuple) else str(value).split(",")
        stripped = (item.strip() if isinstance(item, str) else item for item in items)
        return tuple(self.item.parse(item) if isinstance(item, str) else item for item in stripped if item)


@dataclass(frozen=True, slots=True)
class LanguageValue:
    """A language tag."""

    label: str = "language tag"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string"}

    def parse(self, value: object) -> str:
        """Return the tag unchanged.

        Raises:
            InvalidValueError: The value is not a language tag.
        """
        tag = StringValue().parse(value)
        if not _LANGUAGE_TAG.fullmatch(tag):
            raise InvalidValueError("a language tag such as en-US, de or zh-Hans")
        return tag


@dataclass(frozen=True, slots=True)
class TimeZoneValue:
    """A time zone of the IANA database."""

    label: str = "time zone"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string"}

    def parse(self, value: object) -> str:
        """Return the name of the zone.

        Raises:
            InvalidValueError: The zone is unknown.
        """
        name = StringValue().parse(value)
        known = zoneinfo.available_timezones()
        # A machine without the zone files knows no zone at all; the browser has its own list.
        if known and name not in known:
            raise InvalidValueError(
                "a time zone such as Europe/Berlin or UTC", suggestion=closest_match(name, sorted(known))
            )
        return name


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """An object with any names and values."""

    label: str = "object"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "object", "additionalProperties": True}

    def parse(self, value: object) -> dict[str, Any]:
        """Return the object; JSON text is accepted.

        Raises:
            InvalidValueError: The value is not an object.
        """
        return parse_object(value)


def parse_object(value: object) -> dict[str, Any]:
    """Return an object, also from JSON text.

    Raises:
        InvalidValueError: The value is not an object.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            raise InvalidValueError("an object", "; as text it is no JSON") from None
    if not isinstance(value, dict):
        raise InvalidValueError("an object")
    return value


def closest_match(word: str, candidates: Sequence[str], similarity: float = 0.6) -> str | None:
    """Return the candidate most similar to a misspelled word, or None if none is similar.

    Args:
        word: The misspelled word; a word of more than 60 characters has no match.
        candidates: The known words.
        similarity: Least ratio of difflib.SequenceMatcher; 0.6 is difflib's default.
    """
    if len(word) > ECHO_CHARS:
        return None
    return next(iter(difflib.get_close_matches(word, candidates, n=1, cutoff=similarity)), None)


def json_type(value: object) -> str:
    """Return the name of a value's JSON type with its article."""
    return _JSON_TYPES.get(type(value), "something else")


def clip(text: str) -> str:
    """Shorten a text for an error message."""
    return text if len(text) <= ECHO_CHARS else text[: ECHO_CHARS - 1] + "…"


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
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            parsed = json.loads(value)
        except ValueError:
            return [value]
        return parsed if isinstance(parsed, list) else [value]
    return [value]


def _abbreviate(value: object) -> str:
    if isinstance(value, dict | list):
        return json_type(value)
    return clip(json.dumps(value, ensure_ascii=False, default=str))
