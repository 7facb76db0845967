"""What a tool takes, said once: the schema that callers see and the reading of what they send.

Callers are language models. What they mean is taken where it is plain (a number as text, a list as JSON, one
item where a list is wanted, null for "not given"); everything else is answered with what would be right.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scraper.errors import InvalidArgumentError

ECHO_CHARS = 60
"""How much of a wrong value an error repeats."""
FAULTS_LIMIT = 3
"""Faults told at once: enough to mend a call, short enough to be read."""
_ALIKE = 0.5
"""Similarity from which a wrong name counts as a misspelling: num_results and max_results have 0.73."""


_TYPE_NAMES: Mapping[type, str] = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


class ArgumentType(Protocol):
    """One type of value."""

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value: plain types that every client understands."""

    def read(self, value: object) -> Any:
        """The value that is meant.

        Raises:
            ValueError: none can be; the message continues "<name> must be ...".
        """


@dataclass(frozen=True, slots=True)
class StringArgument:
    """A text that is not blank."""

    most: int | None = None
    """Characters; None where the tool itself says how many it takes."""

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "string"}

    def read(self, value: object) -> str:
        """The text."""
        if not isinstance(value, str):
            raise ValueError(f"a string, not {_named(value)}")
        if not value.strip():
            raise ValueError("given: it is blank")
        if self.most is not None and len(value) > self.most:
            raise ValueError(f"a string of at most {self.most:,} characters, not {len(value):,}")
        return value


@dataclass(frozen=True, slots=True)
class ChoiceArgument:
    """One of a few words."""

    words: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "string", "enum": list(self.words)}

    def read(self, value: object) -> str:
        """The word."""
        word = value.strip().lower() if isinstance(value, str) else value
        if isinstance(word, str) and word in self.words:
            return word
        raise ValueError(f"one of {', '.join(self.words)}, not {_shown(value)}{_meant(value, self.words)}")


@dataclass(frozen=True, slots=True)
class BooleanArgument:
    """True or false."""

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "boolean"}

    def read(self, value: object) -> bool:
        """The truth."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
            return value.strip().lower() == "true"
        raise ValueError(f"true or false, not {_shown(value)}")


@dataclass(frozen=True, slots=True)
class NumberArgument:
    """A number within bounds."""

    low: float
    high: float

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}

    def read(self, value: object) -> float:
        """The number."""
        number = _number(value)
        if not self.low <= number <= self.high:
            raise ValueError(f"a number from {self.low:,g} to {self.high:,g}, not {_shown(value)}")
        return number


@dataclass(frozen=True, slots=True)
class IntegerArgument:
    """A whole number within bounds."""

    low: int
    high: int

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def read(self, value: object) -> int:
        """The number."""
        number = _number(value)
        if not self.low <= number <= self.high or number != int(number):
            raise ValueError(f"a whole number from {self.low:,} to {self.high:,}, not {_shown(value)}")
        return int(number)


@dataclass(frozen=True, slots=True)
class StringListArgument:
    """A list of texts, at least one."""

    limit: int

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": self.limit}

    def read(self, value: object) -> tuple[str, ...]:
        """The texts."""
        items = _listed(value)
        if not items:
            raise ValueError(f"a list of 1 to {self.limit} strings; it is empty")
        if len(items) > self.limit:
            raise ValueError(f"a list of at most {self.limit} strings, not {len(items)}: make several calls")
        for number, item in enumerate(items, 1):
            if not isinstance(item, str):
                raise ValueError(f"a list of strings; item {number} is {_named(item)}")
            if not item.strip():
                raise ValueError(f"a list of strings; item {number} is blank")
        return tuple(str(item) for item in items)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool."""

    name: str
    kind: ArgumentType
    about: str
    default: Any = None
    required: bool = False

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the argument."""
        schema = self.kind.schema() | {"description": self.about}
        if self.default is not None:
            schema["default"] = self.default
        return schema


class Parameters:
    """All arguments of a tool."""

    def __init__(self, *parameters: Parameter) -> None:
        self._parameters = {parameter.name: parameter for parameter in parameters}

    def schema(self) -> dict[str, Any]:
        """JSON Schema: strict, and without unions, references and titles, which some clients refuse."""
        return {
            "type": "object",
            "properties": {name: parameter.schema() for name, parameter in self._parameters.items()},
            "required": [name for name, parameter in self._parameters.items() if parameter.required],
            "additionalProperties": False,
        }

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A value for every parameter, by name.

        Raises:
            BadArgument: with all that is wrong, each in a sentence.
        """
        faults = [self._unknown(name) for name in arguments if name not in self._parameters]
        values: dict[str, Any] = {}
        for name, parameter in self._parameters.items():
            try:
                values[name] = _value(parameter, arguments.get(name))
            except ValueError as error:
                faults.append(f"{name} must be {error}.")
        if faults:
            raise InvalidArgumentError(
                " ".join(faults[:FAULTS_LIMIT]), target=", ".join(arguments)[:ECHO_CHARS]
            )
        return values

    def _unknown(self, name: str) -> str:
        known = tuple(self._parameters)
        told = f"Known: {', '.join(known)}." if known else "None is taken."
        return f'Unknown argument "{_clip(name)}"{_meant(name, known)}. {told}'


def _value(parameter: Parameter, value: object) -> Any:
    if value is None and parameter.required:
        raise ValueError("given")
    return parameter.default if value is None else parameter.kind.read(value)


def _number(value: object) -> float:
    """The number meant, or one that no bounds contain."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _listed(value: object) -> list[object]:
    """A list; one from JSON; or one made of a single item."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            parsed = json.loads(value)
        except ValueError:
            return [value]
        return parsed if isinstance(parsed, list) else [value]
    return [value]


def _meant(value: object, words: tuple[str, ...]) -> str:
    if not isinstance(value, str) or len(value) > ECHO_CHARS:
        return ""
    close = difflib.get_close_matches(value.lower(), words, n=1, cutoff=_ALIKE)
    return f' (did you mean "{close[0]}"?)' if close else ""


def _named(value: object) -> str:
    """The JSON type of a value."""
    return _TYPE_NAMES.get(type(value), "something else")


def _shown(value: object) -> str:
    if isinstance(value, (dict, list)):
        return _named(value)
    return _clip(json.dumps(value, ensure_ascii=False, default=str))


def _clip(text: str) -> str:
    return text if len(text) <= ECHO_CHARS else text[: ECHO_CHARS - 1] + "…"
